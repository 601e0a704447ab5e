package webhooks

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// nameOf is how people call a subscription.
func nameOf(s webhooks.Subscription) string {
	if s.Name != nil && *s.Name != "" {
		return *s.Name
	}
	return host(s.URL)
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

func hostIfNamed(s webhooks.Subscription) string {
	if s.Name != nil && *s.Name != "" {
		return host(s.URL)
	}
	return ""
}

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Host
}

// Health and states, as the API names them.
const (
	paused      = "paused"
	disabled    = "disabled"
	failing     = "failing"
	circuitOpen = "resting"
	slow        = "slow"
	healthy     = "healthy"

	statusPending    = "pending"
	statusDelivering = "delivering"
	statusSuccess    = "success"
	statusFailed     = "failed"
)

var kinds = map[string]string{
	paused: web.Off, disabled: web.Bad, failing: web.Bad, circuitOpen: web.Bad, slow: web.Warn, healthy: web.Good,
	statusPending: web.Warn, statusDelivering: web.Info, statusSuccess: web.Good, statusFailed: web.Bad,
}

// statusOf is the status of a subscription in one word: whether it is in service, and else how its receiver does.
func statusOf(s webhooks.Subscription) string {
	if s.Status == paused || s.Status == disabled {
		return s.Status
	}
	return s.Health.Status
}

func stateOf(q *web.Request, s webhooks.Subscription) web.Chip {
	word := statusOf(s)
	return web.Chip{Kind: kinds[word], Text: q.T("health." + word)}
}

// InTrouble reports whether somebody has to look at a subscription.
func InTrouble(s webhooks.Subscription) bool {
	word := statusOf(s)
	return word == disabled || word == failing || word == circuitOpen
}

// Name is how people call a subscription, on pages of other areas.
func Name(s webhooks.Subscription) string { return nameOf(s) }

// summary says how all receivers do.
func summary(q *web.Request, all []webhooks.Subscription) web.Note {
	var bad []string
	for _, s := range all {
		if InTrouble(s) {
			bad = append(bad, nameOf(s))
		}
	}
	switch {
	case len(all) == 0:
		return web.Note{}
	case len(bad) == 0:
		return web.Note{Kind: web.Good, Text: q.T("webhooks.all_well")}
	}
	return web.Note{Kind: web.Bad, Title: q.T("webhooks.some_fail", len(bad), len(all)), Text: strings.Join(bad, ", ")}
}

// Sentence says what is the case with a receiver and what happens next.
func Sentence(q *web.Request, s webhooks.Subscription) web.Note { return sentence(q, s, nil, nil) }

// sentence says what is the case with a receiver and what happens next. waiting is the newest of what waits for it, if anything.
func sentence(q *web.Request, s webhooks.Subscription, waiting []webhooks.DeliveryRecord, a *webhooks.Activity) web.Note {
	h, word := s.Health, statusOf(s)
	n := web.Note{Kind: kinds[word], Title: q.T("sentence." + word)}
	switch word {
	case disabled:
		if s.DisabledReason != nil {
			n.Text = *s.DisabledReason + " "
		}
		n.Text += q.T("sentence.disabled.next")
		return n
	case paused:
		n.Text = strings.TrimSpace(q.T("sentence.paused.next") + " " + backlog(q, a))
		return n
	case failing, circuitOpen:
		n.Title, n.Text = trouble(q, s)
	}
	if len(waiting) > 0 && waiting[0].WaitingFor != nil && (h.CircuitOpenUntil == nil || *waiting[0].WaitingFor != webhook.WaitsForCircuit) {
		n.Text += q.T("sentence.newest", waitingFor(q, waiting[0]))
		if at := waiting[0].NextAttemptAt; at != nil && at.Std().After(q.Now) {
			n.Text += " " + q.T("sentence.next_at", q.At(at.Std()).Short())
		}
	}
	n.Text = strings.TrimSpace(n.Text + " " + backlog(q, a))
	if n.Text == "" {
		n.Text = q.T("sentence.nothing_waits")
	}
	return n
}

// trouble says what a receiver answers, since when, and when it is asked again.
func trouble(q *web.Request, s webhooks.Subscription) (title, text string) {
	h := s.Health
	title = q.T("sentence." + statusOf(s))
	switch {
	case h.FailingSince != nil && h.LastError != nil && h.LastError.HTTPCode != nil:
		title = q.T("sentence.failing.answers", *h.LastError.HTTPCode, q.At(h.FailingSince.Std()).Short())
	case h.FailingSince != nil:
		title = q.T("sentence.failing.since", q.At(h.FailingSince.Std()).Short())
	}
	if h.LastError != nil {
		text = q.T("sentence.last_answer", q.At(h.LastError.At.Std()).Short(), Answer(q, h.LastError.HTTPCode, h.LastError.ErrorMessage)) + " "
	}
	switch {
	case h.CircuitOpenUntil != nil && h.FailingSince != nil:
		text += q.T("sentence.circuit_open_since", q.At(h.CircuitOpenUntil.Std()).Short()) + " "
	case h.CircuitOpenUntil != nil:
		text += q.T("sentence.next_request", q.At(h.CircuitOpenUntil.Std()).Short()) + " "
	}
	return title, text
}

// backlog says how much waits and until when nothing of it is lost.
func backlog(q *web.Request, a *webhooks.Activity) string {
	if a == nil || a.Waiting == 0 || a.Expires == nil {
		return ""
	}
	return q.T("sentence.backlog", waitingOf(q, a), q.At(*a.Expires).Short())
}

// waitingFor says what an open delivery waits for.
func waitingFor(q *web.Request, d webhooks.DeliveryRecord) string {
	if d.WaitingFor == nil {
		return ""
	}
	return q.T("waiting." + string(*d.WaitingFor))
}

// DeliveryState shows the status of a delivery.
func DeliveryState(q *web.Request, status string) web.Cell {
	return web.State(kinds[status], q.T("delivery."+status))
}

// Answer is what a receiver answered.
func Answer(q *web.Request, code *int, message *string) string {
	switch {
	case code != nil && message != nil && !strings.Contains(*message, strconv.Itoa(*code)):
		return q.T("answer.code_and", *code, *message)
	case code != nil:
		return q.T("answer.code", *code)
	case message != nil:
		return *message
	}
	return ""
}
