package records

import (
	"maps"
	"net/url"
	"strings"
	"time"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// ranges lead to the report of the days that people ask for most. Weeks begin on Monday.
func ranges(q *web.Request, res resources.Resource, query url.Values) (all []web.Tab) {
	now := q.Now.In(q.Zone)
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	first := today.AddDate(0, 0, 1-today.Day())
	for _, r := range []struct {
		key      string
		from, to time.Time
	}{
		{"records.range.today", today, today},
		{"records.range.yesterday", today.AddDate(0, 0, -1), today.AddDate(0, 0, -1)},
		{"records.range.week", monday, today},
		{"records.range.lastWeek", monday.AddDate(0, 0, -7), monday.AddDate(0, 0, -1)},
		{"records.range.month", first, today},
		{"records.range.lastMonth", first.AddDate(0, -1, 0), first.AddDate(0, 0, -1)},
	} {
		of := maps.Clone(query)
		of.Set("from", r.from.Format(time.DateOnly))
		of.Set("to", r.to.Format(time.DateOnly))
		isCurrent := of.Get("from") == query.Get("from") && of.Get("to") == query.Get("to")
		all = append(all, web.Tab{Text: q.T(r.key), Href: reportAt(q, res) + "?" + addressOf(of), Current: isCurrent})
	}
	return all
}

// addressOf is the query of a page of a report.
func addressOf(query url.Values) string {
	of := url.Values{}
	for name, values := range query {
		if name == "groupBy" { // boxes send one each
			of[name] = strings.Split(values[0], ",")
			continue
		}
		of[name] = values
	}
	return of.Encode()
}
