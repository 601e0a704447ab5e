package bookings

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/business/servicecatalog"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// panel stands beside the calendar: a booking with what can be done with it, or the form for a new one.
type panel struct {
	Close   string
	Chip    *web.Chip
	Title   string
	When    string
	Client  web.Link
	Phone   string
	Call    string // what a telephone dials
	Email   string
	Note    string
	Actions []web.Action
	Move    string // address of its other free times
	Cancel  *web.Action
	Facts   []web.Fact
	Links   []web.Link
	Form    *web.Form // of a new booking
	Focus   bool      // the panel was opened by this request
}

// formFields are the fields of a new booking; the time that was chosen has the others.
var formFields = []string{"serviceId", "customerName", "customerPhone", "durationMinutes", "headcount", "customerEmail", "note"}

// panel is what the address opens; nil if it opens nothing.
func (pages *Pages) panel(ctx context.Context, q *web.Request, s state, refused error) (*panel, error) {
	switch {
	case s.at != nil && q.Allows(scope, true):
		return pages.newBooking(ctx, q, s, refused)
	case s.open == nil:
		return nil, nil //nolint:nilnil // there is none
	}
	b, err := web.Call[scheduling.Booking](ctx, q, "getBooking", web.ByID(*s.open))
	if web.Refused(err) {
		return nil, nil //nolint:nilnil // an address that is old
	}
	if err != nil {
		return nil, err
	}
	return bookingPanel(q, s, b), nil
}

func bookingPanel(q *web.Request, s state, b scheduling.Booking) *panel {
	p := &panel{
		Close: s.alone().href(q), Chip: &web.Chip{Kind: kinds[b.Status], Text: q.T("bookings.status." + b.Status)}, Title: q.T("bookings.number", b.Number), When: whenOf(q, b) + " · " + b.ResourceName,
		Client: web.Link{Text: b.CustomerName}, Phone: b.CustomerPhone, Call: web.Dial(b.CustomerPhone), Focus: q.HTTP.Header.Get("X-Renews") == "",
		Links: []web.Link{{Text: q.T("bookings.details"), Href: q.Path("/bookings/" + b.ID.String())}},
	}
	if name := serviceOf(b); name != "" {
		p.Title = name
	}
	if b.ClientID != nil && q.MayCall("getClient") {
		p.Client.Href = q.Path("/clients/" + b.ClientID.String())
	}
	if b.CustomerEmail != nil {
		p.Email = *b.CustomerEmail
	}
	if b.Note != nil {
		p.Note = *b.Note
	}
	if q.MayCall("createOrder") && b.Status != "cancelled" {
		order := []string{"client", idText(b.ClientID), "customerName", b.CustomerName, "customerPhone", b.CustomerPhone}
		if b.ServiceID != nil {
			order = append(order, "kind.0", "service", "ref.0", b.ServiceID.String(), "name.0", serviceOf(b), "qty.0", "1")
		}
		p.Links = append(p.Links, web.Link{Text: q.T("bookings.sell"), Href: web.With(q.Path("/orders/new"), order...)})
	}
	p.facts(q, b)
	if q.Allows(scope, true) {
		p.commands(q, s, b)
	}
	return p
}

func idText(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

func (p *panel) facts(q *web.Request, b scheduling.Booking) {
	add := func(label string, c web.Cell) { p.Facts = append(p.Facts, web.Fact{Label: label, Cell: c}) }
	if b.Price != nil {
		add(q.Label("price"), web.Text(q.Money(int64(*b.Price))))
	}
	if b.Headcount != nil {
		add(q.Label("headcount"), web.Text(strconv.Itoa(int(*b.Headcount))))
	}
	if b.BufferBeforeMinutes > 0 {
		add(q.T("bookings.free_before"), web.Text(q.T("bookings.minutes", b.BufferBeforeMinutes)))
	}
	if b.BufferAfterMinutes > 0 {
		add(q.T("bookings.free_after"), web.Text(q.T("bookings.minutes", b.BufferAfterMinutes)))
	}
	add(q.T("bookings.made"), web.When(q.At(b.CreatedAt.Std())))
	if b.ConfirmedAt != nil {
		add(q.Label("confirmedAt"), web.When(q.At(b.ConfirmedAt.Std())))
	}
	if b.CancelReason != nil {
		add(q.Label("cancelReason"), web.Text(*b.CancelReason))
	}
}

// commands are what the status of the booking allows.
func (p *panel) commands(q *web.Request, s state, b scheduling.Booking) {
	post := q.Path("/bookings/" + b.ID.String() + "/status")
	began, d := !b.StartAt.Std().After(q.Now), dayOfTime(b.StartAt.Std(), q.Zone)
	action := func(do, kind, confirm string) web.Action {
		values := s.hidden()
		values["do"], values["version"] = do, strconv.FormatInt(b.Version, 10)
		return web.Action{ID: do + "-booking", Text: q.T("bookings.do." + do), Post: post, Values: values, Kind: kind, Confirm: confirm}
	}
	switch {
	case b.Status == "pending":
		p.Actions = append(p.Actions, action("confirm", "primary", ""))
	case b.Status == "confirmed" && began:
		p.Actions = append(p.Actions, action("complete", "primary", ""), action("no_show", "", ""))
	case b.Status == "confirmed":
		p.Actions = append(p.Actions, action("complete", "", ""))
	case b.Status == "completed":
		p.Actions = append(p.Actions, action("no_show", "", ""))
	case b.Status == "no_show":
		p.Actions = append(p.Actions, action("complete", "", ""))
	}
	if isOpen(b) {
		p.Move = web.With(q.Path("/bookings/"+b.ID.String()+"/reschedule"), "day", d.String())
		cancel := action("cancel", "danger", q.T("bookings.cancel.confirm", b.CustomerName, d.clock(b.StartAt.Std()), b.ResourceName))
		p.Cancel = &cancel
	}
}

// newBooking is the form for a time that was chosen.
func (pages *Pages) newBooking(ctx context.Context, q *web.Request, s state, refused error) (*panel, error) {
	res, err := web.Call[scheduling.Resource](ctx, q, "getResource", web.ByID(s.at.resource))
	if web.Refused(err) {
		return nil, nil //nolint:nilnil // an address that is old
	}
	if err != nil {
		return nil, err
	}
	services, err := pages.servicesOf(ctx, q, res, s.at.service)
	if err != nil {
		return nil, err
	}
	d := dayOfTime(s.at.start, q.Zone)
	fields := web.Fields{Op: q.Operation("createBooking"), Only: formFields, Err: refused, Pick: map[string][]web.Option{"serviceId": services}, Help: map[string]string{
		"serviceId": "", "headcount": "", "customerName": "", "customerPhone": "", "customerEmail": "", "durationMinutes": q.T("bookings.duration.help"),
	}}
	if refused != nil {
		fields.Typed = q.Form
	}
	form := web.Form{Post: q.Path("/bookings/book"), Button: q.T("bookings.book.button"), Fields: q.FieldsOf(fields), Hidden: s.hidden()}
	form.Hidden["key"] = uuid.NewString()
	if refused != nil && !web.Faulty(form.Fields) {
		form.Fault = q.Fault(refused)
	}
	if i := slices.IndexFunc(form.Fields, func(f web.Field) bool { return f.Name == "customerName" }); i >= 0 && refused == nil {
		form.Fields[i].Focus = true
	}
	return &panel{Close: s.alone().href(q), Title: q.T("bookings.new"), When: d.short(q) + ", " + d.clock(s.at.start) + " · " + res.Name, Form: &form}, nil
}

// servicesOf are the services that can be chosen of a resource.
func (pages *Pages) servicesOf(ctx context.Context, q *web.Request, res scheduling.Resource, service string) (all []web.Option, err error) {
	if !q.MayCall("listServices") {
		return nil, nil
	}
	found, err := web.List[servicecatalog.OfferingListItem](ctx, q, "listServices", servicecatalog.Filter{Params: list.Params{PageSize: maxServices}, Sort: "name"})
	if err != nil {
		return nil, err
	}
	for _, o := range found.Items {
		if len(res.ServiceIDs) == 0 && !res.OnlyListedServices || slices.Contains(res.ServiceIDs, o.ID) {
			all = append(all, web.Option{Value: o.ID.String(), Text: o.Name, Selected: o.ID.String() == service})
		}
	}
	return all, nil
}

// book makes a booking of the time that was chosen. The key of the form makes one booking of a form that is sent twice.
func (pages *Pages) book(ctx context.Context, q *web.Request) (web.Answer, error) {
	s := stateOf(q)
	if s.at == nil {
		return web.Go(q.Path("/bookings/free")), nil
	}
	body := q.BodyOf(web.Fields{Op: q.Operation("createBooking"), Only: formFields}, q.Form)
	body["resourceId"], body["startAt"] = s.at.resource.String(), web.Instant(s.at.start)
	b, err := web.Call[scheduling.Booking](ctx, q, "createBooking", web.Input{Body: body, Key: q.Form.Get("key")})
	if web.Refused(err) {
		return pages.refuse(ctx, q, s, outcome{err: err})
	}
	if err != nil {
		return web.Answer{}, err
	}
	return web.Go(s.on(dayOfTime(b.StartAt.Std(), q.Zone)).opened(b.ID).href(q) + "&done=bookings.book"), nil
}
