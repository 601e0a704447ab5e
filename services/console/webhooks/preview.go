package webhooks

import (
	"context"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// tries reports whether the form asks what its filter lets pass, perhaps after a change of its conditions, and not to save it.
func tries(q *web.Request) bool {
	do := q.Form.Get(fieldDo)
	return do == doTry || slices.Contains([]string{doAdd, doLess, doDrop}, verbOf(do))
}

// tried shows the form again with what the last real events would have become. A button of a condition changes the filter first.
func (pages *Pages) tried(ctx context.Context, q *web.Request, d draft) (web.Answer, error) {
	sample, err := sampleOf(ctx, q)
	if err != nil {
		return web.Answer{}, err
	}
	d.typed = changeFilter(d.typed, sample)
	in := webhooks.SubscriptionFields{Events: d.events()}
	if text := strings.TrimSpace(d.typed.Get(fieldFilter)); text != "" {
		filter := jsontype.Object(text)
		in.Filter = &filter
	}
	previews, err := pages.Webhooks.Preview(ctx, q.Caller, in, triedEvents)
	if web.Refused(err) {
		d.err = err
		a, err := pages.formOf(ctx, q, d, nil)
		return a.Refuse(), err
	}
	if err != nil {
		return web.Answer{}, err
	}
	preview := previewOf(q, previews)
	preview.show(q, previews, sample, d.typed.Get(fieldFilter))
	return pages.formOf(ctx, q, d, preview)
}

func previewOf(q *web.Request, previews []webhooks.Preview) *previewPart {
	t := &previewPart{Table: web.Table{
		Label:   q.T("webhooks.preview"),
		Columns: []web.Column{{Text: q.T("webhooks.event")}, {Text: q.T("audit.when")}, {Text: q.T("webhooks.preview.outcome")}, {Text: q.T("webhooks.preview.key")}, {Text: q.T("webhooks.preview.wanted")}, {Text: q.T("webhooks.preview.found")}},
		Empty:   web.Empty{Title: q.T("webhooks.preview.none"), Text: q.T("webhooks.preview.none.text")},
	}}
	sent := 0
	for _, one := range previews {
		why := webhooks.Explanation{Outcome: one.Outcome, Message: one.Message}
		if one.Reason != "" {
			why.Reason = &one.Reason
		}
		key, wanted, found := web.Text(whyOf(q, why)), web.Text(""), web.Text("")
		state := web.State(web.Off, q.T("outcome."+one.Outcome))
		if one.Outcome == outcomeDelivered {
			sent++
			key, state = web.Text(""), web.State(web.Good, q.T("webhooks.preview.sent"))
		}
		if m := one.Filter; m != nil {
			key, wanted, found = web.Code(m.Key, ""), web.Code(string(m.Wanted), ""), web.Code(string(m.Found), "")
			if m.Missing {
				found = web.Text(q.T("webhooks.preview.missing"))
			}
		}
		t.Table.Rows = append(t.Table.Rows, []web.Cell{web.LinkTo(one.Event.Event, q.Path("/events/"+one.Event.ID.String())), web.When(q.At(one.Event.OccurredAt)), state, key, wanted, found})
	}
	t.Note = web.Note{Kind: web.Info, Text: q.T("webhooks.preview.text", sent, len(previews))}
	return t
}
