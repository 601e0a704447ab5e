package web

import "time"

// Moment is a time as people of a company read it: in their zone, as short as it can be, with the exact one on hover.
type Moment struct {
	At   time.Time
	zone *time.Location
	now  time.Time
}

// IsZero reports whether there is no time.
func (m Moment) IsZero() bool { return m.At.IsZero() }

// Short is the time of day today, with the date on other days, and with the year in other years.
func (m Moment) Short() string {
	at, now := m.At.In(m.zone), m.now.In(m.zone)
	switch {
	case at.Year() != now.Year():
		return at.Format("2 Jan 2006 15:04")
	case at.YearDay() != now.YearDay():
		return at.Format("2 Jan 15:04")
	case now.Sub(at).Abs() < time.Hour:
		return at.Format("15:04:05")
	}
	return at.Format("15:04")
}

// Exact is the whole time with its zone.
func (m Moment) Exact() string { return m.At.In(m.zone).Format("Mon 2 Jan 2006 15:04:05.000 MST") }

// ISO is for machines.
func (m Moment) ISO() string { return m.At.UTC().Format(time.RFC3339Nano) }
