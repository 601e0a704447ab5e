package web

import (
	"strconv"
	"strings"
	"time"
)

// Moment is a time as people of a company read it: in their zone, as short as it can be, with the exact one on hover.
type Moment struct {
	At   time.Time
	zone *time.Location
	now  time.Time
	said dateWords
}

// dateWords are the names of months and days in a language: January, Jan, Monday, Mon and the others, and the layout of a day before a
// month, such as 2. with a full stop. The zero value is English.
type dateWords struct {
	months, shortMonths, days, shortDays []string
	day                                  string
}

// format is [time.Time.Format] with the names of the language. A layout names a month or a day once.
func (w dateWords) format(at time.Time, layout string) string {
	if w.day != "" {
		layout = strings.Replace(layout, "2 Jan", w.day+" Jan", 1)
	}
	text := at.Format(layout)
	for _, part := range []struct {
		layout, english string
		names           []string
		i               int
	}{
		{"January", at.Month().String(), w.months, int(at.Month()) - 1},
		{"Jan", at.Format("Jan"), w.shortMonths, int(at.Month()) - 1},
		{"Monday", at.Weekday().String(), w.days, int(at.Weekday())},
		{"Mon", at.Format("Mon"), w.shortDays, int(at.Weekday())},
	} {
		if part.i < len(part.names) && strings.Contains(layout, part.layout) {
			text = strings.Replace(text, part.english, part.names[part.i], 1)
			layout = strings.Replace(layout, part.layout, "", 1)
		}
	}
	return text
}

// IsZero reports whether there is no time.
func (m Moment) IsZero() bool { return m.At.IsZero() }

// Past reports whether the time is over.
func (m Moment) Past() bool { return m.At.Before(m.now) }

// Short is the time of day today, with the date on other days, and with the year in other years.
func (m Moment) Short() string {
	at, now := m.At.In(m.zone), m.now.In(m.zone)
	switch {
	case at.Year() != now.Year():
		return m.said.format(at, "2 Jan 2006 15:04")
	case at.YearDay() != now.YearDay():
		return m.said.format(at, "2 Jan 15:04")
	case now.Sub(at).Abs() < time.Hour:
		return at.Format("15:04:05")
	}
	return at.Format("15:04")
}

// Exact is the whole time with its zone.
func (m Moment) Exact() string {
	return m.said.format(m.At.In(m.zone), "Mon 2 Jan 2006 15:04:05.000 MST")
}

// ISO is for machines.
func (m Moment) ISO() string { return m.At.UTC().Format(time.RFC3339Nano) }

// Dial is a phone number as the address of a link takes it behind tel:, which is without the spaces and signs between its digits.
func Dial(number string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '+' {
			return r
		}
		return -1
	}, number)
}

// Instant is a time as the API takes it.
func Instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z07:00") }

// Duration is how long something takes or has taken, in its two largest units.
func (q *Request) Duration(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Second:
		return q.T("unit.ms", d.Milliseconds())
	case d < time.Minute:
		return q.T("unit.seconds", d/time.Second)
	case d < time.Hour:
		return q.T("unit.minutes", d/time.Minute) + q.rest("unit.seconds", d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return q.T("unit.hours", d/time.Hour) + q.rest("unit.minutes", d%time.Hour/time.Minute)
	}
	const day = 24 * time.Hour
	return q.T("unit.days", d/day) + q.rest("unit.hours", d%day/time.Hour)
}

// rest is the smaller unit of a duration, if there is anything of it.
func (q *Request) rest(unit string, n time.Duration) string {
	if n == 0 {
		return ""
	}
	return " " + q.T(unit, n)
}

// Bytes is a size as people of the language read it.
func (q *Request) Bytes(n int64) string {
	in := func(unit int64) string { return q.Number(strconv.FormatFloat(float64(n)/float64(unit), 'f', 1, 64)) }
	switch {
	case n >= 1<<30:
		return q.T("unit.gib", in(1<<30))
	case n >= 1<<20:
		return q.T("unit.mib", in(1<<20))
	case n >= 1<<10:
		return q.T("unit.kib", in(1<<10))
	}
	return q.T("unit.bytes", q.Count(n))
}
