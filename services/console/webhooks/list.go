package webhooks

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

type listPage struct {
	Header web.Header
	Table  web.Table
	Live   string
}

func (pages *Pages) list(ctx context.Context, q *web.Request) (web.Answer, error) {
	thing, err := pages.watchAll(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	live := web.Renews(ctx, q.Path("/live/webhooks"), thing)
	subs, err := pages.all(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	activity, err := pages.Webhooks.Activity(ctx, q.Caller, idsOf(subs))
	if err != nil {
		return web.Answer{}, err
	}
	troubleFirst(subs, activity)
	p := listPage{
		Header: web.Header{Title: q.T("area.webhooks"), Links: []web.Link{{Text: q.T("webhooks.deliveries.all"), Href: q.Path("/webhooks/deliveries")}}},
		Live:   live,
		Table: web.Table{
			Label: q.T("area.webhooks"),
			Columns: []web.Column{
				{Text: q.T("webhooks.receiver")},
				{Text: q.T("webhooks.state")},
				{Text: q.T("webhooks.day")},
				{Text: q.T("webhooks.taken"), Num: true},
				{Text: q.T("webhooks.waiting"), Num: true},
				{Text: q.T("webhooks.answers_in"), Num: true},
				{},
			},
			Empty: web.Empty{Title: q.T("webhooks.none"), Text: q.T("webhooks.none.text")},
		},
	}
	if len(subs) > 0 {
		p.Header.Lead = leadOf(q, subs, activity)
	}
	if q.Allows(scope, true) {
		p.Header.Main = &web.Link{Text: q.T("webhooks.new"), Href: q.Path("/webhooks/new")}
		p.Table.Empty.Action = &web.Link{Text: q.T("webhooks.new"), Href: q.Path("/webhooks/new")}
	}
	for _, s := range subs {
		p.Table.Rows = append(p.Table.Rows, row(q, s, activity[s.ID]))
	}
	return web.Show("webhooks/list", q.T("area.webhooks"), p), nil
}

func idsOf(subs []webhooks.Subscription) []uuid.UUID {
	ids := make([]uuid.UUID, len(subs))
	for i, s := range subs {
		ids[i] = s.ID
	}
	return ids
}

// urgency orders receivers: those that somebody has to look at first.
var urgency = []string{disabled, circuitOpen, failing, slow, paused, healthy}

func troubleFirst(subs []webhooks.Subscription, activity map[uuid.UUID]*webhooks.Activity) {
	rank := func(s webhooks.Subscription) int {
		if i := slices.Index(urgency, statusOf(s)); i >= 0 {
			return i
		}
		return len(urgency)
	}
	slices.SortStableFunc(subs, func(a, b webhooks.Subscription) int {
		return cmp.Or(rank(a)-rank(b), activity[b.ID].Waiting-activity[a.ID].Waiting, cmp.Compare(nameOf(a), nameOf(b)))
	})
}

func row(q *web.Request, s webhooks.Subscription, a *webhooks.Activity) []web.Cell {
	chip := stateOf(q, s)
	page := q.Path("/webhooks/" + s.ID.String())
	name, took := web.LinkTo(nameOf(s), page).With(hostIfNamed(s)), web.Number("–")
	name.Sub = aboutOf(q, s)
	if s.Health.AverageMs != nil {
		took = web.Number(q.T("unit.ms", *s.Health.AverageMs))
	}
	waits := web.Number("–")
	if a.Waiting > 0 {
		waits = web.LinkTo(waitingOf(q, a), web.With(page, "tab", tabDeliveries, "status", statusPending)).With(q.T("webhooks.oldest", q.Duration(q.Now.Sub(*a.Oldest))))
		waits.Num = true
	}
	return []web.Cell{
		name, {Chip: &chip}, web.Plot(q.Spark(dayOf(q, a), hoursOf(q, a)...)), web.Number(cmp.Or(success(q, a), "–")), waits, took, doOf(q, s, a),
	}
}

// aboutOf says what is the case with a receiver, in few words.
func aboutOf(q *web.Request, s webhooks.Subscription) string {
	h, word := s.Health, statusOf(s)
	var parts []string
	switch {
	case word == paused || word == disabled:
	case h.FailingSince != nil && h.LastError != nil && h.LastError.HTTPCode != nil:
		parts = append(parts, q.T("webhooks.answers_since", *h.LastError.HTTPCode, q.At(h.FailingSince.Std()).Short()))
	case h.FailingSince != nil:
		parts = append(parts, q.T("webhooks.fails_since", q.At(h.FailingSince.Std()).Short()))
	}
	switch {
	case h.CircuitOpenUntil != nil && h.CircuitOpenUntil.Std().After(q.Now):
		parts = append(parts, q.T("webhooks.next_try", q.At(h.CircuitOpenUntil.Std()).Short()))
	case s.LastSuccessAt != nil:
		parts = append(parts, q.T("webhooks.last_taken", q.At(s.LastSuccessAt.Std()).Short()))
	}
	if len(parts) == 0 {
		return q.T("webhooks.never")
	}
	return strings.Join(parts, ", ")
}

// doOf is what brings a receiver on that takes nothing: its button.
func doOf(q *web.Request, s webhooks.Subscription, a *webhooks.Activity) web.Cell {
	page := q.Path("/webhooks/" + s.ID.String())
	switch {
	case !q.Allows(scope, true):
	case s.Status == paused || s.Status == disabled:
		return web.Do(web.Action{Text: q.T("webhooks.resume"), Post: page + "/resume", Small: true})
	case InTrouble(s) && a.Waiting > 0:
		return web.Do(web.Action{Text: q.T("webhooks.try_now"), Post: page + "/probe", Small: true})
	}
	return web.Text("")
}

// leadOf says how all receivers do, and what waits for those that do not.
func leadOf(q *web.Request, subs []webhooks.Subscription, activity map[uuid.UUID]*webhooks.Activity) *web.Note {
	n := summary(q, subs)
	var waits []string
	for _, s := range subs {
		if a := activity[s.ID]; a.Waiting > 0 && len(waits) < 3 {
			waits = append(waits, q.T("webhooks.lead.waits", waitingOf(q, a), nameOf(s)))
		}
	}
	switch {
	case len(waits) > 0:
		n.Text = strings.Join(waits, " ")
	case n.Title != "":
		n.Text += "."
	}
	return &n
}

// hoursOf are the deliveries of the last 24 hours as a chart shows them.
func hoursOf(q *web.Request, a *webhooks.Activity) []web.Series {
	good, waits, bad := web.Series{Kind: web.Good, Name: q.T("delivery.success")}, web.Series{Kind: web.Warn, Name: q.T("delivery.pending")}, web.Series{Kind: web.Bad, Name: q.T("delivery.failed")}
	for _, h := range a.Hours {
		done := h.Total - h.Failed - h.Open
		text := q.Count(int64(max(done, 0)))
		if h.About {
			text = q.T("webhooks.about_count", text)
		}
		good.Values, good.Texts = append(good.Values, float64(max(done, 0))), append(good.Texts, text)
		waits.Values, bad.Values = append(waits.Values, float64(h.Open)), append(bad.Values, float64(h.Failed))
	}
	return []web.Series{good, waits, bad}
}

// dayOf says in a sentence what a spark shows.
func dayOf(q *web.Request, a *webhooks.Activity) string {
	total, about := a.Total()
	text := q.Count(int64(total))
	if about {
		text = q.T("webhooks.about_count", text)
	}
	return q.T("webhooks.day.text", text, q.Count(int64(a.Failed)))
}

// success is the part of the deliveries of the last 24 hours that arrived, of those that are over or have failed at least once; ""
// if there are none.
func success(q *web.Request, a *webhooks.Activity) string {
	tried, _ := a.Total()
	for _, h := range a.Hours {
		tried -= h.Open
	}
	tried += a.Retrying
	if tried <= 0 {
		return ""
	}
	bad := a.Failed + a.Retrying
	part := 100 * float64(tried-bad) / float64(tried)
	if bad > 0 && part > 99.9 {
		part = 99.9 // not all
	}
	return q.Share(max(part, 0))
}

func waitingOf(q *web.Request, a *webhooks.Activity) string {
	if a.WaitingMore {
		return q.Count(int64(a.Waiting)) + "+"
	}
	return q.Count(int64(a.Waiting))
}
