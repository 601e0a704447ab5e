package dashboards

// kafka is Kafka as its clients see it.
func kafka() board {
	return board{
		name: "kafka", title: "Kafka", description: "Lag, windows, rebalances, errors and dead letters, as the processes see them.",
		rows: []row{{"Now", kafkaNow()}, {"Consumers", kafkaConsumers()}, {"Clients", kafkaClients()}},
	}
}

// working leaves out delay tiers, whose records wait on purpose.
const working = `,topic!~"webhook\\.delay\\..*"`

func kafkaNow() []*Panel {
	return []*Panel{
		stat("Lag", number, "Records behind the commits, without delay tiers.", query{"lag", `sum(tradegrid_kafka_consumer_lag{ALL` + working + `})`}).warn(10_000).
			runbook("TradegridConsumerLagGrows"),
		stat("Oldest unfinished", seconds, "Age of the oldest record that was polled and is not finished, without delay tiers.",
			query{"oldest", `max(tradegrid_consumer_oldest_unacked_seconds{ALL` + working + `})`}).warn(15).bad(60).runbook("TradegridConsumerLagGrows"),
		stat("Stalled partitions", number, "With records that are due, of which nothing has been committed for two minutes, or that no member owns.",
			query{"partitions", `sum(max by (group, topic) (tradegrid_kafka_partitions_stalled{ALL}))`}).bad(1).runbook("TradegridPartitionsStalled"),
		stat("Rebalances of the last hour", number, "Of the group with most of them.", query{"rebalances", `max(increase(tradegrid_rebalances_total{ALL}[1h]))`}).bad(6).runbook("TradegridRebalances"),
		stat("Fetches that fail", perSecond, "Brokers that do not answer.", rate("tradegrid_kafka_fetch_errors_total")).warn(.01).runbook("TradegridFetchErrors"),
		stat("Disk and size", share, "Use of the limits on Kafka's disks and topics. At 100 % changes are refused.",
			query{"used", `max(tradegrid_limit_usage_ratio{ALL,limit=~"kafka_.*"})`}).warn(.9).bad(1).runbook("TradegridLimitNear"),
		stat("Dead letters", number, "Records in the dead letter topics.", query{"records", `sum(max by (topic) (tradegrid_dlq_depth{ALL}))`}).warn(1).runbook("TradegridDeadLettersRise"),
	}
}

func kafkaConsumers() []*Panel {
	return []*Panel{
		graph("Lag by topic", number, "Records behind the commits, without delay tiers. What grows for minutes needs more dispatchers.",
			query{"{{group}} {{topic}}", `sum by (group, topic) (tradegrid_kafka_consumer_lag{ALL` + working + `})`}).runbook("TradegridConsumerLagGrows"),
		graph("Lag of delay tiers", number, "Records wait here until they are due.", query{"{{topic}}", `sum by (topic) (tradegrid_kafka_consumer_lag{ALL,topic=~"webhook\\.delay\\..*"})`}).stacked(),
		graph("Lag of groups", number, "The same for all partitions, also those that nobody owns, without delay tiers. One process asks the brokers.",
			query{"{{group}} {{topic}}", `max by (group, topic) (tradegrid_kafka_group_lag{ALL` + working + `})`}).runbook("TradegridPartitionsStalled"),
		graph("Stalled partitions", number, "With records that are due, of which nothing has been committed for two minutes, or that no member owns.",
			query{"{{group}} {{topic}}", `max by (group, topic) (tradegrid_kafka_partitions_stalled{ALL})`}).bad(1).runbook("TradegridPartitionsStalled"),
		graph("Oldest unfinished record", seconds, "Age of the oldest record that was polled and is not finished. It holds back the commit of its partition.",
			query{"{{group}} {{topic}}", `max by (group, topic) (tradegrid_consumer_oldest_unacked_seconds{ALL` + working + `})`}),
		graph("Widest windows", number, "Records between the commit and the newest record polled. At 5 000 a partition is paused.",
			query{"{{topic}} {{partition}}", `topk(10, tradegrid_consumer_window{ALL` + working + `})`}).bad(5000),
		graph("Rebalances", number, "Within an hour, by group: more than 6 mean that members come and go.",
			query{"{{group}}", `max by (group) (increase(tradegrid_rebalances_total{ALL}[1h]))`}).bad(6).runbook("TradegridRebalances"),
		graph("Fetch errors", perSecond, "By group and topic.", rate("tradegrid_kafka_fetch_errors_total", "group", "topic")).runbook("TradegridFetchErrors"),
	}
}

func kafkaClients() []*Panel {
	return []*Panel{
		graph("Records sent", perSecond, "By topic.", rate("messaging_client_sent_messages_total", "messaging_destination_name")).stacked(),
		graph("Records received", perSecond, "By topic.", rate("messaging_client_consumed_messages_total", "messaging_destination_name")).stacked(),
		graph("Time to process a record", seconds, "p99, by topic.", quantile(.99, "messaging_process_duration_seconds", "", "messaging_destination_name")),
		graph("Time of client operations", seconds, "p99 of sending and receiving.", quantile(.99, "messaging_client_operation_duration_seconds", "", "messaging_operation_name")),
		graph("Dead letters written", perSecond, "By topic and reason.", rate("tradegrid_dlq_total", "topic", "reason")).runbook("TradegridDeadLettersRise", "TradegridEventsDead"),
		graph("Dead letter topics", number, "Records that are kept there.", query{"{{topic}}", `max by (topic) (tradegrid_dlq_depth{ALL})`}),
	}
}
