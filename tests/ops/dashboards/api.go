package dashboards

const apiCount = "http_server_request_duration_seconds_count"

// api is what tenants see of the REST API.
func api() board {
	return board{
		name: "api", title: "Tenants' API", description: "Requests, errors, latency, limits and idempotent repeats of the REST API.",
		rows: []row{
			{"Now", apiNow()}, {"Requests", apiRequests()}, {"Limits", apiLimits()}, {"Writing", apiWriting()}, {"Processes", processes()},
		},
	}
}

func apiNow() []*Panel {
	const bad = `http_response_status_code=~"5.."`
	return []*Panel{
		stat("Requests", perSecond, "Requests of tenants per second.", rate(apiCount)),
		stat("Answered 5xx", share, "Share of requests that failed on our side. The objective is below 0.05 %.",
			query{"5xx", `(sum (rate(` + apiCount + `{ALL,` + bad + `}[$__rate_interval])) or vector(0)) / sum (rate(` + apiCount + `{ALL}[$__rate_interval]))`}).
			warn(.0005).bad(.007).runbook("TradegridErrorBudgetBurnsFast"),
		stat("Writes p99", seconds, "99 % of the changes are answered faster. The objective is 250 ms.",
			quantile(.99, "http_server_request_duration_seconds", `,http_request_method=~"POST|PUT|PATCH|DELETE",http_response_status_code!~"5.."`)).
			warn(.15).bad(.25).runbook("TradegridErrorBudgetBurnsFast"),
		stat("Answered 429", perSecond, "Requests refused because a token, a company or an address used up its limit.", rate("tradegrid_rate_limited_total")).warn(1),
		stat("Changes shed", perSecond, "Changes answered 503 because a limit that protects the platform was reached.", rate("tradegrid_shed_total")).
			bad(.001).runbook("TradegridSheddingWrites"),
		stat("Budget left", share, "What is left of the 28 days' budget for 5xx answers; below 0 it is overdrawn.", budgetLeft("api_availability")).
			lowIsBad(.1, .5).runbook("TradegridErrorBudgetBurnsSlowly"),
	}
}

func apiRequests() []*Panel {
	const slowest = `topk(10, histogram_quantile(0.99, sum by (http_request_method, http_route, le) (rate(http_server_request_duration_seconds_bucket{ALL}[5m]))))`
	return []*Panel{
		graph("Requests by status", perSecond, "Answers per second, by HTTP status.", rate(apiCount, "http_response_status_code")).stacked(),
		graph("Latency of reads", seconds, "Dots are single requests with a trace: click one to follow it.",
			quantiles("http_server_request_duration_seconds", `,http_request_method="GET"`)...),
		graph("Latency of writes", seconds, "From the first byte to the answer, with the commit. The objective is p99 below 250 ms.",
			quantiles("http_server_request_duration_seconds", `,http_request_method=~"POST|PUT|PATCH|DELETE"`)...).bad(.25).
			runbook("TradegridErrorBudgetBurnsFast"),
		graph("Busiest routes", perSecond, "The ten routes with most requests.",
			query{"{{http_request_method}} {{http_route}}", `topk(10, sum by (http_request_method, http_route) (rate(` + apiCount + `{ALL}[$__rate_interval])))`}),
		table("Slowest routes, p99", seconds, "The ten routes with the highest p99 of the last five minutes.", query{"p99", slowest}),
		graph("5xx by route", perSecond, "Where requests fail on our side.",
			query{"{{http_request_method}} {{http_route}} {{http_response_status_code}}", `sum by (http_request_method, http_route, http_response_status_code) (rate(` + apiCount + `{ALL,http_response_status_code=~"5.."}[$__rate_interval])) > 0`}).
			runbook("TradegridErrorBudgetBurnsFast"),
	}
}

func apiLimits() []*Panel {
	return []*Panel{
		graph("Who is limited", perSecond, "Answers 429 by the limit: token (rate of the token), in_flight (requests of the company at a time), failures (calls without a valid token).",
			rate("tradegrid_rate_limited_total", "reason")).stacked(),
		graph("Use of protecting limits", share, "At 100 % changes are refused with 503 and Retry-After; reads go on.",
			query{"{{limit}}", `max by (limit) (tradegrid_limit_usage_ratio{ALL})`}).warn(.9).bad(1).runbook("TradegridLimitNear", "TradegridSheddingWrites"),
		graph("Changes shed", perSecond, "Answers 503 by the limit that was reached.", rate("tradegrid_shed_total", "limit")).stacked().runbook("TradegridSheddingWrites"),
		graph("Exchange of rate leases", perSecond, "API nodes share the rate of each token. While exchanges fail, each node allows its part only.",
			rate("tradegrid_rate_lease_exchanges_total", "result")).runbook("TradegridRateLeasesFail"),
		note("Which company is it?", "Metrics carry no company. Traces do: search for `app.company.id` with `http.response.status_code = 429` or `503` in the trace backend. "+
			"`tradegrid admin token list --company ID` shows the tokens and tiers of a company."),
	}
}

func apiWriting() []*Panel {
	return []*Panel{
		graph("Idempotency keys", perSecond, "What became of keys: claimed (new), replayed (answered from store), in_flight (409), reused with another body (422).",
			rate("tradegrid_idempotency_total", "result")),
		graph("Tries per transaction", number, "1 is best. More means that writers stand in each other's way.",
			quantile(.5, "tradegrid_tx_attempts", ""), quantile(.99, "tradegrid_tx_attempts", "")).runbook("TradegridTransactionRetries"),
		graph("Documents per group commit", number, "Documents of one company that one transaction numbered and stored.",
			quantile(.5, "tradegrid_group_commit_size", ""), quantile(.99, "tradegrid_group_commit_size", "")),
	}
}

// processes are the same for every role.
func processes() []*Panel {
	const ours = ` and on (instance) tradegrid_build_info{ALL}`
	return []*Panel{
		graph("CPU", number, "Cores used by each process.", query{"{{role}} {{instance}}", `rate(process_cpu_seconds_total{ALL}[$__rate_interval])` + ours}),
		graph("Memory", bytesUnit, "Resident memory of each process.", query{"{{role}} {{instance}}", `process_resident_memory_bytes{ALL}` + ours}),
		graph("Goroutines", number, "Goroutines of each process: what grows without end leaks.", query{"{{role}} {{instance}}", `go_goroutines{ALL}` + ours}),
		graph("Open files", share, "Share of the files that a process may open.",
			query{"{{role}} {{instance}}", `(process_open_fds{ALL} / process_max_fds{ALL})` + ours}).bad(.8).runbook("TradegridFileDescriptors"),
		table("Releases", number, "Processes by role and release: two releases at once only while one is rolled out.",
			query{"processes", `count by (role, release) (tradegrid_build_info{ALL})`}),
		graph("Configuration reloads", number, "Changed configurations of the last hour that were taken over or refused.",
			query{"{{result}}", `sum by (result) (increase(tradegrid_config_reloads_total{ALL}[1h]))`}).runbook("TradegridConfigRefused"),
		graph("Settings that differ", number, "Processes that have another value of a setting that must be the same everywhere: 0, except while a change is rolled out.",
			query{"{{setting}}", `max by (setting) (tradegrid_setting_differs{ALL})`}).bad(1).runbook("TradegridSettingsDiffer"),
	}
}
