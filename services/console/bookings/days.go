package bookings

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// day is a local day of the company. It lasts 23, 24 or 25 hours.
type day struct {
	year       int
	month      time.Month
	date       int
	start, end time.Time
	zone       *time.Location
}

func dayOf(year int, month time.Month, date int, zone *time.Location) day {
	at := time.Date(year, month, date, 0, 0, 0, 0, time.UTC)
	year, month, date = at.Date()
	return day{
		year: year, month: month, date: date, zone: zone,
		start: jsontype.Date(at).At(0, zone), end: jsontype.Date(at).At(24*60, zone),
	}
}

// dayParam is the day that the address names, or today.
func dayParam(q *web.Request, name string) day {
	if at, err := time.Parse(time.DateOnly, q.Form.Get(name)); err == nil && at.Year() >= 1970 && at.Year() <= 9000 {
		return dayOf(at.Year(), at.Month(), at.Day(), q.Zone)
	}
	return today(q)
}

func today(q *web.Request) day {
	year, month, date := q.Now.In(q.Zone).Date()
	return dayOf(year, month, date, q.Zone)
}

// add is the day so many days later.
func (d day) add(days int) day { return dayOf(d.year, d.month, d.date+days, d.zone) }

// monday is the first day of the week.
func (d day) monday() day { return d.add(-(int(d.weekday()) + 6) % 7) }

func (d day) weekday() time.Weekday {
	return time.Date(d.year, d.month, d.date, 0, 0, 0, 0, time.UTC).Weekday()
}

func (d day) utc() time.Time { return time.Date(d.year, d.month, d.date, 0, 0, 0, 0, time.UTC) }

// String is the day in addresses.
func (d day) String() string { return d.utc().Format(time.DateOnly) }

func (d day) long(q *web.Request) string { return q.Date(d.utc(), "Monday, 2 January 2006") }

func (d day) short(q *web.Request) string { return q.Date(d.utc(), "Mon 2 Jan") }

// quarter is what a row of the calendar shows.
const quarter = 15 * time.Minute

// row is the row of an instant, counted from the start of the day: the time that passes until then, so that a day of 25 hours has
// 100 rows. up takes the next row unless the instant begins one.
func (d day) row(at time.Time, up bool) int {
	if at.Before(d.start) {
		at = d.start
	}
	if at.After(d.end) {
		at = d.end
	}
	since := at.Sub(d.start)
	if up {
		since += quarter - 1
	}
	return int(since / quarter)
}

// at is the instant at which a row begins.
func (d day) at(row int) time.Time { return d.start.Add(time.Duration(row) * quarter) }

// clock is a time of day; of an hour that occurs twice, with its zone.
func (d day) clock(at time.Time) string {
	local := at.In(d.zone)
	for _, other := range []time.Duration{-time.Hour, time.Hour} {
		if o := at.Add(other).In(d.zone); o.Format(clockTime) == local.Format(clockTime) {
			return local.Format("15:04 MST")
		}
	}
	return local.Format(clockTime)
}

const clockTime = "15:04"

// clockRow is the row of an instant by the clock, so that the rows of days that clocks change stand beside those of others.
func (d day) clockRow(at time.Time, up bool) int {
	switch {
	case !at.After(d.start):
		return 0
	case !at.Before(d.end):
		return int(24 * time.Hour / quarter)
	}
	local := at.In(d.zone)
	minutes := local.Hour()*60 + local.Minute()
	if up {
		minutes += 14
	}
	return minutes / 15
}

// clockOfRow is the time at which a row of [day.clockRow] begins.
func clockOfRow(row int) string {
	return time.Time{}.Add(time.Duration(row) * quarter).Format(clockTime)
}

// sameClock is the time of another day at which the clock shows the time of an instant.
func (d day) sameClock(at time.Time) time.Time {
	local := at.In(d.zone)
	return jsontype.Date(d.utc()).At(local.Hour()*60+local.Minute(), d.zone)
}
