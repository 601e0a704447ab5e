package webhooks

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

type deliveriesPage struct {
	subscription        // zero but for the header on the page of all receivers
	Text         string // about the part of the page
	Filter       web.Filter
	Form         string // id of the form that sends those again that are selected; "" = the person may not
	Post         string
	Links        []web.Link
	Table        web.Table
}

// chosen is the id of the form whose boxes select deliveries.
const chosen = "chosen"

// deliveries lists what was sent, over all receivers or to one.
func (pages *Pages) deliveries(ctx context.Context, q *web.Request) (web.Answer, error) {
	subs, err := pages.all(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	only, err := q.FormID("subscription")
	if err != nil {
		return web.Answer{}, err
	}
	names := map[uuid.UUID]string{}
	receiver := web.Choice("subscription", q.T("webhooks.receiver"), q.Form.Get("subscription"), web.Option{Text: q.T("filter.any")})
	for _, s := range subs {
		names[s.ID] = nameOf(s)
		receiver.Options = append(receiver.Options, web.Option{Value: s.ID.String(), Text: nameOf(s), Selected: q.Form.Get("subscription") == s.ID.String()})
	}
	p := deliveriesPage{subscription: subscription{
		Header: web.Header{Title: q.T("webhooks.deliveries"), Crumbs: []web.Link{{Text: q.T("area.webhooks"), Href: q.Path("/webhooks")}}},
	}}
	page := q.Path("/webhooks/deliveries")
	if err := pages.list50(ctx, q, &p, QueryOf(q, only), page, names, &receiver); err != nil {
		return web.Answer{}, err
	}
	return web.Show("webhooks/deliveries", q.T("webhooks.deliveries"), p), nil
}

// deliveriesOf are those of one subscription: all, or those that were given up.
func (pages *Pages) deliveriesOf(ctx context.Context, q *web.Request, s webhooks.Subscription, head subscription, tab string) (web.Answer, error) {
	p := deliveriesPage{subscription: head}
	query, page := QueryOf(q, &s.ID), q.Path("/webhooks/"+s.ID.String())
	if tab == tabDead {
		query.Status, p.Text = statusFailed, q.T("webhooks.dead.text")
	}
	if q.Allows(scope, true) {
		period := q.PeriodFields(q.Period("from", "to"))
		again := []string{"tab", tabReplay, "status", statusFailed, "events", q.Form.Get("event"), "from", period[0].Value, "to", period[1].Value}
		p.Links = []web.Link{
			{Text: q.T("webhooks.again.all"), Href: web.With(page, again...)},
			{Text: q.T("webhooks.again.missed"), Href: web.With(page, "tab", tabReplay, "status", "missed")},
		}
	}
	if err := pages.list50(ctx, q, &p, query, page, nil, nil); err != nil {
		return web.Answer{}, err
	}
	return web.Show("webhooks/deliveries", nameOf(s), p), nil
}

var (
	statuses = []string{statusPending, statusDelivering, statusSuccess, statusFailed}
	answers  = []string{"2xx", "3xx", "4xx", "5xx", "none"}
)

// QueryOf reads the filters of the address.
func QueryOf(q *web.Request, subscription *uuid.UUID) webhooks.DeliveryQuery {
	in := webhooks.DeliveryQuery{
		Cursor: q.Form.Get("cursor"), PageLimit: list.PageLimit{Limit: 50}, SubscriptionID: subscription,
		Status: web.OneOf(q.Form.Get("status"), statuses), Answer: web.OneOf(q.Form.Get("answer"), answers),
	}
	if event := strings.TrimSpace(q.Form.Get("event")); event != "" {
		in.Events = []string{event}
	}
	period := q.Period("from", "to")
	if !period.From.IsZero() {
		from := list.From(period.From)
		in.DateFrom = &from
	}
	if !period.To.IsZero() {
		to := list.To(period.To)
		in.DateTo = &to
	}
	return in
}

// sent reads deliveries of the company.
func sent(ctx context.Context, q *web.Request, query webhooks.DeliveryQuery) (webhooks.DeliveryPage, error) {
	return web.Call[webhooks.DeliveryPage](ctx, q, "listDeliveries", web.Input{Query: web.Query(query)})
}

// filters are the names of what narrows the list, as they stand in the address.
var filters = []string{"subscription", "status", "answer", "event", "from", "to"}

// list50 fills a page with 50 deliveries: of all receivers with their names and a field to choose one, or of one.
func (pages *Pages) list50(ctx context.Context, q *web.Request, p *deliveriesPage, query webhooks.DeliveryQuery, page string, names map[uuid.UUID]string, receiver *web.Field) error {
	found, err := sent(ctx, q, query)
	p.Filter = FilterOf(q, query, page, err)
	if err != nil && !web.Faulty(p.Filter.Fields) {
		return err
	}
	if receiver != nil {
		p.Filter.Fields = slices.Insert(p.Filter.Fields, 0, *receiver)
	}
	form := ""
	if q.Allows(scope, true) && len(found.Items) > 0 {
		form = chosen
		p.Form, p.Post = chosen, q.Path("/webhooks/deliveries/redeliver")
	}
	p.Table = deliveryTable(q, found, names, form)
	if found.NextCursor != nil {
		p.Table.Next = web.With(page, append(q.Pairs(slices.Concat(filters, []string{"tab"})...), "cursor", *found.NextCursor)...)
	}
	return nil
}

// FilterOf is the form of the filters, with what is wrong with them. also are the names of further filters of the page.
func FilterOf(q *web.Request, query webhooks.DeliveryQuery, page string, err error, also ...string) web.Filter {
	tab := q.Form.Get("tab")
	status := q.Any("status", q.T("people.status"), query.Status, statuses, func(s string) string { return q.T("delivery." + s) })
	answered := q.Any("answer", q.T("webhooks.answer"), query.Answer, answers, func(a string) string { return q.T("answer." + a) })
	event := web.Field{Name: "event", Label: q.T("webhooks.event"), Value: q.Form.Get("event"), Fault: q.FaultOf(err, "events[0]")}
	period := q.Period("from", "to")
	bounds := q.PeriodFields(period)
	bounds[0].Fault = cmp.Or(bounds[0].Fault, q.FaultOf(err, "dateFrom"))
	f := web.Filter{Action: page, Button: q.T("filter.apply"), Fields: append([]web.Field{status, answered, event}, bounds...)}
	f.Ranges = q.PeriodRanges(period, func(from, to string) string {
		return web.With(page, append(q.Pairs(slices.Concat(filters, also, []string{"tab"})...), "from", from, "to", to)...)
	})
	if tab != "" {
		f.Hidden = map[string]string{"tab": tab}
	}
	if tab == tabDead {
		f.Fields = f.Fields[1:] // all of them failed
	}
	if q.Pairs(filters...) != nil {
		f.Clear = web.With(page, "tab", tab)
	}
	return f
}

// deliveryTable shows deliveries; with names, also to whom; with a form, with a box for each that is over.
func deliveryTable(q *web.Request, found webhooks.DeliveryPage, names map[uuid.UUID]string, form string) web.Table {
	t := web.Table{Label: q.T("webhooks.deliveries"), Empty: web.Empty{Title: q.T("webhooks.deliveries.none"), Text: q.T("webhooks.deliveries.none.text")}}
	if form != "" {
		t.Columns = append(t.Columns, web.Column{})
	}
	t.Columns = append(t.Columns, web.Column{Text: q.T("webhooks.event")})
	if names != nil {
		t.Columns = append(t.Columns, web.Column{Text: q.T("webhooks.receiver")})
	}
	t.Columns = append(t.Columns, web.Column{Text: q.T("people.status")}, web.Column{Text: q.T("webhooks.attempt")}, web.Column{Text: q.T("webhooks.answer")},
		web.Column{Text: q.T("webhooks.took"), Num: true}, web.Column{Text: q.T("audit.when")}, web.Column{Text: q.T("webhooks.next")})
	now := slices.ContainsFunc(found.Items, func(d webhooks.DeliveryRecord) bool { return SendNow(q, d) != nil })
	if now {
		t.Columns = append(t.Columns, web.Column{})
	}
	for _, d := range found.Items {
		cells := deliveryRow(q, d, names, form)
		if act := SendNow(q, d); act != nil {
			cells = append(cells, web.Do(*act))
		} else if now {
			cells = append(cells, web.Text(""))
		}
		t.Rows = append(t.Rows, cells)
	}
	if found.NextCursor != nil {
		t.Next = "more" // the page knows its address
	}
	return t
}

func deliveryRow(q *web.Request, d webhooks.DeliveryRecord, names map[uuid.UUID]string, form string) (cells []web.Cell) {
	if form != "" && over(d) {
		cells = append(cells, web.Select(form, "id", d.ID.String(), q.T("webhooks.select", d.Event)))
	} else if form != "" {
		cells = append(cells, web.Text(""))
	}
	cells = append(cells, web.LinkTo(d.Event, q.Path("/webhooks/deliveries/"+d.ID.String())).With(testOf(q, d)))
	if names != nil {
		cells = append(cells, web.LinkTo(names[d.SubscriptionID], q.Path("/webhooks/"+d.SubscriptionID.String())))
	}
	took := web.Number("")
	if d.DurationMs != nil {
		took = web.Number(q.T("unit.ms", *d.DurationMs))
	}
	return append(cells, DeliveryState(q, d.Status), web.Text(q.T("webhooks.attempt.of", d.Attempt, d.MaxAttempts)),
		web.Text(Answer(q, d.HTTPCode, d.ErrorMessage)).With(excerpt(d)), took, web.When(q.At(d.CreatedAt.Std())), web.Text(nextOf(q, d)))
}

// over reports whether no attempt of a delivery follows.
func over(d webhooks.DeliveryRecord) bool {
	return d.Status == statusSuccess || d.Status == statusFailed
}

// excerpt is the beginning of what a receiver answered to what failed.
func excerpt(d webhooks.DeliveryRecord) string {
	const shown = 60
	if d.ResponseBody == nil || d.Status == statusSuccess {
		return ""
	}
	text := []rune(strings.Join(strings.Fields(*d.ResponseBody), " "))
	if len(text) > shown {
		return string(text[:shown]) + "…"
	}
	return string(text)
}

func testOf(q *web.Request, d webhooks.DeliveryRecord) string {
	switch {
	case d.IsTest:
		return q.T("webhooks.is_test")
	case d.RedeliveryOfID != nil:
		return q.T("webhooks.is_again")
	}
	return ""
}

// nextOf says what happens next to an open delivery.
func nextOf(q *web.Request, d webhooks.DeliveryRecord) string {
	text := waitingFor(q, d)
	if d.NextAttemptAt != nil && d.NextAttemptAt.Std().After(q.Now) {
		text = q.T("webhooks.next.at", q.At(d.NextAttemptAt.Std()).Short(), text)
	}
	return text
}

type heldPage struct {
	subscription
	Table web.Table
}

// held lists the records whose later deliveries wait for an earlier one.
func (pages *Pages) held(ctx context.Context, q *web.Request, s webhooks.Subscription, head subscription) (web.Answer, error) {
	found, err := web.Call[*list.Page[webhooks.HeldRecord]](ctx, q, "listHeldRecords", web.ByID(s.ID))
	if err != nil {
		return web.Answer{}, err
	}
	p := heldPage{subscription: head, Table: web.Table{
		Label:   q.T("hooktab.held"),
		Columns: []web.Column{{Text: q.T("webhooks.held.record")}, {Text: q.T("webhooks.held.waiting"), Num: true}, {Text: q.T("webhooks.held.for")}, {Text: q.T("webhooks.held.since")}, {Text: q.T("webhooks.next")}, {}},
		Empty:   web.Empty{Title: q.T("webhooks.held.none"), Text: q.T("webhooks.held.none.text")},
	}}
	for _, h := range found.Items {
		skip := web.Text("")
		if q.Allows(scope, true) {
			skip = web.Do(skipOf(q, h.Delivery, h.Waiting))
		}
		p.Table.Rows = append(p.Table.Rows, []web.Cell{
			web.Code(h.EntityID.String(), web.With(q.Path("/events"), "entity", h.EntityID.String())), web.Number(q.Count(int64(h.Waiting))),
			web.LinkTo(h.Delivery.Event, q.Path("/webhooks/deliveries/"+h.Delivery.ID.String())), web.When(q.At(h.Delivery.CreatedAt.Std())), web.Text(nextOf(q, h.Delivery)), skip,
		})
	}
	return web.Show("webhooks/held", nameOf(s), p), nil
}

// skipOf gives up a delivery so that the later ones of its record are sent.
func skipOf(q *web.Request, d webhooks.DeliveryRecord, waiting int) web.Action {
	return web.Action{
		ID: "skip-" + d.ID.String(), Text: q.T("webhooks.skip"), Post: q.Path("/webhooks/deliveries/" + d.ID.String() + "/skip"), Kind: "danger", Small: true,
		Confirm: q.T("webhooks.skip.confirm", d.Event, waiting),
	}
}
