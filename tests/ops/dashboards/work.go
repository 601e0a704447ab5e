package dashboards

// work is what companies have done in the background, and what they keep.
func work() board {
	return board{
		name: "work", title: "Jobs and storage", description: "Exports and other jobs: how long they wait, how their steps do; bytes that companies store, and quotas.",
		rows: []row{{"Now", workNow()}, {"Jobs", workJobs()}, {"Storage", workStorage()}},
	}
}

func workNow() []*Panel {
	return []*Panel{
		stat("Unfinished jobs", number, "Waiting and running; at most 1 000 are counted.", query{"jobs", `max(tradegrid_jobs_open{ALL})`}),
		stat("Longest wait", seconds, "Of a job for a worker.", query{"wait", `max(tradegrid_jobs_oldest_wait_seconds{ALL})`}).
			warn(60).bad(300).runbook("TradegridJobsWait"),
		stat("Failed steps", perSecond, "They are repeated.", rate("tradegrid_job_step_failures_total")).warn(.001).bad(.1).runbook("TradegridJobStepsFail"),
		stat("Late reminders", seconds, "How long the reminder of a booking that waits for longest has been due.", query{"late", `max(tradegrid_booking_reminders_late_seconds{ALL})`}).
			warn(60).bad(300).runbook("TradegridRemindersLate"),
		stat("Takeovers in an hour", number, "Jobs whose worker died.", query{"jobs", `sum(increase(tradegrid_job_takeovers_total{ALL}[1h]))`}).warn(1),
		stat("Companies at a quota", number, "Of stored answers or of events.", query{"companies", `sum(max by (kind) (tradegrid_storage_quota_companies{ALL}))`}).
			bad(1).runbook("TradegridQuotaReached"),
	}
}

func workJobs() []*Panel {
	return []*Panel{
		graph("Started and ended", perSecond, "By type; ended also by status.", rate("tradegrid_jobs_started_total", "type"), rate("tradegrid_jobs_ended_total", "type", "status")),
		graph("Workers in use", number, "How many workers each type keeps busy.",
			query{"{{type}}", `sum by (type) (rate(tradegrid_job_step_duration_seconds_sum{ALL}[$__rate_interval]))`}).stacked().runbook("TradegridJobsWait"),
		graph("Reminders of bookings", perSecond, "Raised, and dropped because the booking had begun or the company has set other times.", rate("tradegrid_booking_reminders_total", "outcome")).
			runbook("TradegridRemindersLate"),
		graph("Time of a step", seconds, "All types.", quantiles("tradegrid_job_step_duration_seconds", "")...),
	}
}

func workStorage() []*Panel {
	return []*Panel{
		graph("Bytes stored", bytesUnit, "Per second, by kind: stored answers and events.", rate("tradegrid_storage_bytes_total", "kind")).stacked(),
		graph("Companies at a quota", number, "By kind.", query{"{{kind}}", `max by (kind) (tradegrid_storage_quota_companies{ALL})`}).runbook("TradegridQuotaReached"),
		graph("Events removed early", perSecond, "From the event log of companies above their quota.", rate("tradegrid_event_log_trimmed_total")).runbook("TradegridQuotaReached"),
	}
}
