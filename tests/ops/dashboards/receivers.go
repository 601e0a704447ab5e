package dashboards

// receivers is what the sender sees of the receivers of webhooks.
func receivers() board {
	return board{
		name: "receivers", title: "Receivers", description: "Attempts, answers, breakers and queues of the receivers of webhooks.",
		rows: []row{{"Now", receiversNow()}, {"Attempts", receiversAttempts()}, {"Breakers and queues", receiverQueues()}},
	}
}

func receiversNow() []*Panel {
	return []*Panel{
		stat("Attempts", perSecond, "Requests to receivers per second.", rate("tradegrid_delivery_total")),
		stat("Attempts that succeed", share, "Share of attempts answered 2xx, over all receivers, broken ones as well.",
			query{"2xx", `sum(rate(tradegrid_delivery_total{ALL,result="success"}[$__rate_interval])) / sum(rate(tradegrid_delivery_total{ALL}[$__rate_interval]))`}).lowIsBad(.8, .95),
		stat("At rest", number, "Receivers whose breaker is open.", query{"open", `sum(tradegrid_breaker_state{ALL,state="open"})`}).warn(3).runbook("TradegridReceiversResting"),
		stat("At rest, share", share, "Of the receivers that had traffic within 15 minutes. Above 5 % our own way out of the network is the suspect.",
			query{"open", `sum(tradegrid_breaker_state{ALL,state="open"}) / sum(tradegrid_breaker_state{ALL})`}).warn(.02).bad(.05).runbook("TradegridReceiversResting"),
		stat("In flight", number, "Requests to receivers that are under way. Each sender stops at 4 000.", query{"in flight", `sum(tradegrid_delivery_inflight{ALL})`}).warn(3000),
		stat("Budget left", share, "What is left of the 28 days' budget for deliveries to healthy receivers within 60 s.", budgetLeft("delivery")).
			lowIsBad(.1, .5).runbook("TradegridErrorBudgetBurnsSlowly"),
	}
}

func receiversAttempts() []*Panel {
	return []*Panel{
		graph("Attempts by result", perSecond, "success: 2xx; retry: another attempt follows; failed: it was the last one.", rate("tradegrid_delivery_total", "result")).stacked(),
		graph("Attempts by number", perSecond, "Many second and later attempts: receivers fail.", rate("tradegrid_delivery_total", "attempt")).stacked(),
		graph("Requests to receivers by status", perSecond, "Status codes, or the kind of error where there was no answer.",
			query{"{{http_response_status_code}} {{error_type}}", `sum by (http_response_status_code, error_type) (rate(http_client_request_duration_seconds_count{ALL}[$__rate_interval]))`}).stacked(),
		graph("Time of a request", seconds, "How long receivers take to answer; 10 s is the limit.", quantiles("http_client_request_duration_seconds", "")...).bad(10),
		graph("Commit to 2xx by tier", seconds, "p99. healthy: neither put off nor at rest since the commit.",
			quantile(.99, "tradegrid_delivery_latency_seconds", "", "tier")).logarithmic(),
		graph("Results waiting for the database", number, "Results of attempts that are not stored yet: grows when the database is slow, and then senders stop.",
			query{"results", `sum(tradegrid_delivery_results_buffered{ALL})`}),
	}
}

func receiverQueues() []*Panel {
	return []*Panel{
		graph("Breakers", number, "Receivers with traffic, by state of their breaker.", query{"{{state}}", `sum by (state) (tradegrid_breaker_state{ALL})`}).stacked().
			runbook("TradegridReceiversResting"),
		graph("Breakers: changes", perSecond, "To open: ten failures in a row. To closed: a probe succeeded.", rate("tradegrid_breaker_transitions_total", "to")),
		graph("Put off without an attempt", perSecond, "docs/metrics.md says what each reason is.",
			rate("tradegrid_lane_parked", "reason")).runbook("TradegridLanesOverflow"),
		graph("Requests in flight", number, "By process.", query{"{{instance}}", `sum by (instance) (tradegrid_delivery_inflight{ALL})`}).stacked(),
		graph("Subscriptions disabled", number, "Within a day, because their receiver failed for days or is gone.", query{"disabled", `sum(increase(tradegrid_subscriptions_disabled_total{ALL}[1d]))`}),
		note("Which receivers?", "Metrics carry no receivers. The database does:\n\n"+
			"```sql\nSELECT company_id, id, url, breaker_opens, breaker_open_until, last_success_at\nFROM webhook_subscriptions WHERE breaker_opens > 0\nORDER BY breaker_opens DESC LIMIT 50;\n```\n\n"+
			"Log lines `delivery attempted` carry `subscription_id`, `host`, `http_code` and `error`."),
	}
}
