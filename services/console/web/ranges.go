package web

import "time"

// Ranges are the days that people ask for most.
type Ranges struct {
	Label string
	Tabs  []Tab
}

// dayRange is some days by the key of its text; both ends belong to it.
type dayRange struct {
	key      string
	from, to time.Time
}

// Ranges lead to the days that people ask for most. from and to are those that are asked for, as 2026-01-31, and at is the address for
// others. Days are those of the company, and weeks begin on Monday.
func (q *Request) Ranges(label, from, to string, at func(from, to string) string) Ranges {
	r, isMarked := Ranges{Label: label}, false
	for _, one := range rangesOn(q.Now.In(q.Zone)) {
		first, last := one.from.Format(time.DateOnly), one.to.Format(time.DateOnly)
		isCurrent := !isMarked && first == from && last == to // on a Monday the week is the day
		isMarked = isMarked || isCurrent
		r.Tabs = append(r.Tabs, Tab{Text: q.T("range." + one.key), Href: at(first, last), Current: isCurrent})
	}
	return r
}

// rangesOn are the ranges on the day of a time.
func rangesOn(now time.Time) []dayRange {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC) // where each day has 24 hours
	yesterday := today.AddDate(0, 0, -1)
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	first := today.AddDate(0, 0, 1-today.Day())
	return []dayRange{
		{"today", today, today},
		{"yesterday", yesterday, yesterday},
		{"week", monday, today},
		{"lastWeek", monday.AddDate(0, 0, -7), monday.AddDate(0, 0, -1)},
		{"days7", today.AddDate(0, 0, -6), today},
		{"month", first, today},
		{"lastMonth", first.AddDate(0, -1, 0), first.AddDate(0, 0, -1)},
	}
}
