package webhooks

import (
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// Why says in words what became of an event for a subscription.
func Why(q *web.Request, e webhooks.Explanation) string {
	text := whyOf(q, e)
	if e.Today != nil {
		text += " " + q.T("why.today", q.T("outcome."+*e.Today))
	}
	return text
}

func whyOf(q *web.Request, e webhooks.Explanation) string {
	switch {
	case e.Filter != nil:
		return missOf(q, e.Filter)
	case e.Outcome == "not_subscribed":
		return q.T("why.not_subscribed")
	case e.Outcome == webhook.OutcomeSkipped && e.Reason != nil:
		return q.T("why." + string(*e.Reason))
	case e.Delivery == nil && e.Reason != nil:
		return q.T("waiting." + string(*e.Reason))
	case e.Delivery == nil:
		return e.Message
	case e.Outcome == webhook.OutcomePending:
		return strings.TrimSpace(q.T("why.pending", e.Delivery.Attempt+1, e.Delivery.MaxAttempts) + " " + nextOf(q, e.Delivery.DeliveryRecord))
	}
	return q.T("why.tried", e.Delivery.Attempt, Answer(q, e.Delivery.HTTPCode, e.Delivery.ErrorMessage))
}

// missOf says which condition of the filter did not hold.
func missOf(q *web.Request, m *webhooks.FilterMiss) string {
	switch {
	case m.Missing:
		return q.T("why.filtered.missing", m.Key, string(m.Wanted))
	case string(m.Found) == "null":
		return q.T("why.filtered.other", m.Key, string(m.Wanted))
	}
	return q.T("why.filtered", m.Key, string(m.Wanted), string(m.Found))
}

// unhurried are what deliveries wait for on their way, or what no request can hurry.
var unhurried = []webhook.Waiting{webhook.WaitsForSender, webhook.WaitsForAnswer, webhook.WaitsForTurn, webhook.WaitsForResume, webhook.WaitsForKey, webhook.WaitsForRouter}

// SendNow is the button that makes the attempt that a delivery waits for; nil where the person may not, or no request can hurry it.
func SendNow(q *web.Request, d webhooks.DeliveryRecord) *web.Action {
	if !q.Allows(scope, true) || d.Status != statusPending || d.WaitingFor == nil {
		return nil
	}
	if slices.Contains(unhurried, *d.WaitingFor) {
		return nil
	}
	act := &web.Action{ID: "now-" + d.ID.String(), Text: q.T("webhooks.send_now"), Post: q.Path("/webhooks/deliveries/" + d.ID.String() + "/send-now"), Small: true}
	if d.Attempt+1 >= d.MaxAttempts {
		act.Confirm = q.T("webhooks.send_now.last")
	}
	return act
}
