package bookings

import (
	"context"
	"strconv"
	"time"

	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// commands are the operations that the panel of a booking offers.
var commands = map[string]string{"confirm": "confirmBooking", "complete": "completeBooking", "no_show": "noShowBooking", "cancel": "cancelBooking"}

// changesDone are what an address can say was done.
var changesDone = []string{"bookings.book", "bookings.confirm", "bookings.complete", "bookings.no_show", "bookings.cancel", "bookings.move"}

// versionOf is the version that a form was made from; without one, the change is not tied to a version.
func versionOf(q *web.Request) int64 {
	n, err := strconv.ParseInt(q.Form.Get("version"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// command changes the status of a booking. The calendar shows why one is refused.
func (pages *Pages) command(ctx context.Context, q *web.Request) (web.Answer, error) {
	b, err := pages.one(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	s := stateOf(q)
	do := q.Form.Get("do")
	op, ok := commands[do]
	if !ok {
		return web.Go(s.href(q)), nil
	}
	in := web.ByID(b.ID)
	in.Version = versionOf(q)
	_, err = web.Call[scheduling.Booking](ctx, q, op, in)
	if err == nil && q.Form.Get("from") == "home" {
		return web.Go(q.Path("/") + "?done=bookings." + do), nil
	}
	if err == nil {
		if do == "cancel" {
			s = s.alone()
		}
		return web.Go(s.href(q) + "&done=bookings." + do), nil
	}
	if !web.Refused(err) {
		return web.Answer{}, err
	}
	return pages.refuse(ctx, q, s, outcome{fault: q.Fault(err)})
}

// refuse shows the calendar with what the API said.
func (pages *Pages) refuse(ctx context.Context, q *web.Request, s state, o outcome) (web.Answer, error) {
	p, err := pages.fill(ctx, q, s, o)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("bookings/calendar", q.T("bookings.title"), p).Refuse(), nil
}

// shift is how a booking is moved in the grid: by so many rows, its end by so many more, to another column.
type shift struct{ rows, longer int }

// rowsField reads a number of rows; what is none moves nothing.
func rowsField(q *web.Request, name string) int {
	n, err := strconv.Atoi(q.Form.Get(name))
	if err != nil || n < -200 || n > 200 {
		return 0
	}
	return n
}

// move moves a booking in the grid, and shows the calendar with what came of it.
func (pages *Pages) move(ctx context.Context, q *web.Request) (web.Answer, error) {
	b, err := pages.one(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	s, by := stateOf(q), shift{rowsField(q, "rows"), rowsField(q, "longer")}
	was := dayOfTime(b.StartAt.Std(), q.Zone)
	to := was
	if q.Form.Get("to") != "" {
		to = dayParam(q, "to")
	}
	body := map[string]any{}
	if start := by.start(b, was, to); !start.Equal(b.StartAt.Std()) {
		body["startAt"] = web.Instant(start)
	}
	if by.longer != 0 {
		body["durationMinutes"] = int(b.DurationMinutes) + by.longer*15
	}
	if with := id(q, "column"); with != nil && *with != b.ResourceID {
		body["resourceId"] = with.String()
	}
	in := web.ByID(b.ID)
	in.Body, in.Version = body, versionOf(q)
	moved, err := web.Call[scheduling.Booking](ctx, q, "updateBooking", in)
	if web.Refused(err) {
		return pages.refuse(ctx, q, s, outcome{focus: &b.ID, refused: q.Fault(err)})
	}
	if err != nil {
		return web.Answer{}, err
	}
	p, err := pages.fill(ctx, q, s, outcome{focus: &b.ID, said: &web.Toast{Text: q.T("bookings.moved", b.CustomerName, whenOf(q, moved), moved.ResourceName), Undo: undoOf(q, s, b, moved, by)}})
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("bookings/calendar", q.T("bookings.title"), p), nil
}

// start is when the booking begins on the day it is moved to: on its own day so much time later, on another by the clock.
func (by shift) start(b scheduling.Booking, was, to day) time.Time {
	at := b.StartAt.Std()
	if to.String() != was.String() {
		at = to.sameClock(at)
	}
	return at.Add(time.Duration(by.rows) * quarter)
}

// undoOf moves a booking back.
func undoOf(q *web.Request, s state, was, now scheduling.Booking, by shift) *web.Action {
	values := s.hidden()
	values["version"], values["rows"], values["longer"] = strconv.FormatInt(now.Version, 10), strconv.Itoa(-by.rows), strconv.Itoa(-by.longer)
	values["column"], values["to"] = was.ResourceID.String(), dayOfTime(was.StartAt.Std(), q.Zone).String()
	return &web.Action{Text: q.T("bookings.undo"), Post: q.Path("/bookings/" + was.ID.String() + "/move"), Values: values, Small: true}
}

// whenOf is the time of a booking.
func whenOf(q *web.Request, b scheduling.Booking) string {
	d := dayOfTime(b.StartAt.Std(), q.Zone)
	return d.short(q) + ", " + d.clock(b.StartAt.Std()) + "–" + d.clock(b.EndAt.Std())
}

func dayOfTime(at time.Time, zone *time.Location) day {
	year, month, date := at.In(zone).Date()
	return dayOf(year, month, date, zone)
}
