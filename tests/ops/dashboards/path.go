package dashboards

// path follows an event from its commit to the receiver, and answers the first questions of an operator.
func path() board {
	return board{
		name: "path", title: "Event pipeline", description: "How old is the oldest undelivered event? Which receivers are open? Is the outbox draining? Who is being limited?",
		rows: []row{
			{"First questions", pathNow()}, {"Outbox to Kafka", pathOutbox()}, {"Router", pathRouter()}, {"Delay tiers and sweeper", pathRetries()},
		},
	}
}

const oldestUndelivered = "tradegrid_delivery_oldest_undelivered_seconds"

func pathNow() []*Panel {
	return []*Panel{
		stat("Oldest undelivered, healthy", seconds, "Age of the oldest open delivery of a receiver that answers well.",
			query{"healthy", `max(` + oldestUndelivered + `{ALL,tier="healthy"})`}).warn(30).bad(120).runbook("TradegridDeliveryStalled"),
		stat("Oldest undelivered, blocked", seconds, "Age of the oldest open delivery of a receiver that fails, has an open circuit, or is paused. Up to 22 h is normal here.",
			query{"blocked", `max(` + oldestUndelivered + `{ALL,tier="blocked"})`}).warn(3600),
		stat("Receivers at rest", number, "Receivers whose breaker is open: they get no requests until a probe succeeds.",
			query{"open", `sum(tradegrid_breaker_state{ALL,state="open"})`}).warn(3).runbook("TradegridReceiversResting"),
		stat("Oldest row in the outbox", seconds, "Above 30 s events do not reach Kafka.",
			query{"oldest", `max(tradegrid_outbox_oldest_age_seconds{ALL})`}).warn(5).bad(30).runbook("TradegridOutboxStalled"),
		stat("Rows in the outbox", number, "Rows that Kafka has not acknowledged yet. It should fall back to about 0 again and again.",
			query{"rows", `sum(tradegrid_outbox_rows{ALL})`}).warn(10_000).bad(1_000_000).runbook("TradegridOutboxStalled"),
		stat("Limited", perSecond, "Requests answered 429 or shed with 503. The API's dashboard tells by which limit.",
			query{"limited", `sum(rate(tradegrid_rate_limited_total{ALL}[$__rate_interval])) + sum(rate(tradegrid_shed_total{ALL}[$__rate_interval]))`}).warn(1),
		graph("Commit to first attempt", seconds, "Healthy receivers. The objective is p99 below 2 s.", quantiles("tradegrid_delivery_first_attempt_seconds", "")...).
			bad(2).runbook("TradegridErrorBudgetBurnsFast"),
		graph("Commit to 2xx, healthy receivers", seconds, "With retries. The objective is 99.9 % within 60 s.", quantiles("tradegrid_delivery_latency_seconds", `,tier="healthy"`)...).
			runbook("TradegridErrorBudgetBurnsFast"),
		graph("Oldest undelivered by tier", seconds, "By tier of the receiver: healthy, or blocked (fails, open circuit, paused).",
			query{"{{tier}}", `max by (tier) (` + oldestUndelivered + `{ALL})`}).logarithmic().runbook("TradegridDeliveryStalled"),
		stat("Events that do not add up", number, "Events of the recent window that are neither delivered, nor open, nor failed. Anything but 0 is a loss.",
			query{"difference", `max(abs(tradegrid_reconciler_difference{ALL}))`}).bad(1).size(6, 4).runbook("TradegridEventsLost"),
		stat("Buckets with a relay", number, "Of 256. What is missing has no relay: its events wait.",
			query{"buckets", `max(tradegrid_relay_leases_owned{ALL})`}).lowIsBad(255, 256).size(6, 4).runbook("TradegridBucketsUnowned"),
		stat("Dead events", number, "Records in events.dlq within the last day: nobody could understand them.",
			query{"events.dlq", `sum(increase(tradegrid_dlq_total{ALL,topic="events.dlq"}[1d])) or vector(0)`}).bad(1).size(6, 4).runbook("TradegridEventsDead"),
		stat("Dead deliveries", number, "Deliveries of the last day that used up their attempts or their time.",
			query{"webhook.dlq", `sum(increase(tradegrid_dlq_total{ALL,topic="webhook.dlq"}[1d])) or vector(0)`}).warn(1).size(6, 4).runbook("TradegridDeadLettersRise"),
	}
}

func pathOutbox() []*Panel {
	return []*Panel{
		graph("Is the outbox draining?", number, "Rows that wait, and how their number changes in a second: below 0 it drains.",
			query{"rows", `sum(tradegrid_outbox_rows{ALL})`}, query{"change per second", `sum(deriv(tradegrid_outbox_rows{ALL}[5m]))`}).
			signed().runbook("TradegridOutboxStalled"),
		graph("Published", perSecond, "Rows that Kafka acknowledged, by topic.", rate("tradegrid_outbox_published_total", "topic")).stacked(),
		graph("Commit to Kafka", seconds, "The objective is p99 below 500 ms and p50 below 50 ms.", quantiles("tradegrid_outbox_publish_latency_seconds", "")...).
			bad(.5).runbook("TradegridErrorBudgetBurnsFast"),
		graph("Troubles", perSecond, "Failed tries (rows stay), rows published twice, rows behind the lookback, rows that Kafka will never take.",
			query{"failed {{topic}}", `sum by (topic) (rate(tradegrid_outbox_publish_failures_total{ALL}[$__rate_interval]))`},
			query{"repeated", `sum(rate(tradegrid_outbox_repeated_total{ALL}[$__rate_interval]))`},
			query{"stragglers", `sum(rate(tradegrid_outbox_stragglers_total{ALL}[$__rate_interval]))`},
			query{"dead {{topic}}", `sum by (topic) (rate(tradegrid_outbox_dead_total{ALL}[$__rate_interval]))`}).
			runbook("TradegridOutboxPublishFails", "TradegridOutboxStragglers", "TradegridOutboxRowDead"),
		graph("Buckets by relay", number, "Each relay owns its share of the 256 buckets.", query{"{{owner}}", `sum by (owner) (tradegrid_relay_leases{ALL})`}).stacked().
			runbook("TradegridBucketsUnowned"),
		graph("Batches and takeovers", number, "Rows published together, and buckets taken over from relays that died within five minutes.",
			quantile(.5, "tradegrid_outbox_batch_size", ""), quantile(.99, "tradegrid_outbox_batch_size", ""),
			query{"takeovers", `sum(increase(tradegrid_relay_takeovers_total{ALL}[5m]))`}),
	}
}

func pathRouter() []*Panel {
	return []*Panel{
		graph("Events routed", perSecond, "matched: at least one subscription wants it.", rate("tradegrid_router_events_total", "result")).stacked(),
		graph("Deliveries made", perSecond, "sent: to a sender at once; parked: held until the receiver takes deliveries; repeated: known already.", rate("tradegrid_router_deliveries_total", "result")).stacked(),
		graph("Repeats dropped", perSecond, "Repeats that were recognised, and steps of the router that were tried again.",
			query{"dropped by {{hop}}", `sum by (hop) (rate(tradegrid_duplicates_dropped_total{ALL}[$__rate_interval]))`},
			query{"tried again: {{step}}", `sum by (step) (rate(tradegrid_router_retries_total{ALL}[$__rate_interval]))`}),
	}
}

func pathRetries() []*Panel {
	return []*Panel{
		graph("Waiting on delay tiers", number, "Records that are held until they are due.", query{"{{line}}", `sum by (line) (tradegrid_delay_depth{ALL})`}).stacked(),
		graph("Delay tiers: late by", seconds, "How long after its due time a record leaves its tier.", quantile(.99, "tradegrid_delay_late_seconds", "", "line")).
			bad(30).runbook("TradegridDelayLinesLate"),
		graph("Sweeper", perSecond, "Deliveries that nothing moved any more: put in again, taken from dead workers, closed; and those sent because their receiver is back.",
			query{"put in again: {{cause}}", `sum by (cause) (rate(tradegrid_sweeper_reinjected_total{ALL}[$__rate_interval]))`},
			query{"put in again, without effect before", `sum(rate(tradegrid_sweeper_ineffective_total{ALL}[$__rate_interval]))`},
			query{"released", `sum(rate(tradegrid_sweeper_released_total{ALL}[$__rate_interval]))`},
			query{"expired", `sum(rate(tradegrid_sweeper_expired_total{ALL}[$__rate_interval]))`},
			query{"receiver is back: {{cause}}", `sum by (cause) (rate(tradegrid_sweeper_recovered_total{ALL}[$__rate_interval]))`}).runbook("TradegridDeliveriesStuck"),
		graph("Sweeper: time of a pass", seconds, "One pass over the open deliveries.", quantiles("tradegrid_sweeper_pass_seconds", "")...).runbook("TradegridSweeperSilent"),
		graph("Dead letters", perSecond, "By topic and reason.", rate("tradegrid_dlq_total", "topic", "reason")).runbook("TradegridDeadLettersRise", "TradegridEventsDead"),
		graph("Records in dead letter topics", number, "They stay for 30 days unless somebody replays or deletes them.", query{"{{topic}}", `max by (topic) (tradegrid_dlq_depth{ALL})`}),
	}
}
