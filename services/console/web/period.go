package web

import "time"

// Period is the time that two fields of a filter narrow a list to. Addresses have each end as a day of the company, as a minute in its
// zone, or as RFC 3339 in UTC or with an offset; all of the last day or minute belongs to it.
type Period struct {
	From, To time.Time // to the millisecond; zero = open, or not a time

	fromName, toName string
	wrong            map[string]bool // names of fields that have something else than a time
}

// Period reads the period that the parameters of these names ask for.
func (q *Request) Period(from, to string) Period {
	p := Period{fromName: from, toName: to, wrong: map[string]bool{}}
	var ok bool
	if p.From, _, ok = q.span(q.Form.Get(from)); !ok {
		p.wrong[from] = true
	}
	if _, p.To, ok = q.span(q.Form.Get(to)); !ok {
		p.wrong[to] = true
	}
	return p
}

// span is the first and the last millisecond of what a bound names; ok is false if it is something else than a time.
func (q *Request) span(text string) (first, last time.Time, ok bool) {
	if text == "" {
		return first, last, true
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, q.Zone); err == nil {
		return day, day.AddDate(0, 0, 1).Add(-time.Millisecond), true
	}
	if minute, err := time.ParseInLocation(localTime, text, q.Zone); err == nil {
		return minute, minute.Add(time.Minute - time.Millisecond), true
	}
	at, err := time.Parse(time.RFC3339, text)
	return at, at, err == nil
}

// Valid reports whether both ends are times, or open.
func (p Period) Valid() bool { return len(p.wrong) == 0 }

// PeriodFields are the two fields of a filter. Each shows what is wrong with it.
func (q *Request) PeriodFields(p Period) []Field {
	fields := []Field{q.TimeField(p.fromName, q.T("filter.from"), p.From), q.TimeField(p.toName, q.T("filter.to"), p.To)}
	for i := range fields {
		if p.wrong[fields[i].Name] {
			fields[i].Value, fields[i].Fault = q.Form.Get(fields[i].Name), q.T("fault.time")
		}
	}
	return fields
}

// PeriodRanges lead to the days that people ask for most; at is the list with others. The days that the period is are marked, however the
// address has them.
func (q *Request) PeriodRanges(p Period, at func(from, to string) string) *Ranges {
	from, to := "", ""
	if !p.From.IsZero() && q.isMidnight(p.From) {
		from = p.From.In(q.Zone).Format(time.DateOnly)
	}
	if !p.To.IsZero() && q.isMidnight(p.To.Add(time.Millisecond)) {
		to = p.To.In(q.Zone).Format(time.DateOnly)
	}
	r := q.Ranges(q.T("range.title"), from, to, at)
	return &r
}

// isMidnight reports whether a day of the company begins.
func (q *Request) isMidnight(at time.Time) bool {
	local := at.In(q.Zone)
	day, err := time.ParseInLocation(time.DateOnly, local.Format(time.DateOnly), q.Zone)
	return err == nil && day.Equal(at)
}
