package bookings

import (
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// grid is a day: a row for each quarter of an hour, a column for each resource.
type grid struct {
	Hours   []block
	Columns []column
}

type column struct {
	Name, Href, Zone string
	Book             string // address of its free slots
	Lanes            int
	Blocks           []block
}

// block takes rows of a column: an hour, a time in which the resource works or does not, or a booking.
type block struct {
	Class       string // at-N: the first row; for-N: how many; lane-N: beside others
	Text, Also  string
	Href, Title string
	Kind        string // open, closed, or the colour of the status
}

// Without bookings and working hours, a day is shown from and to these rows.
const (
	firstRow = 9 * 4
	lastRow  = 18 * 4
	anHour   = 4 // rows
)

// gridOf places the bookings of a day.
func gridOf(q *web.Request, sp span) *grid {
	d := sp.days[0]
	first, last := rowsOf(sp)
	g := &grid{}
	for row := first; row < last; row += anHour {
		g.Hours = append(g.Hours, block{Class: place(row-first, min(anHour, last-row)), Text: d.clock(d.at(row))})
	}
	for _, res := range sp.resources {
		c := column{Name: res.Name, Href: state{view: viewWeek, day: d, resource: &res.ID}.href(q), Zone: otherZone(q, res)}
		if q.Allows(scope, true) {
			c.Book = web.With(q.Path("/bookings/free"), "day", d.String(), "resource", res.ID.String())
		}
		c.Blocks = append(c.Blocks, shades(d, res, first, last)...)
		of := slices.DeleteFunc(slices.Clone(sp.bookings), func(b scheduling.Booking) bool { return b.ResourceID != res.ID || !b.EndAt.Std().After(d.start) })
		lanes := lanesOf(of)
		c.Lanes = slices.Max(append(lanes, 1))
		for i, b := range of {
			from, to := d.row(b.StartAt.Std(), false)-first, d.row(b.EndAt.Std(), true)-first
			c.Blocks = append(c.Blocks, block{
				Class: place(from, max(to-from, 1)) + " lane-" + strconv.Itoa(lanes[i]), Text: d.clock(b.StartAt.Std()) + " " + b.CustomerName, Also: also(q, b),
				Href: q.Path("/bookings/" + b.ID.String()), Title: q.T("bookings.block", d.clock(b.StartAt.Std()), d.clock(b.EndAt.Std()), b.CustomerName, q.T("bookings.status."+b.Status)), Kind: kinds[b.Status],
			})
		}
		g.Columns = append(g.Columns, c)
	}
	return g
}

// kinds are the colours of statuses.
var kinds = map[string]string{"pending": web.Warn, "confirmed": web.Info, "completed": web.Good, "no_show": web.Bad, "cancelled": web.Off}

// place are the classes of a block in the grid.
func place(row, rows int) string { return "at-" + strconv.Itoa(row) + " for-" + strconv.Itoa(rows) }

// rowsOf is the part of the day in which resources work or have bookings, in whole hours, with an hour before and after.
func rowsOf(sp span) (first, last int) {
	d := sp.days[0]
	first, last = -1, -1
	take := func(from, to int) {
		if first < 0 || from < first {
			first = from
		}
		last = max(last, to)
	}
	for _, res := range sp.resources {
		for _, h := range res.HoursBetween(d.start, d.end) {
			take(d.row(h.Start, false), d.row(h.End, true))
		}
	}
	for _, b := range sp.bookings {
		if b.EndAt.Std().After(d.start) && slices.ContainsFunc(sp.resources, func(r scheduling.Resource) bool { return r.ID == b.ResourceID }) {
			take(d.row(b.StartAt.Std(), false), d.row(b.EndAt.Std(), true))
		}
	}
	if first < 0 {
		first, last = firstRow, lastRow
	}
	end := d.row(d.end, true)
	return max(first/anHour-1, 0) * anHour, min(((last+anHour-1)/anHour+1)*anHour, end)
}

// shades are the parts of the day in which a resource works, and those between.
func shades(d day, res scheduling.Resource, first, last int) (all []block) {
	at := first
	add := func(to int, kind string) {
		if to = min(to, last); to > at {
			all = append(all, block{Class: place(at-first, to-at), Kind: kind})
			at = to
		}
	}
	for _, h := range res.HoursBetween(d.start, d.end) {
		add(d.row(h.Start, false), "closed")
		add(d.row(h.End, true), "open")
	}
	add(last, "closed")
	return all
}

// lanesOf puts bookings that overlap beside each other. They are in the order of their start.
func lanesOf(all []scheduling.Booking) []int {
	lanes := make([]int, len(all))
	var ends []time.Time
	for i, b := range all {
		lane := slices.IndexFunc(ends, func(end time.Time) bool { return !end.After(b.StartAt.Std()) })
		switch {
		case lane >= 0:
			ends[lane] = b.EndAt.Std()
		case len(ends) < maxLanes:
			lane, ends = len(ends), append(ends, b.EndAt.Std())
		default:
			lane = maxLanes - 1
		}
		lanes[i] = lane + 1
	}
	return lanes
}

// also is what stands below the name: the status in a word, and the service.
func also(q *web.Request, b scheduling.Booking) string {
	word := q.T("bookings.status." + b.Status)
	if name := serviceOf(b); name != "" {
		return word + " · " + name
	}
	return word
}

func serviceOf(b scheduling.Booking) string {
	if b.ServiceName == nil {
		return ""
	}
	return *b.ServiceName
}

// otherZone names the zone of a resource that is not in that of the company.
func otherZone(q *web.Request, res scheduling.Resource) string {
	if res.TimeZone == q.Company.TimeZone {
		return ""
	}
	return res.TimeZone
}

// week is a row for each resource, and a column for each day.
type week struct {
	Days []web.Link
	Rows []weekRow
}

type weekRow struct {
	Name  web.Link
	Cells []weekCell
}

type weekCell struct {
	Day    string
	Closed bool
	Items  []block
	More   *web.Link
}

func weekOf(q *web.Request, s state, sp span) *week {
	w := &week{}
	dayHref := func(d day, id *uuid.UUID) string { return state{view: viewDay, day: d, resource: id}.href(q) }
	for _, d := range sp.days {
		w.Days = append(w.Days, web.Link{Text: d.short(q), Href: dayHref(d, s.resource)})
	}
	for _, res := range sp.resources {
		row := weekRow{Name: web.Link{Text: res.Name, Href: state{view: viewWeek, day: s.day, resource: &res.ID}.href(q)}}
		for _, d := range sp.days {
			cell := weekCell{Day: d.short(q), Closed: len(res.HoursBetween(d.start, d.end)) == 0}
			left := 0
			for _, b := range sp.bookings {
				if b.ResourceID != res.ID || !b.EndAt.Std().After(d.start) || !b.StartAt.Std().Before(d.end) {
					continue
				}
				if len(cell.Items) == maxInCell {
					left++
					continue
				}
				cell.Items = append(cell.Items, block{
					Text: d.clock(b.StartAt.Std()) + " " + b.CustomerName, Also: q.T("bookings.status." + b.Status), Href: q.Path("/bookings/" + b.ID.String()), Kind: kinds[b.Status],
					Title: q.T("bookings.block", d.clock(b.StartAt.Std()), d.clock(b.EndAt.Std()), b.CustomerName, q.T("bookings.status."+b.Status)),
				})
			}
			if left > 0 {
				cell.More = &web.Link{Text: q.T("bookings.more", left), Href: dayHref(d, &res.ID)}
			}
			row.Cells = append(row.Cells, cell)
		}
		w.Rows = append(w.Rows, row)
	}
	return w
}

// entry is a booking in the list of a day, with what can be done with it.
type entry struct {
	Time    string
	Chip    web.Chip
	Name    web.Link
	Text    string
	Actions []web.Action
	Move    string // address of its other slots
}

// maxAgenda is how many bookings of a day are listed.
const maxAgenda = 200

func agenda(q *web.Request, sp span, s state) (all []entry) {
	d := sp.days[0]
	for _, b := range sp.bookings {
		if !b.EndAt.Std().After(d.start) || len(all) == maxAgenda {
			continue
		}
		e := entry{
			Time: d.clock(b.StartAt.Std()) + "–" + d.clock(b.EndAt.Std()), Chip: web.Chip{Kind: kinds[b.Status], Text: q.T("bookings.status." + b.Status)},
			Name: web.Link{Text: b.CustomerName, Href: q.Path("/bookings/" + b.ID.String())}, Text: b.ResourceName,
		}
		if name := serviceOf(b); name != "" {
			e.Text = name + " · " + b.ResourceName
		}
		if q.Allows(scope, true) {
			e.Actions, e.Move = actions(q, b, d, s)
		}
		all = append(all, e)
	}
	return all
}

// actions are what the status of a booking allows.
func actions(q *web.Request, b scheduling.Booking, d day, s state) (all []web.Action, move string) {
	if b.Status != "pending" && b.Status != "confirmed" {
		return nil, ""
	}
	post := q.Path("/bookings/" + b.ID.String() + "/status")
	values := func(do string) map[string]string {
		v := map[string]string{"do": do, "version": strconv.FormatInt(b.Version, 10), "day": s.day.String()}
		if s.resource != nil {
			v["resource"] = s.resource.String()
		}
		return v
	}
	if b.Status == "pending" {
		all = append(all, web.Action{Text: q.T("bookings.confirm"), Post: post, Values: values("confirm"), Small: true})
	}
	all = append(all, web.Action{
		ID: "cancel-" + b.ID.String(), Text: q.T("bookings.cancel"), Post: post, Values: values("cancel"), Kind: "danger", Small: true,
		Confirm: q.T("bookings.cancel.confirm", b.CustomerName, d.clock(b.StartAt.Std()), b.ResourceName),
	})
	return all, web.With(q.Path("/bookings/"+b.ID.String()+"/reschedule"), "day", d.String())
}
