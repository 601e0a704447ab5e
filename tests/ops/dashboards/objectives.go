package dashboards

// objectives shows what is left of the error budgets, and how fast they burn.
func objectives() board {
	return board{
		name: "objectives", title: "Objectives", description: "Service level objectives over 28 days: what is left of each error budget, and how fast it burns.",
		rows: []row{{"Budget left of 28 days", budgets()}, {"How fast budgets burn", burns()}},
	}
}

// slos are the objectives of rules/slo.yaml by the label slo.
var slos = []struct{ name, title, description string }{
	{"api_availability", "API answers", "99.95 % of the requests are not answered 5xx."},
	{"write_latency", "Writes in time", "99 % of the changes are answered within 250 ms."},
	{"publish_latency", "Events in Kafka", "99 % of the events are acknowledged by Kafka within 500 ms of their commit."},
	{"first_attempt", "First attempts", "99 % of the first attempts at healthy receivers begin within 2 s of the commit."},
	{"delivery", "Deliveries", "99.9 % of the deliveries to healthy receivers are done within 60 s of the commit."},
}

// budgetLeft is 1 while nothing is used and 0 when all of it is.
func budgetLeft(slo string) query {
	bad, total, budget := `tradegrid:slo_bad:rate5m{CELL,slo="`+slo+`"}`, `tradegrid:slo_total:rate5m{CELL,slo="`+slo+`"}`, `scalar(tradegrid:slo_budget{slo="`+slo+`"})`
	return query{"left", `1 - sum(sum_over_time(` + bad + `[28d])) / sum(sum_over_time(` + total + `[28d])) / ` + budget}
}

func budgets() []*Panel {
	var all []*Panel
	for _, s := range slos {
		all = append(all, stat(s.title, share, s.description+" Below 0 % the budget is overdrawn.", budgetLeft(s.name)).lowIsBad(.1, .5).
			runbook("TradegridErrorBudgetBurnsSlowly"))
	}
	lost := stat("Nothing lost", number, "Events that are neither delivered, nor open, nor failed: 0 is the objective.",
		query{"difference", `max(abs(tradegrid_reconciler_difference{CELL}))`}).bad(1).runbook("TradegridEventsLost")
	return append(all, lost)
}

func burns() []*Panel {
	burn := func(title, window string, from float64, description string) *Panel {
		return graph(title, number, description, query{"{{slo}} {{cell}}", `max by (cell, slo) (tradegrid:slo_burn:` + window + `{CELL})`}).bad(from).size(12, 8)
	}
	return []*Panel{
		burn("Over one hour", "1h", 14.4, "1 uses up the budget in exactly 28 days; 14.4 uses 2 % of it in an hour, and pages.").runbook("TradegridErrorBudgetBurnsFast"),
		burn("Over six hours", "6h", 6, "6 for six hours uses 5 % of the budget, and pages.").runbook("TradegridErrorBudgetBurnsFast"),
		burn("Over one day", "1d", 3, "3 for a day uses 11 % of the budget: a ticket.").runbook("TradegridErrorBudgetBurnsSlowly"),
		burn("Over three days", "3d", 1, "1 for three days uses 11 % of the budget: a ticket.").runbook("TradegridErrorBudgetBurnsSlowly"),
		graph("Bad events", perSecond, "What burns the budgets, by objective.", query{"{{slo}}", `sum by (slo) (tradegrid:slo_bad:rate5m{CELL})`}).size(12, 8),
		graph("All events", perSecond, "What the objectives count.", query{"{{slo}}", `sum by (slo) (tradegrid:slo_total:rate5m{CELL})`}).size(12, 8),
	}
}
