package webhook

import (
	"fmt"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Reason is why a delivery waits, has failed, or was never made, by its name in the API; see docs/reference/events.md#explain.
type Reason string

// Waiting is the reason of an open delivery. The sender stores it with each result that leaves a delivery open; NULL there is
// [WaitsForSender].
type Waiting Reason

// What deliveries wait for.
const (
	WaitsForSender    Waiting = "sender"
	WaitsForAnswer    Waiting = "answer"
	WaitsForRetry     Waiting = "retry"
	WaitsAsAsked      Waiting = "retry_after"
	WaitsForCircuit   Waiting = "circuit_open"
	WaitsForReturn    Waiting = "receiver_down"
	WaitsForQueue     Waiting = "queue_full"
	WaitsForRate      Waiting = "rate"
	WaitsForTurn      Waiting = "record"
	WaitsForHost      Waiting = "host_limit"
	WaitsForHostShare Waiting = "host_share"
	WaitsForCompany   Waiting = "company_limit"
	WaitsForCapacity  Waiting = "sender_limit"
	WaitsForResume    Waiting = "paused"
	WaitsForKey       Waiting = "secret_unavailable"
	WaitsForSweeper   Waiting = "sweeper"
	WaitsForRouter    Waiting = "router"
)

// Why deliveries fail.
const (
	FailedAttempts Reason = "attempts_used"
	FailedExpired  Reason = "expired"
	FailedSkipped  Reason = "skipped"
	FailedClosed   Reason = "closed"
)

// Why a subscription to an event has no delivery of it.
const (
	SkippedComponent Reason = "component_off"
	SkippedScope     Reason = "scope_missing"
	SkippedOwnChange Reason = "own_change"
	SkippedDisabled  Reason = "disabled"
	SkippedYounger   Reason = "younger"
	SkippedForgotten Reason = "forgotten"
)

// What a reason explains.
const (
	OutcomePending = "pending"
	OutcomeFailed  = "failed"
	OutcomeSkipped = "skipped"
)

// reasonRow is what there is to know of a reason.
type reasonRow struct {
	reason     Reason
	outcome    string
	sentence   string // for clients, with verbs for what an explanation knows of the event
	holdsQueue bool   // it holds all deliveries of the subscription, and is over for all of them at once
}

// reasons is the one table of all reasons. The enums of the API follow from it; a test compares docs and texts of the console. Which
// decisions of the sender lead to a reason is a table of package sender.
var reasons = [...]reasonRow{ //nolint:gochecknoglobals // a constant
	{Reason(WaitsForSender), OutcomePending, "The delivery is on its way; nothing keeps it.", false},
	{Reason(WaitsForAnswer), OutcomePending, "A request to the receiver is under way.", false},
	{Reason(WaitsForRetry), OutcomePending, "The delivery waits for its next attempt.", false},
	{Reason(WaitsAsAsked), OutcomePending, "The receiver asked to wait (Retry-After).", false},
	{Reason(WaitsForCircuit), OutcomePending, "The receiver failed so often in a row that its circuit is open: nothing is sent to it until the circuit breaker lets an attempt through.", true},
	{Reason(WaitsForReturn), OutcomePending, "The receiver is down: the last attempt is kept until it is back, or nearly until the delivery expires.", false},
	{Reason(WaitsForQueue), OutcomePending, "The receiver takes less than it is sent: its queue was full.", false},
	{Reason(WaitsForRate), OutcomePending, "The subscription is sent at most maxPerSecond requests a second, and has more deliveries than that.", false},
	{Reason(WaitsForTurn), OutcomePending, "An earlier delivery of the same record is open. To an ordered subscription nothing overtakes it: see GET /webhooks/subscriptions/{id}/held.", false},
	{Reason(WaitsForHost), OutcomePending, "All requests that may be under way to the receiver's host were taken.", false},
	{Reason(WaitsForHostShare), OutcomePending, "All requests that the company may have under way to the receiver's host were taken, by other subscriptions or by slow answers.", false},
	{Reason(WaitsForCompany), OutcomePending, "All requests that the company may have under way were taken: its receivers answer slowly.", false},
	{Reason(WaitsForCapacity), OutcomePending, "The platform was sending as much as it can; operators see this as tradegrid_lane_parked.", false},
	{Reason(WaitsForResume), OutcomePending, "The subscription is paused or disabled; the delivery goes out when it is resumed, unless it has expired by then.", true},
	{Reason(WaitsForKey), OutcomePending, "The platform cannot decrypt the secret of the subscription at the moment; its operators have to provide the key.", false},
	{Reason(WaitsForSweeper), OutcomePending, "Nothing keeps the delivery any more; it goes out again within seconds.", false},
	{Reason(WaitsForRouter), OutcomePending, "The event is in the log and on its way to the subscription. An event that gets lost on this way is published again by itself within minutes.", false},
	{FailedAttempts, OutcomeFailed, "All %d attempts failed", false},
	{FailedExpired, OutcomeFailed, "The delivery was over before it arrived, after %d attempts", false},
	{FailedSkipped, OutcomeFailed, "The delivery was skipped, so that later ones of its record could follow", false},
	{FailedClosed, OutcomeFailed, "The delivery was given up", false},
	{SkippedComponent, OutcomeSkipped, "The company does not have the component %s, to which the event belongs.", false},
	{SkippedScope, OutcomeSkipped, "The token that made the subscription had no scope %s:read, which the event needs. Make the subscription with a token that has it.", false},
	{SkippedOwnChange, OutcomeSkipped, "The change was made by the token that made the subscription, and excludeOwnEvents leaves such events out.", false},
	{SkippedDisabled, OutcomeSkipped, "The subscription was disabled because its receiver failed for days or is gone; it collects no events until it is enabled.", false},
	{SkippedYounger, OutcomeSkipped, "The subscription was made after the event, at %s.", false},
	{SkippedForgotten, OutcomeSkipped, "The subscription gets the event, but ended deliveries are kept for %d days only.", false},
}

// row is that of the reason, or an empty one for a reason that a later release stored.
func (r Reason) row() reasonRow {
	if i := slices.IndexFunc(reasons[:], func(row reasonRow) bool { return row.reason == r }); i >= 0 {
		return reasons[i]
	}
	return reasonRow{}
}

// Outcome is what the reason explains.
func (r Reason) Outcome() string { return r.row().outcome }

// Sentence tells clients of the reason. It takes what the sentence has verbs for.
func (r Reason) Sentence(of ...any) string { return fmt.Sprintf(r.row().sentence, of...) }

// Sentence tells clients what the delivery waits for.
func (w Waiting) Sentence() string { return Reason(w).Sentence() }

// HoldsQueue reports whether all deliveries of the subscription wait, so that none does once others go out again.
func (w Waiting) HoldsQueue() bool { return Reason(w).row().holdsQueue }

// Reasons are the reasons with one of the outcomes.
func Reasons(outcomes ...string) (all []Reason) {
	for _, row := range reasons {
		if slices.Contains(outcomes, row.outcome) {
			all = append(all, row.reason)
		}
	}
	return all
}

// TransformSchema implements [huma.SchemaTransformer].
func (Reason) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	for _, r := range Reasons(OutcomePending, OutcomeFailed, OutcomeSkipped) {
		s.Enum = append(s.Enum, string(r))
	}
	return s
}

// TransformSchema implements [huma.SchemaTransformer]. An event that waits for the router has no delivery yet.
func (Waiting) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	for _, r := range Reasons(OutcomePending) {
		if r != Reason(WaitsForRouter) {
			s.Enum = append(s.Enum, string(r))
		}
	}
	return s
}

// SlowAfter is how long an attempt may take before its receiver counts as slow, even when it succeeds.
const SlowAfter = time.Second
