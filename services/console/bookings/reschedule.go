package bookings

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// slots are the free slots to which a booking can be moved.
func (pages *Pages) slots(ctx context.Context, q *web.Request) (web.Answer, error) {
	b, err := pages.one(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	p, err := pages.moveForm(ctx, q, b, stateOf(q))
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("bookings/free", q.T("bookings.move"), p), nil
}

func (pages *Pages) moveForm(ctx context.Context, q *web.Request, b scheduling.Booking, s state) (p freePage, err error) {
	if q.Form.Get("day") == "" {
		s.day = dayOfTime(b.StartAt.Std(), q.Zone)
	}
	if s.resource == nil {
		s.resource = &b.ResourceID
	}
	was := dayOfTime(b.StartAt.Std(), q.Zone)
	path := q.Path("/bookings/" + b.ID.String() + "/reschedule")
	p = freePage{
		Header: web.Header{
			Title: q.T("bookings.move.title", b.CustomerName), Facts: q.T("bookings.move.now", was.long(q), was.clock(b.StartAt.Std()), b.ResourceName),
			Crumbs: []web.Link{{Text: q.T("area.bookings"), Href: state{view: viewDay, day: was}.href(q)}, {Text: q.T("bookings.number", b.Number), Href: q.Path("/bookings/" + b.ID.String())}},
		},
		Post: path, Version: b.Version,
	}
	_, resources, err := pages.choices(ctx, q, s)
	if err != nil {
		return p, err
	}
	p.Filter = web.Filter{Action: path, Button: q.T("bookings.search"), Fields: []web.Field{
		{Name: "resource", Label: q.T("bookings.resource"), Type: "select", Options: resources[1:]}, {Name: "day", Label: q.T("bookings.from_day"), Type: "date", Value: s.day.String()},
	}}
	p.Nav = pages.further(q, s, path, "resource", s.resource.String())
	in := scheduling.Search{
		DateFrom: jsontype.Date(s.day.utc()), DateTo: jsontype.Date(s.day.add(searchDays - 1).utc()), FreeOnly: true, ServiceID: b.ServiceID, ResourceIDs: []uuid.UUID{*s.resource},
		DurationMinutes: &b.DurationMinutes, Headcount: b.Headcount,
	}
	return p, pages.search(ctx, q, &p, in, func(uuid.UUID, time.Time) slot { return slot{} })
}

// reschedule moves a booking to a slot.
func (pages *Pages) reschedule(ctx context.Context, q *web.Request) (web.Answer, error) {
	b, err := pages.one(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	resource, start, _ := strings.Cut(q.Form.Get("slot"), " ")
	body := map[string]any{"startAt": start}
	if resource != b.ResourceID.String() {
		body["resourceId"] = resource
	}
	in := web.ByID(b.ID)
	in.Body, in.Version = body, versionOf(q)
	moved, err := web.Call[scheduling.Booking](ctx, q, "updateBooking", in)
	if err == nil {
		return web.Go(state{day: dayOfTime(moved.StartAt.Std(), q.Zone)}.opened(moved.ID).href(q) + "&done=bookings.move"), nil
	}
	if !web.Refused(err) {
		return web.Answer{}, err
	}
	s := stateOf(q)
	p, errPage := pages.moveForm(ctx, q, b, s)
	if errPage != nil {
		return web.Answer{}, errPage
	}
	p.Fault, p.Version = q.Fault(err), b.Version
	return web.Show("bookings/free", q.T("bookings.move"), p).Refuse(), nil
}
