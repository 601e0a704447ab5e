package webhooks

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/cmd/tradegrid/web"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/services/webhooks"
)

type deliveriesPage struct {
	Header web.Header
	Filter web.Filter
	Table  web.Table
}

// deliveries lists what was sent, over all receivers or to one.
func (r *Room) deliveries(ctx context.Context, q *web.Request) (web.Answer, error) {
	subs, err := r.Webhooks.Subscriptions(ctx, q.Caller, webhooks.SubscriptionFilter{Params: list.Params{PageSize: webhooks.MaxSubscriptions}, Sort: "createdAt"})
	if err != nil {
		return web.Answer{}, err
	}
	query, err := queryOf(q)
	if err != nil {
		return web.Answer{}, err
	}
	found, err := r.Webhooks.CompanyDeliveries(ctx, q.Caller, query)
	if err != nil {
		return web.Answer{}, err
	}
	names := map[uuid.UUID]string{}
	for _, s := range subs.Items {
		names[s.ID] = nameOf(s)
	}
	p := deliveriesPage{
		Header: web.Header{Title: q.T("webhooks.deliveries"), Crumbs: []web.Link{{Text: q.T("area.webhooks"), Href: q.Path("/webhooks")}}},
		Filter: filterOf(q, subs.Items), Table: deliveryTable(q, found, names),
	}
	if p.Table.Next != "" {
		p.Table.Next = web.With(q.Path("/webhooks/deliveries"), "subscription", q.Form.Get("subscription"), "status", q.Form.Get("status"),
			"answer", q.Form.Get("answer"), "event", q.Form.Get("event"), "cursor", *found.NextCursor)
	}
	return web.Show("webhooks/deliveries", q.T("webhooks.deliveries"), p), nil
}

var (
	statuses = []string{statusPending, statusDelivering, statusSuccess, statusFailed}
	answers  = []string{"2xx", "3xx", "4xx", "5xx", "none"}
)

// queryOf reads the filters of the address.
func queryOf(q *web.Request) (webhooks.DeliveryQuery, error) {
	in := webhooks.DeliveryQuery{
		Cursor: q.Form.Get("cursor"), PageLimit: list.PageLimit{Limit: 50}, Status: web.OneOf(q.Form.Get("status"), statuses), Answer: web.OneOf(q.Form.Get("answer"), answers),
	}
	if text := q.Form.Get("subscription"); text != "" {
		id, err := uuid.Parse(text)
		if err != nil {
			return in, web.NoPage()
		}
		in.SubscriptionID = &id
	}
	if event := strings.TrimSpace(q.Form.Get("event")); event != "" {
		in.Events = []string{event}
	}
	return in, nil
}

func filterOf(q *web.Request, subs []webhooks.Subscription) web.Filter {
	receiver := web.Field{Name: "subscription", Label: q.T("webhooks.receiver"), Type: "select", Options: []web.Option{{Text: q.T("filter.any")}}}
	for _, s := range subs {
		receiver.Options = append(receiver.Options, web.Option{Value: s.ID.String(), Text: nameOf(s), Selected: q.Form.Get("subscription") == s.ID.String()})
	}
	status := web.Field{Name: "status", Label: q.T("people.status"), Type: "select", Options: []web.Option{{Text: q.T("filter.any")}}}
	for _, s := range statuses {
		status.Options = append(status.Options, web.Option{Value: s, Text: q.T("delivery." + s), Selected: q.Form.Get("status") == s})
	}
	answered := web.Field{Name: "answer", Label: q.T("webhooks.answer"), Type: "select", Options: []web.Option{{Text: q.T("filter.any")}}}
	for _, a := range answers {
		answered.Options = append(answered.Options, web.Option{Value: a, Text: q.T("answer." + a), Selected: q.Form.Get("answer") == a})
	}
	f := web.Filter{Action: q.Path("/webhooks/deliveries"), Button: q.T("filter.apply"), Fields: []web.Field{
		receiver, status, answered, {Name: "event", Label: q.T("webhooks.event"), Value: q.Form.Get("event")},
	}}
	for _, name := range []string{"subscription", "status", "answer", "event"} {
		if q.Form.Get(name) != "" {
			f.Clear = q.Path("/webhooks/deliveries")
		}
	}
	return f
}

// deliveryTable shows deliveries; with names, also to whom.
func deliveryTable(q *web.Request, found webhooks.DeliveryPage, names map[uuid.UUID]string) web.Table {
	t := web.Table{Label: q.T("webhooks.deliveries"), Empty: web.Empty{Title: q.T("webhooks.deliveries.none"), Text: q.T("webhooks.deliveries.none.text")}}
	t.Columns = []web.Column{{Text: q.T("webhooks.event")}}
	if names != nil {
		t.Columns = append(t.Columns, web.Column{Text: q.T("webhooks.receiver")})
	}
	t.Columns = append(t.Columns, web.Column{Text: q.T("people.status")}, web.Column{Text: q.T("webhooks.attempt")}, web.Column{Text: q.T("webhooks.answer")},
		web.Column{Text: q.T("webhooks.took"), Num: true}, web.Column{Text: q.T("audit.when")}, web.Column{Text: q.T("webhooks.next")})
	for _, d := range found.Items {
		cells := []web.Cell{web.LinkTo(d.Event, q.Path("/webhooks/deliveries/"+d.ID.String())).With(testOf(q, d))}
		if names != nil {
			cells = append(cells, web.LinkTo(names[d.SubscriptionID], q.Path("/webhooks/"+d.SubscriptionID.String())))
		}
		took := web.Number("")
		if d.DurationMs != nil {
			took = web.Number(q.T("unit.ms", *d.DurationMs))
		}
		t.Rows = append(t.Rows, append(cells, web.State(kinds[d.Status], q.T("delivery."+d.Status)), web.Text(q.T("webhooks.attempt.of", d.Attempt, d.MaxAttempts)),
			web.Text(answer(q, d.HTTPCode, d.ErrorMessage)), took, web.When(q.At(d.CreatedAt.Std())), web.Text(nextOf(q, d))))
	}
	if found.NextCursor != nil {
		t.Next = "more" // the page knows its address
	}
	return t
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

func factsOf(q *web.Request, s webhooks.Subscription) []web.Fact {
	yes := map[bool]string{true: q.T("word.yes"), false: q.T("word.no")}
	facts := []web.Fact{
		{Label: q.T("webhooks.events"), Cell: web.Text(strings.Join(s.Events, ", "))},
		{Label: q.T("webhooks.filter"), Cell: web.Text(q.T("webhooks.filter.none"))},
		{Label: q.T("webhooks.ordered"), Cell: web.Text(yes[s.Ordered])},
		{Label: q.T("webhooks.auto"), Cell: web.Text(yes[s.AutoRedeliver])},
		{Label: q.T("webhooks.secret"), Cell: web.Code("…"+secretHint(s), "")},
		{Label: q.T("webhooks.made"), Cell: web.When(q.At(s.CreatedAt.Std()))},
		{Label: q.T("webhooks.id"), Cell: web.Code(s.ID.String(), "")},
	}
	if s.Filter != nil {
		facts[1].Cell = web.Code(string(*s.Filter), "")
	}
	if s.MaxPerSecond != nil {
		facts = append(facts, web.Fact{Label: q.T("webhooks.rate"), Cell: web.Text(q.T("webhooks.rate.at_most", *s.MaxPerSecond))})
	}
	return facts
}

// secretHint is what the API shows of the secret.
func secretHint(s webhooks.Subscription) string {
	text, err := json.Marshal(s.StoredSecret)
	if err != nil {
		return ""
	}
	return strings.Trim(string(text), `"`)
}

type deliveryPage struct {
	Header   web.Header
	Note     web.Note
	Facts    []web.Fact
	Attempts web.Table
	Answer   string
	Payload  string
	Refresh  string // address that the page is read from again, while the delivery is open
}

func (r *Room) delivery(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := uuid.Parse(q.HTTP.PathValue("id"))
	if err != nil {
		return web.Answer{}, web.NoPage()
	}
	d, err := r.Webhooks.Delivery(ctx, q.Caller, id)
	if err != nil {
		return web.Answer{}, err
	}
	p := deliveryPage{
		Header: web.Header{
			Title: d.Event, Chip: &web.Chip{Kind: kinds[d.Status], Text: q.T("delivery." + d.Status)}, Facts: testOf(q, d.DeliveryRecord),
			Crumbs: []web.Link{{Text: q.T("area.webhooks"), Href: q.Path("/webhooks")}, {Text: q.T("webhooks.deliveries"), Href: web.With(q.Path("/webhooks/deliveries"), "subscription", d.SubscriptionID.String())}},
		},
		Note: fate(q, d.DeliveryRecord), Facts: deliveryFacts(q, d), Attempts: attempts(q, d.Attempts), Payload: web.Pretty(d.Payload),
	}
	if d.ResponseBody != nil {
		p.Answer = *d.ResponseBody
	}
	open := d.Status == statusPending || d.Status == statusDelivering
	if open {
		p.Refresh = q.Path("/webhooks/deliveries/" + id.String())
	}
	if q.Allows(scope, true) && !open {
		p.Header.Actions = []web.Action{{Text: q.T("webhooks.redeliver"), Post: q.Path("/webhooks/deliveries/" + id.String() + "/redeliver"), Kind: "primary"}}
	}
	if !d.IsTest {
		p.Header.Links = []web.Link{{Text: q.T("webhooks.way"), Href: q.Path("/events/" + d.EventID.String())}}
	}
	return web.Show("webhooks/delivery", d.Event, p), nil
}

// fate says in a sentence what became of a delivery, and what happens next.
func fate(q *web.Request, d webhooks.DeliveryRecord) web.Note {
	n := web.Note{Kind: kinds[d.Status], Title: q.T("fate."+d.Status, d.Attempt)}
	switch d.Status {
	case statusFailed:
		n.Text = answer(q, d.HTTPCode, d.ErrorMessage) + " " + q.T("fate.failed.next")
	case statusSuccess:
		n.Text = answer(q, d.HTTPCode, nil)
	default:
		n.Text = nextOf(q, d)
	}
	return n
}

func deliveryFacts(q *web.Request, d webhooks.DeliveryDetail) []web.Fact {
	facts := []web.Fact{
		{Label: q.T("webhooks.receiver"), Cell: web.Code(d.SubscriptionID.String(), q.Path("/webhooks/"+d.SubscriptionID.String()))},
		{Label: q.T("webhooks.event"), Cell: web.Code(d.EventID.String(), q.Path("/events/"+d.EventID.String()))},
		{Label: q.T("webhooks.made"), Cell: web.When(q.At(d.CreatedAt.Std()))},
		{Label: q.T("webhooks.attempt"), Cell: web.Text(q.T("webhooks.attempt.of", d.Attempt, d.MaxAttempts))},
		{Label: q.T("webhooks.id"), Cell: web.Code(d.ID.String(), "")},
	}
	if d.IsTest {
		facts[1].Cell.Href = "" // a test is no event of the log
	}
	if d.ExpiresAt != nil && d.CompletedAt == nil {
		facts = append(facts, web.Fact{Label: q.T("webhooks.expires"), Cell: web.When(q.At(d.ExpiresAt.Std()))})
	}
	if d.RedeliveryOfID != nil {
		facts = append(facts, web.Fact{Label: q.T("webhooks.again_of"), Cell: web.Code(d.RedeliveryOfID.String(), q.Path("/webhooks/deliveries/"+d.RedeliveryOfID.String()))})
	}
	return facts
}

func attempts(q *web.Request, all []webhooks.DeliveryAttempt) web.Table {
	t := web.Table{
		Label:   q.T("webhooks.attempts"),
		Columns: []web.Column{{Text: q.T("webhooks.attempt")}, {Text: q.T("audit.when")}, {Text: q.T("webhooks.answer")}, {Text: q.T("webhooks.took"), Num: true}},
		Empty:   web.Empty{Title: q.T("webhooks.attempts.none"), Text: q.T("webhooks.attempts.none.text")},
	}
	for _, a := range all {
		t.Rows = append(t.Rows, []web.Cell{
			web.Text(q.T("webhooks.attempt.no", a.Attempt)), web.When(q.At(a.StartedAt.Std())), web.Text(answer(q, a.HTTPCode, a.ErrorMessage)), web.Number(q.T("unit.ms", a.DurationMs)),
		})
	}
	return t
}

func (r *Room) redeliver(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := uuid.Parse(q.HTTP.PathValue("id"))
	if err != nil {
		return web.Answer{}, web.NoPage()
	}
	var d webhooks.DeliveryRecord
	err = q.Change(ctx, "redeliverWebhook", func(ctx context.Context, tx *db.Tx) (c web.Changed, err error) {
		d, err = r.Webhooks.Redeliver(ctx, tx, q.Caller, id)
		return web.Changed{Entity: id.String(), After: d}, err
	})
	return web.Go(q.Path("/webhooks/deliveries/" + d.ID.String() + "?done=redelivered")), err
}
