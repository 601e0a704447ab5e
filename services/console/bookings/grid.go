package bookings

import (
	"slices"
	"strconv"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// grid has a row for each quarter of an hour, and a column for each resource of a day, or for each day of a resource. Hours and
// columns have the same rows.
type grid struct {
	Rows    string // class of the column of hours
	Tall    string // class of a column with its heading
	Kind    string // of-days or of-resources
	Hours   []block
	Columns []column
	Now     *nowLine
}

type column struct {
	Resource, Day string // that a booking gets that is moved here
	Name, Href    string
	Also          string // below the name: the day off, how much is booked, the zone
	Off           string // name of the day off, or of what changes its hours
	Today         bool
	Book          string // address of its free times
	Lanes         int
	Blocks        []block
	Now           *nowLine
}

// block takes rows of a column: an hour, a time in which the resource works or does not, one that is free, or a booking.
type block struct {
	Class       string // at-N: the first row; for-N: how many; lane-N: beside others
	Kind        string // open, closed, buffer, hold, or the state of a booking
	Text, Also  string
	State       string // in a word, for those who do not see it
	Href, Title string
	ID          string
	Move        string // address that moves the booking; "" = it cannot be
	Version     int64
	Row, Rows   int
	Chosen      bool // the panel shows it
	Focus       bool
	Fault       string // why it was not moved
	FaultClass  string
}

// nowLine is where the time of now is; a script moves it. A row of 15 minutes has 15 pixels.
type nowLine struct {
	At   int64 // minutes below the first row
	From int64 // the instant of the first row, in milliseconds
	Now  int64 // of the server, as the clock of a browser can be wrong
	Text string
}

// Without bookings and working hours, a day is shown from and to these rows.
const (
	firstRow = 9 * 4
	lastRow  = 18 * 4
	anHour   = 4 // rows
)

// axis are the rows that are shown of each day.
type axis struct {
	first, last int
	week        bool // the columns are days, so that rows are times of the clock
}

func (a axis) row(d day, at time.Time, up bool) int {
	if a.week {
		return d.clockRow(at, up)
	}
	return d.row(at, up)
}

// gridOf places what takes time.
func gridOf(q *web.Request, s state, sp *span, o outcome) *grid {
	a := axisOf(s, sp)
	g := &grid{Kind: "of-resources", Rows: "for-" + strconv.Itoa(a.last-a.first), Tall: "for-" + strconv.Itoa(a.last-a.first+1)}
	for row := a.first; row < a.last; row += anHour {
		text := sp.days[0].clock(sp.days[0].at(row))
		if a.week {
			text = clockOfRow(row)
		}
		g.Hours = append(g.Hours, block{Class: place(row-a.first, min(anHour, a.last-row)), Text: text})
	}
	if a.week {
		g.Kind = "of-days"
		for _, d := range sp.days {
			c := columnOf(q, s, sp, o, a, d, sp.resources[0])
			c.Name, c.Href = q.Date(d.utc(), "Mon 2"), state{view: viewDay, day: d, resource: s.resource}.href(q)
			g.Columns = append(g.Columns, c)
		}
	} else {
		for _, res := range sp.resources {
			c := columnOf(q, s, sp, o, a, sp.days[0], res)
			c.Name, c.Href = res.Name, state{view: viewWeek, day: s.day, resource: &res.ID}.href(q)
			g.Columns = append(g.Columns, c)
		}
	}
	for _, c := range g.Columns {
		if c.Now != nil {
			g.Now = c.Now
		}
	}
	return g
}

// columnOf are the working hours, free times, holds and bookings of a resource on a day.
func columnOf(q *web.Request, s state, sp *span, o outcome, a axis, d day, res scheduling.Schedule) column {
	c := column{Resource: res.ID.String(), Day: d.String(), Today: d.String() == today(q).String(), Now: nowIn(q, a, d)}
	if q.Allows(scope, true) {
		c.Book = web.With(q.Path("/bookings/free"), "day", d.String(), "resource", res.ID.String())
	}
	if off := res.On(jsontype.Date(d.utc())); off != nil {
		c.Off = off.Name
	}
	of := sp.of(res.ID, d)
	c.Also = join(c.Off, bookedOf(q, d, res, of), otherZone(q, res))
	c.Blocks = append(c.Blocks, shades(a, d, res)...)
	lanes := lanesOf(of)
	c.Lanes = slices.Max(append(lanes, 1))
	if res.ParallelBookings > 1 && len(of) > 0 {
		c.Lanes = min(c.Lanes+1, maxLanes) // so that a place beside them can be chosen
	}
	for _, slot := range sp.free[res.ID] {
		if slot.StartAt.Std().Before(d.start) || !slot.StartAt.Std().Before(d.end) {
			continue
		}
		c.Blocks = append(c.Blocks, freeBlock(q, s, a, d, slot, c.Lanes))
	}
	for _, h := range sp.holds {
		if h.ResourceID == res.ID && h.EndAt.Std().After(d.start) && h.StartAt.Std().Before(d.end) {
			from, to := a.row(d, h.StartAt.Std(), false)-a.first, a.row(d, h.EndAt.Std(), true)-a.first
			c.Blocks = append(c.Blocks, block{Class: place(from, max(to-from, 1)), Kind: "hold", Text: q.T("bookings.hold", d.clock(h.ExpiresAt.Std())), Title: q.T("bookings.hold.until", d.clock(h.StartAt.Std()), d.clock(h.EndAt.Std()), d.clock(h.ExpiresAt.Std()))})
		}
	}
	for i, b := range of {
		c.Blocks = append(c.Blocks, blocksOf(q, s, o, a, d, b, lanes[i])...)
	}
	return c
}

// freeBlock is a time to book, which leads to the form for it.
func freeBlock(q *web.Request, s state, a axis, d day, slot scheduling.Slot, lane int) block {
	from, to := a.row(d, slot.StartAt.Std(), false)-a.first, a.row(d, slot.EndAt.Std(), true)-a.first
	clock := d.clock(slot.StartAt.Std())
	return block{
		Class: place(from, max(to-from, 1)) + " lane-" + strconv.Itoa(lane), Kind: "free", Text: clock, Title: q.T("bookings.book_at", clock),
		Href: s.booking(choice{resource: slot.ResourceID, start: slot.StartAt.Std()}).href(q), Chosen: s.at != nil && s.at.resource == slot.ResourceID && s.at.start.Equal(slot.StartAt.Std()),
	}
}

// blocksOf are a booking, and what is kept free around it.
func blocksOf(q *web.Request, s state, o outcome, a axis, d day, b scheduling.Booking, inLane int) (all []block) {
	lane := " lane-" + strconv.Itoa(inLane)
	from, to := a.row(d, b.StartAt.Std(), false)-a.first, a.row(d, b.EndAt.Std(), true)-a.first
	begin, end := taken(b)
	if row := max(a.row(d, begin, false)-a.first, 0); row < from {
		all = append(all, block{Class: place(row, from-row) + lane, Kind: "buffer", Title: q.T("bookings.buffer", b.BufferBeforeMinutes)})
	}
	if row := min(a.row(d, end, true), a.last) - a.first; row > to {
		all = append(all, block{Class: place(to, row-to) + lane, Kind: "buffer", Title: q.T("bookings.buffer", b.BufferAfterMinutes)})
	}
	one := block{
		ID: "b-" + b.ID.String(), State: q.T("bookings.status." + b.Status), Class: place(from, max(to-from, 1)) + lane, Kind: stateOfBooking(q, b), Text: b.CustomerName, Also: also(d, b), Href: s.opened(b.ID).href(q),
		Title:   q.T("bookings.block", d.clock(b.StartAt.Std()), d.clock(b.EndAt.Std()), b.CustomerName, q.T("bookings.status."+b.Status)),
		Version: b.Version, Row: from, Rows: max(to-from, 1), Chosen: s.open != nil && *s.open == b.ID, Focus: o.focus != nil && *o.focus == b.ID,
	}
	if q.Allows(scope, true) && isOpen(b) {
		one.Move = q.Path("/bookings/" + b.ID.String() + "/move")
	}
	if one.Focus && o.refused != "" {
		one.Fault = o.refused
		one.FaultClass = place(min(one.Row+one.Rows, a.last-a.first-1), 1)
	}
	return append(all, one)
}

// isOpen reports whether a booking is still to take place, so that it can be moved.
func isOpen(b scheduling.Booking) bool { return b.Status == "pending" || b.Status == "confirmed" }

// kinds are the colours of statuses.
var kinds = map[string]string{"pending": web.Warn, "confirmed": web.Info, "completed": web.Good, "no_show": web.Bad, "cancelled": web.Off}

// looks are how bookings are drawn.
var looks = map[string]string{"pending": "ask", "confirmed": "sure", "completed": "past", "no_show": "missed"}

func stateOfBooking(q *web.Request, b scheduling.Booking) string {
	if b.Status == "confirmed" && !b.StartAt.Std().After(q.Now) && b.EndAt.Std().After(q.Now) {
		return "here"
	}
	return looks[b.Status]
}

// place are the classes of a block in the grid.
func place(row, rows int) string { return "at-" + strconv.Itoa(row) + " for-" + strconv.Itoa(rows) }

// axisOf is the part of the days in which resources work or have bookings, in whole hours, with an hour before and after.
func axisOf(s state, sp *span) axis {
	a := axis{first: -1, last: -1, week: s.view == viewWeek}
	take := func(from, to int) {
		if a.first < 0 || from < a.first {
			a.first = from
		}
		a.last = max(a.last, to)
	}
	end := 0
	for _, d := range sp.days {
		for _, res := range sp.resources {
			for _, h := range res.HoursBetween(d.start, d.end) {
				take(a.row(d, h.Start, false), a.row(d, h.End, true))
			}
			for _, b := range sp.of(res.ID, d) {
				take(a.row(d, b.StartAt.Std(), false), a.row(d, b.EndAt.Std(), true))
			}
		}
		end = max(end, a.row(d, d.end, true))
	}
	if a.first < 0 {
		a.first, a.last = firstRow, lastRow
	}
	a.first, a.last = max(a.first/anHour-1, 0)*anHour, min(((a.last+anHour-1)/anHour+1)*anHour, end)
	return a
}

// nowIn is where now is in a column; nil if it is not there.
func nowIn(q *web.Request, a axis, d day) *nowLine {
	if q.Now.Before(d.start) || !q.Now.Before(d.end) {
		return nil
	}
	row := a.row(d, q.Now, false)
	if row < a.first || row >= a.last {
		return nil
	}
	at := int64(row-a.first)*15 + int64(q.Now.In(d.zone).Minute()%15)
	return &nowLine{At: at, From: q.Now.UnixMilli() - at*time.Minute.Milliseconds() - q.Now.UnixMilli()%time.Minute.Milliseconds(), Now: q.Now.UnixMilli(), Text: d.clock(q.Now)}
}

// shades are the parts of the day in which a resource works, and those between.
func shades(a axis, d day, res scheduling.Schedule) (all []block) {
	at := a.first
	add := func(to int, kind string) {
		if to = min(to, a.last); to > at {
			all = append(all, block{Class: place(at-a.first, to-at), Kind: kind})
			at = to
		}
	}
	for _, h := range res.HoursBetween(d.start, d.end) {
		add(a.row(d, h.Start, false), "closed")
		add(a.row(d, h.End, true), "open")
	}
	add(a.last, "closed")
	return all
}

// taken is the time of a booking with what its resource keeps free before and after it. One that did not take place keeps nothing free.
func taken(b scheduling.Booking) (from, to time.Time) {
	from, to = b.StartAt.Std(), b.EndAt.Std()
	if b.Status == "no_show" {
		return from, to
	}
	return from.Add(-time.Duration(b.BufferBeforeMinutes) * time.Minute), to.Add(time.Duration(b.BufferAfterMinutes) * time.Minute)
}

// lanesOf puts bookings that overlap, with what is kept free around them, beside each other. They are in the order of their start.
func lanesOf(all []scheduling.Booking) []int {
	lanes := make([]int, len(all))
	var ends []time.Time
	for i, b := range all {
		from, to := taken(b)
		lane := slices.IndexFunc(ends, func(end time.Time) bool { return !end.After(from) })
		switch {
		case lane >= 0:
			ends[lane] = to
		case len(ends) < maxLanes:
			lane, ends = len(ends), append(ends, to)
		default:
			lane = maxLanes - 1
		}
		lanes[i] = lane + 1
	}
	return lanes
}

// also is what stands below the name: the time, and the service.
func also(d day, b scheduling.Booking) string {
	return join(d.clock(b.StartAt.Std())+"–"+d.clock(b.EndAt.Std()), serviceOf(b))
}

func serviceOf(b scheduling.Booking) string {
	if b.ServiceName == nil {
		return ""
	}
	return *b.ServiceName
}

// bookedOf is how much of the working hours is booked.
func bookedOf(q *web.Request, d day, res scheduling.Schedule, of []scheduling.Booking) string {
	var works, booked time.Duration
	for _, h := range res.HoursBetween(d.start, d.end) {
		works += h.End.Sub(h.Start)
	}
	for _, b := range of {
		if b.Status != "no_show" {
			booked += b.EndAt.Std().Sub(b.StartAt.Std())
		}
	}
	if works == 0 {
		return ""
	}
	return q.T("bookings.booked", q.Number(hours(booked)), q.Number(hours(works)))
}

// hours is a number of hours with at most one decimal.
func hours(d time.Duration) string {
	return strconv.FormatFloat(d.Round(6*time.Minute).Hours(), 'f', -1, 64)
}

// otherZone names the zone of a resource that is not in that of the company.
func otherZone(q *web.Request, res scheduling.Schedule) string {
	if res.TimeZone == q.Company.TimeZone {
		return ""
	}
	return res.TimeZone
}

func join(texts ...string) string {
	out := ""
	for _, text := range texts {
		if text != "" && out != "" {
			out += " · "
		}
		out += text
	}
	return out
}
