package dashboards

// database is the database as its clients see it.
func database() board {
	return board{
		name: "database", title: "Database", description: "Transactions, retries, commits without an answer, statements and pools, as the processes see them.",
		rows: []row{{"Now", databaseNow()}, {"Transactions", databaseTransactions()}, {"Connections", databasePools()}},
	}
}

func databaseNow() []*Panel {
	return []*Panel{
		stat("Transactions", perSecond, "Committed per second.", rate("tradegrid_tx_attempts_count")),
		stat("Repeated", share, "Repeats per committed transaction. Above 30 % writers stand in each other's way.",
			query{"repeats", `(sum(rate(tradegrid_tx_retries_total{ALL}[$__rate_interval])) or vector(0)) / sum(rate(tradegrid_tx_attempts_count{ALL}[$__rate_interval]))`}).
			warn(.1).bad(.3).runbook("TradegridTransactionRetries"),
		stat("Commits without an answer", perSecond, "Their outcome is looked up; nothing is done twice.", rate("tradegrid_tx_ambiguous_total")).
			warn(.001).bad(.1).runbook("TradegridAmbiguousCommits"),
		stat("Fullest pool", share, "Connections in use, of the process that uses most of its own.",
			query{"used", `max(sum by (instance) (db_client_connection_count{ALL,state="used"}) / sum by (instance) (db_client_connection_max{ALL}))`}).
			warn(.7).bad(.9).runbook("TradegridPoolExhausted"),
		stat("Clock offset", seconds, "Largest difference between the clock of a process and that of the database. Above 500 ms a process is not ready.",
			query{"offset", `max(abs(tradegrid_clock_offset_seconds{ALL}))`}).warn(.1).bad(.25).runbook("TradegridClockOffset"),
		stat("Disk and size", share, "Use of the limits on the database's disk and size. At 100 % changes are refused.",
			query{"used", `max(tradegrid_limit_usage_ratio{ALL,limit=~"database_.*"})`}).warn(.9).bad(1).runbook("TradegridLimitNear"),
	}
}

func databaseTransactions() []*Panel {
	return []*Panel{
		graph("Repeats by transaction", perSecond, "Which transactions are repeated, and the SQLSTATE: 40001 serialization, 40P01 deadlock.",
			query{"{{name}} {{sqlstate}}", `topk(10, sum by (name, sqlstate) (rate(tradegrid_tx_retries_total{ALL}[$__rate_interval])))`}).runbook("TradegridTransactionRetries"),
		graph("Tries per transaction", number, "1 is best.", quantiles("tradegrid_tx_attempts", "")...),
		graph("Commits without an answer", perSecond, "By role: connections that broke during COMMIT.", rate("tradegrid_tx_ambiguous_total", "role")).bad(.1).
			runbook("TradegridAmbiguousCommits"),
		graph("Time of a statement", seconds, "From the client: with the network.", quantiles("db_client_operation_duration_seconds", "")...),
		graph("Statements by operation", perSecond, "From the client.", rate("db_client_operation_duration_seconds_count", "db_operation_name")).stacked(),
		graph("Expired rows deleted", perSecond, "On PostgreSQL; CockroachDB does it by itself.", rate("tradegrid_housekeeping_deleted_total", "table")).stacked(),
	}
}

func databasePools() []*Panel {
	return []*Panel{
		graph("Waits for a share of the connections", number, "By process: acquisitions that wait because their company uses its share. Others do not notice.",
			query{"{{instance}}", `sum by (instance) (db_client_connection_pending_requests{ALL})`}),
		graph("Connections", number, "By state, over all processes. About 4 per core of the database serve best.",
			query{"{{state}}", `sum by (state) (db_client_connection_count{ALL})`}, query{"most", `sum(db_client_connection_max{ALL})`}).runbook("TradegridPoolExhausted"),
		graph("Waits for a connection", perSecond, "By process: acquisitions that had to wait, and those that gave up.",
			query{"waited {{instance}}", `sum by (instance) (rate(db_client_connection_waits_total{ALL}[$__rate_interval]))`},
			query{"gave up {{instance}}", `sum by (instance) (rate(db_client_connection_timeouts_total{ALL}[$__rate_interval]))`}).runbook("TradegridPoolExhausted"),
		graph("Mean time to get a connection", seconds, "By process, over all acquisitions that had to wait.",
			query{"{{instance}}", `sum by (instance) (rate(db_client_connection_wait_time_seconds_total{ALL}[$__rate_interval])) / clamp_min(sum by (instance) (rate(db_client_connection_waits_total{ALL}[$__rate_interval])), 1)`}),
	}
}
