package demodata

import "time"

// begin is the morning of the first day of the history.
func begin(size scale, now time.Time) time.Time {
	y, m, d := now.In(zone()).AddDate(0, 0, -size.days).Date()
	return time.Date(y, m, d, 7, 0, 0, 0, zone())
}

func zone() *time.Location {
	z, err := time.LoadLocation(TimeZone)
	if err != nil {
		panic(err) // the zones are part of the binary
	}
	return z
}

// dayBefore is when the shop prepares its opening.
func (s *shop) dayBefore() time.Time { return s.start.AddDate(0, 0, -1) }

// openDays lists the days of the history on which the shop is open, all but Sundays, and today.
func (s *shop) openDays() []time.Time {
	var days []time.Time
	for i := range s.scale.days + 1 {
		day := s.day(i)
		if day.Weekday() != time.Sunday || i == s.scale.days {
			days = append(days, day)
		}
	}
	return days
}

// day is midnight of the i-th day of the history.
func (s *shop) day(i int) time.Time {
	y, m, d := s.start.AddDate(0, 0, i).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, s.start.Location())
}

// between is a moment of a day; from and to are hours.
func (s *shop) between(day time.Time, from, to int) time.Time {
	minutes := from*60 + s.rng.IntN((to-from)*60)
	return time.Date(day.Year(), day.Month(), day.Day(), 0, minutes, s.rng.IntN(60), 0, day.Location())
}

// whenOpen is t, or if the shop is closed then, a moment of the morning on which it opens again.
func (s *shop) whenOpen(t time.Time) time.Time {
	local := t.In(s.start.Location())
	if h := local.Hour(); h >= 19 {
		local = s.between(local.AddDate(0, 0, 1), 8, 11)
	} else if h < 8 {
		local = s.between(local, 8, 11)
	}
	if local.Weekday() == time.Sunday {
		local = s.between(local.AddDate(0, 0, 1), 8, 11)
	}
	return local
}
