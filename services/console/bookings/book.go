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

type bookPage struct {
	Header web.Header
	Form   web.Form
}

// formFields are the fields of the form; the slot that was chosen has the others.
var formFields = []string{"customerName", "customerPhone", "customerEmail", "headcount", "note"}

// form asks who books a slot.
func (pages *Pages) form(ctx context.Context, q *web.Request) (web.Answer, error) {
	if _, ok := chosen(q); !ok {
		return web.Go(q.Path("/bookings/free")), nil
	}
	p, err := pages.bookForm(ctx, q, uuid.NewString(), nil)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show("bookings/book", q.T("bookings.new"), p), nil
}

// choice is a slot that somebody chose.
type choice struct {
	resource uuid.UUID
	start    time.Time
}

// chosen is the slot that the address or the form names.
func chosen(q *web.Request) (c choice, ok bool) {
	id, errID := uuid.Parse(q.Form.Get("resource"))
	start, errStart := time.Parse(time.RFC3339, q.Form.Get("start"))
	return choice{id, start}, errID == nil && errStart == nil
}

func (pages *Pages) bookForm(ctx context.Context, q *web.Request, key string, refused error) (p bookPage, err error) {
	at, _ := chosen(q)
	res, err := web.Call[scheduling.Resource](ctx, q, "getResource", web.ByID(at.resource))
	if err != nil {
		return p, err
	}
	d := dayOfTime(at.start, q.Zone)
	p.Header = web.Header{
		Title: q.T("bookings.book", d.long(q), d.clock(at.start)), Facts: res.Name,
		Crumbs: []web.Link{{Text: q.T("area.bookings"), Href: state{day: d}.href(q)}, {Text: q.T("bookings.free"), Href: web.With(q.Path("/bookings/free"), "day", d.String(), "resource", at.resource.String(), "service", q.Form.Get("service"))}},
	}
	fields := web.Fields{Op: q.Operation("createBooking"), Only: formFields, Err: refused, Help: map[string]string{"headcount": ""}}
	if refused != nil {
		fields.Typed = q.Form
	}
	p.Form = web.Form{
		Post: q.Path("/bookings/book"), Button: q.T("bookings.book.button"), Fields: q.FieldsOf(fields),
		Hidden: map[string]string{"resource": at.resource.String(), "service": q.Form.Get("service"), "start": web.Instant(at.start), "key": key},
	}
	if refused != nil && !web.Faulty(p.Form.Fields) {
		p.Form.Fault = web.Fault(refused)
	}
	return p, nil
}

func dayOfTime(at time.Time, zone *time.Location) day {
	year, month, date := at.In(zone).Date()
	return dayOf(year, month, date, zone)
}

// book makes a booking in a slot. The key of the form makes one booking of a form that is sent twice.
func (pages *Pages) book(ctx context.Context, q *web.Request) (web.Answer, error) {
	if _, ok := chosen(q); !ok {
		return web.Go(q.Path("/bookings/free")), nil
	}
	body := q.BodyOf(web.Fields{Op: q.Operation("createBooking"), Only: formFields}, q.Form)
	body["resourceId"], body["startAt"] = q.Form.Get("resource"), q.Form.Get("start")
	if service := q.Form.Get("service"); service != "" {
		body["serviceId"] = service
	}
	b, err := web.Call[scheduling.Booking](ctx, q, "createBooking", web.Input{Body: body, Key: q.Form.Get("key")})
	if err == nil {
		return web.Go(state{day: dayOfTime(b.StartAt.Std(), q.Zone)}.href(q) + "&done=bookings.book"), nil
	}
	if !web.Refused(err) {
		return web.Answer{}, err
	}
	p, errPage := pages.bookForm(ctx, q, uuid.NewString(), err)
	if errPage != nil {
		return web.Answer{}, errPage
	}
	return web.Show("bookings/book", q.T("bookings.new"), p).Refuse(), nil
}

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
			Crumbs: []web.Link{{Text: q.T("area.bookings"), Href: state{day: was}.href(q)}, {Text: q.T("bookings.number", b.Number), Href: q.Path("/bookings/" + b.ID.String())}},
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
		return web.Go(state{day: dayOfTime(moved.StartAt.Std(), q.Zone)}.href(q) + "&done=bookings.move"), nil
	}
	if !web.Refused(err) {
		return web.Answer{}, err
	}
	s := stateOf(q)
	p, errPage := pages.moveForm(ctx, q, b, s)
	if errPage != nil {
		return web.Answer{}, errPage
	}
	p.Fault, p.Version = web.Fault(err), b.Version
	return web.Show("bookings/free", q.T("bookings.move"), p).Refuse(), nil
}
