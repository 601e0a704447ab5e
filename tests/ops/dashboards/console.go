package dashboards

const consolePages = "tradegrid_console_page_duration_seconds"

// console is what people meet in the console: its pages, and the way in.
func console() board {
	return board{
		name: "console", title: "Console", description: "Pages of the console: how many, how fast, which fail; attempts to sign in.",
		rows: []row{{"Now", consoleNow()}, {"Pages", consolePagesRow()}, {"Sign-in", consoleSignIns()}},
	}
}

func consoleNow() []*Panel {
	const bad = `status=~"5.."`
	return []*Panel{
		stat("Pages", perSecond, "Pages that people open, per second.", rate(consolePages+"_count")),
		stat("Failed pages", share, "Share of pages that failed on our side.",
			query{"5xx", `(sum (rate(` + consolePages + `_count{ALL,` + bad + `}[$__rate_interval])) or vector(0)) / sum (rate(` + consolePages + `_count{ALL}[$__rate_interval]))`}).
			warn(.001).bad(.02).runbook("TradegridConsolePagesFail"),
		stat("Pages p99", seconds, "99 % of the pages are there faster.", quantile(.99, consolePages, "")).warn(.25).bad(1).runbook("TradegridConsoleSlow"),
		stat("Refused sign-ins", perSecond, "Wrong passwords and codes, and attempts above a limit.",
			query{"refused", `sum (rate(tradegrid_sign_ins_total{ALL,result=~"refused|limited|busy"}[$__rate_interval]))`}).warn(.1).bad(.5).runbook("TradegridSignInsRefused"),
	}
}

func consolePagesRow() []*Panel {
	return []*Panel{
		graph("Pages by status", perSecond, "Answers per second, by HTTP status.", rate(consolePages+"_count", "status")).stacked(),
		graph("Time of a page", seconds, "All pages.", quantiles(consolePages, "")...).bad(1).runbook("TradegridConsoleSlow"),
		graph("Failed pages by route", perSecond, "Where pages fail on our side. The log has their X-Request-Id.",
			query{"{{route}} {{status}}", `sum by (route, status) (rate(` + consolePages + `_count{ALL,status=~"5.."}[$__rate_interval])) > 0`}).runbook("TradegridConsolePagesFail"),
		table("Slowest routes, p99", seconds, "The ten routes with the highest p99 of the last five minutes.",
			query{"p99", `topk(10, histogram_quantile(0.99, sum by (route, le) (rate(` + consolePages + `_bucket{ALL}[5m]))))`}),
	}
}

func consoleSignIns() []*Panel {
	return []*Panel{
		graph("Attempts by result", perSecond, "ok, refused (wrong password or code), limited (too many for the account or the address), busy (too many at the same time), error.", rate("tradegrid_sign_ins_total", "result")).stacked().
			runbook("TradegridSignInsRefused"),
	}
}
