// Package localtime finds the instants at which clocks of a time zone show a time, also on days of 23 and 25 hours.
package localtime

import "time"

const oneDay = 24 * time.Hour

// At returns the instant at which clocks in the zone show minute of the day. Of an hour that occurs twice, because clocks are
// set back, it is the first; a time that clocks skip is the instant of the change. So it never decreases when minute grows, and
// every local day is divided without gaps: a day lasts from its minute 0 to minute 0 of the next one.
func At(year int, month time.Month, day, minute int, zone *time.Location) time.Time {
	wall := time.Date(year, month, day, 0, minute, 0, 0, time.UTC)
	// The offset from UTC is always less than a day, so these are certainly before and after.
	_, before := wall.Add(-oneDay).In(zone).Zone()
	later := wall.Add(oneDay).In(zone)
	_, after := later.Zone()
	first := wall.Add(-time.Duration(before) * time.Second)
	if before == after {
		return first
	}
	change, _ := later.ZoneBounds()
	second := wall.Add(-time.Duration(after) * time.Second)
	switch {
	case first.Before(change):
		return first
	case second.Before(change):
		return change.UTC()
	default:
		return second
	}
}
