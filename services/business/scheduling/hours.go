package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// WorkingHours is an interval of a weekday in which a resource can be booked.
type WorkingHours struct {
	Weekday int32  `json:"weekday" minimum:"1" maximum:"7" doc:"1 = Monday"`
	From    string `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time from 00:00 to 23:59" doc:"HH:mm, local time of the resource"`
	To      string `json:"to" pattern:"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$" patternDescription:"a time from 00:01 to 24:00" doc:"HH:mm; 24:00 = the end of the day"`
}

// The working hours of a resource without any are these, every day.
const (
	defaultFrom = "09:00"
	defaultTo   = "21:00"
)

// minutes converts HH:mm, which the pattern has checked, to minutes since midnight.
func minutes(clock string) int {
	return int(clock[0]-'0')*600 + int(clock[1]-'0')*60 + int(clock[3]-'0')*10 + int(clock[4]-'0')
}

// checkOpenHours reports intervals that are empty or overlap another one.
func checkOpenHours(faults *apierr.Fields, all []OpenHours) {
	hours := make([]WorkingHours, len(all))
	for i, h := range all {
		hours[i] = WorkingHours{From: h.From, To: h.To}
	}
	checkHours(faults, "hours", hours)
}

// checkHours reports intervals that are empty or overlap another one of their weekday.
func checkHours(faults *apierr.Fields, field string, all []WorkingHours) {
	for i, h := range all {
		path := fmt.Sprintf("%s[%d]", field, i)
		if minutes(h.From) >= minutes(h.To) {
			faults.Add(path+".to", apierr.Min, "must be after from, which is %s; divide hours across midnight in two, up to 24:00 and from 00:00", h.From)
			continue
		}
		for j, other := range all[:i] {
			if other.Weekday == h.Weekday && minutes(other.From) < minutes(h.To) && minutes(h.From) < minutes(other.To) {
				faults.Add(path, apierr.Conflict, "overlaps %s[%d]; join them", field, j)
				break
			}
		}
	}
}

// interval is a half-open interval of time.
type interval struct{ start, end time.Time }

// overlaps reports whether the intervals have an instant in common.
func (i interval) overlaps(other interval) bool {
	return i.start.Before(other.end) && other.start.Before(i.end)
}

// open returns the intervals of one local day in which the resource can be booked, in ascending order.
func (s Schedule) open(year int, month time.Month, day int, zone *time.Location) []interval {
	date := jsontype.Date(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
	var out []interval
	for _, h := range s.hoursOn(date) {
		i := interval{date.At(minutes(h.From), zone), date.At(minutes(h.To), zone)}
		if i.start.Before(i.end) { // the change to summer time can swallow it
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b interval) int { return cmp.Or(a.start.Compare(b.start), a.end.Compare(b.end)) })
	return out
}

// hoursOn returns the hours of a day, in any order.
func (s Schedule) hoursOn(date jsontype.Date) (hours []OpenHours) {
	if e := s.On(date); e != nil {
		return e.Hours
	}
	if len(s.WorkingHours) == 0 {
		return []OpenHours{{defaultFrom, defaultTo}}
	}
	weekday := int32(time.Time(date).Weekday()+6)%7 + 1
	for _, h := range s.WorkingHours {
		if h.Weekday == weekday {
			hours = append(hours, OpenHours{h.From, h.To})
		}
	}
	return hours
}

// Hours is a time in which a resource can be booked.
type Hours struct{ Start, End time.Time }

// HoursBetween returns when the resource can be booked between two instants, in ascending order. Hours that adjoin are not joined.
func (s Schedule) HoursBetween(from, to time.Time) (out []Hours) {
	zone := s.zone()
	for day := from.In(zone).AddDate(0, 0, -1); !day.After(to.Add(oneDay)); day = day.AddDate(0, 0, 1) {
		year, month, date := day.Date()
		for _, o := range s.open(year, month, date, zone) {
			if o.overlaps(interval{from, to}) {
				out = append(out, Hours{later(o.start, from), earlier(o.end, to)})
			}
		}
	}
	return out
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// isOpen reports whether the resource can be booked during the whole interval. Working hours that adjoin, also at
// midnight, count as one.
func (s Schedule) isOpen(at interval) bool {
	zone := s.zone()
	covered := at.start
	// A change of the clock can move an interval of one date next to another date, so begin a day earlier.
	for day := at.start.In(zone).AddDate(0, 0, -1); !day.After(at.end.Add(oneDay)); day = day.AddDate(0, 0, 1) {
		year, month, date := day.Date()
		for _, o := range s.open(year, month, date, zone) {
			if !o.start.After(covered) && covered.Before(o.end) {
				covered = o.end
			}
		}
	}
	return !covered.Before(at.end)
}

const oneDay = 24 * time.Hour

// zone is the time zone of the resource. Its name was checked when it was set.
func (r Resource) zone() *time.Location {
	zone, err := time.LoadLocation(r.TimeZone)
	if err != nil {
		return time.UTC // a zone that newer time zone data no longer has
	}
	return zone
}
