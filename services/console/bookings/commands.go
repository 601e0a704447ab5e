package bookings

import (
	"context"
	"strconv"

	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// commands are the operations that the calendar offers.
var commands = map[string]string{"confirm": "confirmBooking", "cancel": "cancelBooking"}

// one reads the booking that the address names.
func (pages *Pages) one(ctx context.Context, q *web.Request) (scheduling.Booking, error) {
	id, err := q.PathID("id")
	if err != nil {
		return scheduling.Booking{}, err
	}
	return web.Call[scheduling.Booking](ctx, q, "getBooking", web.ByID(id))
}

// versionOf is the version that a form was made from; without one, the change is not tied to a version.
func versionOf(q *web.Request) int64 {
	n, err := strconv.ParseInt(q.Form.Get("version"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// command confirms or cancels a booking. The calendar shows why one is refused.
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
	if err == nil {
		return web.Go(s.href(q) + "&done=bookings." + do), nil
	}
	if !web.Refused(err) {
		return web.Answer{}, err
	}
	p, errPage := pages.fill(ctx, q, s)
	if errPage != nil {
		return web.Answer{}, errPage
	}
	p.Fault = web.Fault(err)
	return web.Show("bookings/calendar", q.T("bookings.title"), p).Refuse(), nil
}
