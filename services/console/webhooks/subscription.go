package webhooks

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// Parts of the page of a subscription.
const (
	tabDeliveries = "deliveries"
	tabHeld       = "held"
	tabSkipped    = "skipped"
	tabDead       = "dead"
	tabReplay     = "replay"
	tabSettings   = "settings"
	tabEdit       = "edit" // a form, not among the tabs
)

// subscription is what all parts of its page have.
type subscription struct {
	Header web.Header
	Tabs   []web.Tab
}

type overviewPage struct {
	subscription
	Test        *testAnswer
	Figures     []web.Figure
	Chart       *web.Chart
	StatusFacts []web.Fact
	Table       web.Table
	Shares      web.Table
	SharesOf    string // what they are shares of
	Live        string
}

// testAnswer is what the receiver answered to a test message.
type testAnswer struct {
	Note web.Note
	Body string
	Link web.Link
}

// latest is how many deliveries the overview of a subscription shows.
const latest = 20

func (pages *Pages) show(ctx context.Context, q *web.Request) (web.Answer, error) {
	id, err := q.PathID("id")
	if err != nil {
		return web.Answer{}, err
	}
	tab := q.Form.Get("tab")
	thing := pages.changes(q, id)
	live := web.Renews(ctx, q.Path("/live/webhooks/"+id.String()), thing) // before what is shown
	s, err := web.Call[webhooks.Subscription](ctx, q, "getWebhookSubscription", web.ByID(id))
	if err != nil {
		return web.Answer{}, err
	}
	head := headOf(q, s, tab)
	switch tab {
	case tabDeliveries, tabDead:
		return pages.deliveriesOf(ctx, q, s, head, tab)
	case tabSkipped:
		return pages.skipped(ctx, q, s, head)
	case tabHeld:
		return pages.held(ctx, q, s, head)
	case tabReplay:
		return pages.replays(ctx, q, s, head, nil, nil)
	case tabSettings:
		return pages.settings(ctx, q, s, head)
	case tabEdit:
		return pages.edit(ctx, q, s, nil)
	}
	return pages.overview(ctx, q, s, head, live)
}

// headOf is the head of the page of a subscription, with what can be done at once.
func headOf(q *web.Request, s webhooks.Subscription, tab string) subscription {
	chip, page := stateOf(q, s), q.Path("/webhooks/"+s.ID.String())
	h := web.Header{Title: nameOf(s), Chip: &chip, Facts: s.URL, Crumbs: []web.Link{{Text: q.T("area.webhooks"), Href: q.Path("/webhooks")}}}
	if q.Allows(scope, true) {
		test := web.Action{Text: q.T("webhooks.test"), Post: page + "/test"}
		resume := web.Action{Text: q.T("webhooks.resume"), Post: page + "/resume", Kind: "primary"}
		switch {
		case !s.IsActive || s.Status == disabled:
			h.Actions, h.First = []web.Action{test}, &resume
		case InTrouble(s):
			h.Actions, h.First = []web.Action{test}, &web.Action{Text: q.T("webhooks.try_now"), Post: page + "/probe", Kind: "primary"}
		default:
			test.Kind = "primary"
			h.First = &test
		}
		if s.IsActive {
			h.Menu.Actions = []web.Action{{ID: "pause", Text: q.T("webhooks.pause"), Post: page + "/pause", Confirm: q.T("webhooks.pause.confirm", nameOf(s))}}
		}
		h.Edit = &web.Link{Text: q.T("webhooks.edit"), Href: web.With(page, "tab", tabEdit)}
	}
	tabs := []string{"", tabDeliveries, tabSkipped, tabDead, tabReplay, tabSettings}
	if s.Ordered {
		tabs = slices.Insert(tabs, 2, tabHeld)
	}
	out := subscription{Header: h}
	for _, t := range tabs {
		out.Tabs = append(out.Tabs, web.Tab{Text: q.T("hooktab." + cmp.Or(t, "overview")), Href: web.With(page, "tab", t), Current: t == tab})
	}
	return out
}

func (pages *Pages) overview(ctx context.Context, q *web.Request, s webhooks.Subscription, head subscription, live string) (web.Answer, error) {
	found, err := sent(ctx, q, webhooks.DeliveryQuery{SubscriptionID: &s.ID, PageLimit: list.PageLimit{Limit: latest}})
	if err != nil {
		return web.Answer{}, err
	}
	waiting, err := sent(ctx, q, webhooks.DeliveryQuery{SubscriptionID: &s.ID, Status: statusPending, PageLimit: list.PageLimit{Limit: latest}})
	if err != nil {
		return web.Answer{}, err
	}
	activity, err := pages.Webhooks.Activity(ctx, q.Caller, []uuid.UUID{s.ID})
	if err != nil {
		return web.Answer{}, err
	}
	answered, err := pages.Webhooks.AnswerTimes(ctx, q.Caller, s.ID)
	if err != nil {
		return web.Answer{}, err
	}
	a, page := activity[s.ID], q.Path("/webhooks/"+s.ID.String())
	lead := sentence(q, s, waiting.Items, a)
	head.Header.Lead = &lead
	if a.Waiting == 0 && head.Header.First != nil && s.IsActive && s.Status != disabled {
		// Nothing to ask with but a test.
		head.Header.Actions, head.Header.First = nil, &web.Action{Text: q.T("webhooks.test"), Post: page + "/test", Kind: "primary"}
	}
	p := overviewPage{
		subscription: head, Live: live, Figures: figures(q, s, a, answered), StatusFacts: statusFacts(q, s, a, waiting.Items),
		Chart: q.Bars(q.T("webhooks.hourly"), web.Span{From: a.Hours[0].From, Step: a.Hours[1].From.Sub(a.Hours[0].From)}, hoursOf(q, a)...),
		Table: deliveryTable(q, found, nil, ""),
	}
	if q.Sees(web.Events) {
		shares, err := pages.Webhooks.Shares(ctx, q.Caller, s.ID, sharesOf)
		if err != nil {
			return web.Answer{}, err
		}
		p.Shares = sharesTable(q, shares)
		if shares.Events > 0 {
			p.SharesOf = q.T("webhooks.shares.of", shares.Events, q.At(shares.Since).Short())
		}
	}
	if p.Test, err = pages.testAnswer(ctx, q); err != nil {
		return web.Answer{}, err
	}
	if p.Table.Next != "" {
		p.Table.Next = web.With(page, "tab", tabDeliveries)
	}
	return web.Show("webhooks/subscription", nameOf(s), p), nil
}

func figures(q *web.Request, s webhooks.Subscription, a *webhooks.Activity, answered webhooks.AnswerTimes) []web.Figure {
	page := q.Path("/webhooks/" + s.ID.String())
	byStatus := func(status string) string { return web.With(page, "tab", tabDeliveries, "status", status) }
	rate, waits := success(q, a), web.Figure{Label: q.T("webhooks.waiting"), Value: waitingOf(q, a), Href: byStatus(statusPending)}
	if rate == "" {
		rate = "–"
	}
	if a.Oldest != nil {
		waits.Kind, waits.Detail = web.Warn, q.T("webhooks.oldest", q.Duration(q.Now.Sub(*a.Oldest)))
	}
	bad := web.Figure{Label: q.T("webhooks.failed.day"), Value: q.Count(int64(a.Failed)), Href: web.With(page, "tab", tabDead)}
	if a.Failed > 0 {
		bad.Kind, bad.Detail = web.Bad, q.T("webhooks.failed.again")
	}
	total, _ := a.Total()
	return []web.Figure{
		{Label: q.T("webhooks.success.day"), Value: rate, Detail: q.T("webhooks.of_deliveries", q.Count(int64(total))), Href: web.With(page, "tab", tabDeliveries)},
		answersIn(q, answered, byStatus(statusSuccess)),
		waits,
		bad,
	}
}

// answersIn says how long the receiver takes as a rule, and how long at worst.
func answersIn(q *web.Request, t webhooks.AnswerTimes, href string) web.Figure {
	const enough = 100 // deliveries, of which one is the slowest percent
	f := web.Figure{Label: q.T("webhooks.answers_in"), Value: "–", Href: href}
	if t.Of == 0 {
		return f
	}
	f.Value, f.Detail = q.T("unit.ms", t.Median.Milliseconds()), q.T("webhooks.answers_in.median", t.Of)
	if t.Of >= enough {
		f.Detail = q.T("webhooks.answers_in.slowest", q.T("unit.ms", t.Slowest.Milliseconds()))
	}
	return f
}

// statusFacts says where the deliveries of the last 24 hours stand, and what the newest open ones wait for.
func statusFacts(q *web.Request, s webhooks.Subscription, a *webhooks.Activity, waiting []webhooks.DeliveryRecord) []web.Fact {
	page := q.Path("/webhooks/" + s.ID.String())
	fact := func(status, text string) web.Fact {
		return web.Fact{Label: q.T("delivery." + status), Cell: web.LinkTo(text, web.With(page, "tab", tabDeliveries, "status", status))}
	}
	total, about := a.Total()
	open := 0
	for _, h := range a.Hours {
		open += h.Open
	}
	done := q.Count(int64(max(total-open-a.Failed, 0)))
	if about {
		done = q.T("webhooks.about_count", done)
	}
	facts := []web.Fact{fact(statusSuccess, done), fact(statusPending, waitingOf(q, a)), fact(statusFailed, q.Count(int64(a.Failed)))}
	count, order := map[string]int{}, []string{}
	for _, d := range waiting {
		why := waitingFor(q, d)
		if count[why]++; count[why] == 1 {
			order = append(order, why)
		}
	}
	for _, why := range order {
		facts = append(facts, web.Fact{Label: q.T("webhooks.waits_for"), Cell: web.Text(why).With(strconv.Itoa(count[why]))})
	}
	return facts
}

// testAnswer is the answer to the request that the address names: a test message, or the delivery that the receiver is asked with.
func (pages *Pages) testAnswer(ctx context.Context, q *web.Request) (*testAnswer, error) {
	title := q.T("webhooks.test.answer")
	id, err := q.FormID("test")
	if err == nil && id == nil {
		title = q.T("webhooks.asked.answer")
		id, err = q.FormID("asked")
	}
	if err != nil || id == nil {
		return nil, err
	}
	d, err := web.Call[webhooks.DeliveryDetail](ctx, q, "getWebhookDelivery", web.ByID(*id))
	if err != nil {
		return nil, err
	}
	t := &testAnswer{Note: web.Note{Kind: kinds[d.Status], Title: title}, Link: web.Link{Text: q.T("webhooks.test.open"), Href: q.Path("/webhooks/deliveries/" + id.String())}}
	switch {
	case onItsWay(d.DeliveryRecord):
		t.Note.Text = q.T("webhooks.test.waits")
		return t, nil
	case d.HTTPCode != nil || d.ErrorMessage != nil:
		t.Note.Text = Answer(q, d.HTTPCode, d.ErrorMessage)
		if d.DurationMs != nil {
			t.Note.Text += " " + q.T("webhooks.test.after", *d.DurationMs)
		}
		if d.Status == statusPending {
			t.Note.Text += " " + q.T("webhooks.test.again")
		}
	default:
		t.Note.Text = q.T("webhooks.test.waits")
	}
	if d.ResponseBody != nil {
		t.Body = *d.ResponseBody
	}
	return t, nil
}

// onItsWay reports whether a request is under way, or about to be.
func onItsWay(d webhooks.DeliveryRecord) bool {
	return d.WaitingFor != nil && (*d.WaitingFor == webhook.WaitsForSender || *d.WaitingFor == webhook.WaitsForAnswer)
}

type settingsPage struct {
	subscription
	Facts  []web.Fact
	Rotate *web.Form
	Delete *web.Action
	API    web.Shown
}

func (pages *Pages) settings(ctx context.Context, q *web.Request, s webhooks.Subscription, head subscription) (web.Answer, error) {
	p := settingsPage{subscription: head, Facts: factsOf(q, s), API: q.Show("getWebhookSubscription", web.ByID(s.ID), s)}
	if q.Allows(scope, true) {
		page := q.Path("/webhooks/" + s.ID.String())
		var hours []web.Option
		for _, h := range []string{"0", "1", "24", "72"} {
			hours = append(hours, web.Option{Value: h, Text: q.T("overlap." + h)})
		}
		p.Rotate = &web.Form{
			Post: page + "/rotate", Button: q.T("webhooks.rotate"), Hidden: q.Versioned(s.Version), Fields: []web.Field{web.Choice("overlapHours", q.T("webhooks.overlap"), "24", hours...)},
		}
		p.Rotate.Fields[0].Help = q.T("webhooks.overlap.help")
		waits, err := pages.Webhooks.Activity(ctx, q.Caller, []uuid.UUID{s.ID})
		if err != nil {
			return web.Answer{}, err
		}
		p.Delete = &web.Action{ID: "delete", Text: q.T("webhooks.delete"), Post: page + "/delete", Kind: "danger", Confirm: q.T("webhooks.delete.confirm", nameOf(s), waitingOf(q, waits[s.ID]))}
	}
	return web.Show("webhooks/settings", nameOf(s), p), nil
}

func factsOf(q *web.Request, s webhooks.Subscription) []web.Fact {
	yes := map[bool]string{true: q.T("word.yes"), false: q.T("word.no")}
	facts := []web.Fact{
		{Label: q.T("webhooks.url"), Cell: web.Code(s.URL, "")},
		{Label: q.T("webhooks.events"), Cell: web.Text(strings.Join(s.Events, ", "))},
		{Label: q.T("webhooks.filter"), Cell: web.Text(q.T("webhooks.filter.none"))},
		{Label: q.T("webhooks.headers"), Cell: web.Text(headerNames(s))},
		{Label: q.T("webhooks.ordered"), Cell: web.Text(yes[s.Ordered])},
		{Label: q.T("webhooks.auto"), Cell: web.Text(yes[s.AutoRedeliver])},
		{Label: q.T("webhooks.own"), Cell: web.Text(yes[s.ExcludeOwnEvents])},
		{Label: q.T("webhooks.secret"), Cell: web.Code("…"+secretHint(s), "")},
		{Label: q.T("webhooks.made"), Cell: web.When(q.At(s.CreatedAt.Std()))},
		{Label: q.T("webhooks.id"), Cell: web.Code(s.ID.String(), "")},
	}
	if s.Filter != nil {
		facts[2].Cell = web.Code(string(*s.Filter), "")
	}
	if s.MaxPerSecond != nil {
		facts = append(facts, web.Fact{Label: q.T("webhooks.rate"), Cell: web.Text(q.T("webhooks.rate.at_most", *s.MaxPerSecond))})
	}
	return facts
}

// headerNames are the names of the extra headers; their values are not shown to anybody.
func headerNames(s webhooks.Subscription) string {
	raw, err := json.Marshal(s.StoredHeaders)
	var masked map[string]string
	if err != nil || json.Unmarshal(raw, &masked) != nil || len(masked) == 0 {
		return "–"
	}
	names := make([]string, 0, len(masked))
	for name := range masked {
		names = append(names, name)
	}
	return strings.Join(sorted(names), ", ")
}

// secretHint is what the API shows of the secret.
func secretHint(s webhooks.Subscription) string {
	text, err := json.Marshal(s.StoredSecret)
	if err != nil {
		return ""
	}
	return strings.Trim(string(text), `"`)
}
