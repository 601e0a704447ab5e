package webhooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/job"
	"github.com/tradegrid/tradegrid/pkg/jsontype"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

const (
	replaySteps = 5               // a second: few events at a time do not get in the way of others
	replaySends = 50              // events that a step sends at most
	replayLooks = 500             // events that a step looks at
	replayBytes = 1 << 20         // of their bodies, unless a single one is larger
	replayCount = 50_000          // events that a step counts
	replayBurst = 1 * time.Second // a replay that waited may catch up on so much
)

// What a replay sends again.
const (
	replayFailed = "failed"
	replayMissed = "missed"
	replayAll    = "all"
)

var (
	// ReplayJob is the type of the jobs that [Service.Replay] starts.
	ReplayJob = job.Type{Name: "webhook.replay", Resources: []string{group.Scope}, Version: 2, Control: group.Scope, MaxAge: 30 * 24 * time.Hour}
	// Of the release before, which knew neither pace nor dry run.
	replayJobBefore = job.Type{Name: "webhook.replay", Resources: []string{group.Scope}}
)

// ReplayInput says which events are sent again.
type ReplayInput struct {
	From   *jsontype.Time `json:"from,omitempty" doc:"earliest occurredAt; default: the oldest event in the log"`
	To     *jsontype.Time `json:"to,omitempty" doc:"latest occurredAt; default: now"`
	Status string         `json:"status,omitempty" enum:"failed,missed,all" default:"failed" doc:"failed: events whose delivery failed and that did not arrive since; missed: these, and those that occurred while the subscription was disabled; all: every event in the log that the subscription matches"`
	Events []string       `json:"events,omitempty" maxItems:"100" maxLength:"100" pattern:"^(\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*\\.\\*|[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+)$" patternDescription:"an event name such as order.created, a prefix such as order.*, or *" doc:"names and prefixes such as order.*; default: those of the subscription"`
	Rate   int            `json:"rate,omitempty" minimum:"1" maximum:"500" default:"100" doc:"events sent per second at most"`
	DryRun bool           `json:"dryRun,omitempty" doc:"only count what would be sent; the job's summary tells"`
}

// replayOrder is what the job is given.
type replayOrder struct {
	Subscription uuid.UUID `json:"subscription"`
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	Status       string    `json:"status"`
	Events       []string  `json:"events"`
	Rate         int       `json:"rate"`
	DryRun       bool      `json:"dryRun"`
}

// replayState is where the job goes on.
type replayState struct {
	Counted  uuid.UUID     `json:"counted"`          // up to this event, or failed delivery
	Total    int64         `json:"total"`            // counted so far
	Begun    bool          `json:"begun"`            // all are counted
	Event    uuid.UUID     `json:"event"`            // the last one looked at
	Delivery uuid.UUID     `json:"delivery"`         // the last failed one looked at
	Due      time.Time     `json:"due"`              // when the next event may be sent
	Unsent   []uuid.UUID   `json:"unsent,omitempty"` // deliveries without an attempt, when last looked at
	Summary  ReplaySummary `json:"summary"`
}

// ReplaySummary is the summary of the job; see docs/reference/jobs.md#replays.
type ReplaySummary struct {
	SubscriptionID uuid.UUID `json:"subscriptionId"`

	DryRun   bool             `json:"dryRun"`
	Selected int64            `json:"selected"` // events that are to be sent, of those looked at
	Sent     int64            `json:"sent"`
	Events   map[string]int64 `json:"events"`  // those selected, by name
	Seconds  int64            `json:"seconds"` // that sending those takes at the rate
}

// Replay sends the events of an interval to a subscription again, as a job.
func (s *Service) Replay(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in ReplayInput) (job.Record, error) {
	order, err := s.replayOrder(ctx, tx, by, id, in, tx.Now())
	if err != nil {
		return job.Record{}, err
	}
	return job.Start(ctx, tx, by, ReplayJob, job.Options{Input: order})
}

// CountReplay counts the events that a replay would send, without a job.
func (s *Service) CountReplay(ctx context.Context, by access.Caller, id uuid.UUID, in ReplayInput) (ReplaySummary, error) {
	in.DryRun = true
	order, err := s.replayOrder(ctx, s.cfg.DB, by, id, in, s.cfg.DB.Now())
	if err != nil {
		return ReplaySummary{}, err
	}
	at := replayState{Begun: true} // the total is of no use here
	for end := false; !end; {
		err := s.cfg.DB.RunTx(ctx, "webhook.count_replay", func(ctx context.Context, tx *db.Tx) error {
			r, err := s.newReplay(ctx, tx, by, order, at)
			if err != nil {
				return err
			}
			p, err := r.step(ctx, 0)
			at, end = r.replayState, p.End
			return err
		}, db.ReadCommitted())
		if err != nil {
			return ReplaySummary{}, err
		}
	}
	return at.Summary, nil
}

// replayOrder checks what is asked for.
func (s *Service) replayOrder(ctx context.Context, q db.Querier, by access.Caller, id uuid.UUID, in ReplayInput, now time.Time) (replayOrder, error) {
	order := replayOrder{Subscription: id, To: now, Status: in.Status, Events: in.Events, Rate: in.Rate, DryRun: in.DryRun}
	if in.From != nil {
		order.From = in.From.Std()
	}
	if in.To != nil {
		order.To = in.To.Std()
	}
	var faults apierr.Fields
	s.checkPatterns(&faults, in.Events)
	if order.From.After(order.To) {
		faults.Add("from", apierr.Conflict, "must not be after to, which is now by default")
	}
	if err := faults.Err(); err != nil {
		return order, err
	}
	sub, err := table.Get(ctx, q, by.Company, id)
	if err != nil {
		return order, err
	}
	if err := by.Expect(sub.Version); err != nil {
		return order, err
	}
	if len(order.Events) == 0 {
		order.Events = sub.Events
	}
	return order, mayRead(by, sub, "send its events again")
}

// Jobs returns the handlers of the jobs of this domain.
func (s *Service) Jobs() []job.Handler {
	opts := []db.Option{db.ReadCommitted()}
	return []job.Handler{{Type: ReplayJob, Step: s.replayStep, Tx: opts}, {Type: replayJobBefore, Step: s.replayStep, Tx: opts}}
}

// The ids of deliveries sort by the time of their events.
const (
	sqlCountFailed = `SELECT count(*), COALESCE(max(d.id::TEXT), '') FROM (SELECT id FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND state = 3 AND id > $3 AND id <= $4 AND redelivery_no = 0 AND NOT is_test
ORDER BY company_id, subscription_id, id LIMIT $5) AS d`
	sqlSelectFailed = `SELECT id, event_id, event FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND state = 3 AND id > $3 AND id <= $4 AND redelivery_no = 0 AND NOT is_test
ORDER BY company_id, subscription_id, id LIMIT $5`
	// Of each event: the number of its last redelivery, and whether a delivery of it arrived or is under way.
	sqlSelectSent = `SELECT event_id, max(redelivery_no), bool_or(state <> 3) FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND id BETWEEN $3 AND $4 AND event_id = ANY($5::UUID[]) GROUP BY event_id`
	sqlSelectUnsent = `SELECT id FROM deliveries
WHERE company_id = $1 AND subscription_id = $2 AND id = ANY($3::UUID[]) AND state < 2 AND attempt = 0`
)

func (o replayOrder) interval() outbox.Interval {
	return outbox.Interval{Events: o.Events, From: o.From, To: o.To}
}

// candidate is an event that a replay may send.
type candidate struct {
	outbox.LogEntry            // zero = the log no longer has it
	original        *uuid.UUID // its delivery that failed; nil = not known
}

// replayStep counts the next events, or sends them again. The subscription is locked, so that each delivery gets a number of
// its own.
func (s *Service) replayStep(_ context.Context, t job.Task) (job.Store, error) {
	var o replayOrder
	var at replayState
	if err := errors.Join(t.Input(&o), t.State(&at)); err != nil {
		return nil, err
	}
	o.Rate = cmp.Or(o.Rate, 100) // jobs of the release before have none
	return func(ctx context.Context, tx *db.Tx) (job.Progress, error) {
		r, err := s.newReplay(ctx, tx, t.By, o, at)
		if err != nil {
			return job.Progress{}, err
		}
		return r.step(ctx, t.Done)
	}, nil
}

// newReplay prepares a step.
func (s *Service) newReplay(ctx context.Context, tx *db.Tx, by access.Caller, o replayOrder, at replayState) (*replay, error) {
	sub, err := table.Lock(ctx, tx, by.Unconditional(), o.Subscription)
	if err != nil {
		return nil, err
	}
	r := &replay{service: s, tx: tx, by: by, sub: sub, replayOrder: o, replayState: at}
	r.Summary.Events = maps.Clone(at.Summary.Events) // a step may be made several times
	if r.Summary.Events == nil {
		r.Summary.Events = map[string]int64{}
	}
	return r, nil
}

// replay is a step of the job.
type replay struct {
	replayOrder
	replayState

	service *Service
	tx      *db.Tx
	by      access.Caller
	sub     Subscription
}

func (r *replay) step(ctx context.Context, done int64) (p job.Progress, err error) {
	p.Done = done
	if !r.Begun {
		err = r.count(ctx)
	} else if p.Wait, err = r.wait(ctx); p.Wait == 0 && err == nil {
		var seen int
		seen, p.End, err = r.advance(ctx)
		p.Done += int64(seen)
	}
	r.Summary.SubscriptionID, r.Summary.DryRun, r.Summary.Seconds = r.sub.ID, r.DryRun, (r.Summary.Selected+int64(r.Rate)-1)/int64(r.Rate)
	p.State, p.Summary = r.replayState, r.Summary
	if r.Begun {
		p.Total = r.Total
	}
	return p, err
}

// count adds the next events to the total.
func (r *replay) count(ctx context.Context) error {
	var n int64
	var err error
	if r.Status == replayFailed {
		n, err = r.countFailed(ctx)
	} else {
		n, r.Counted, err = r.interval().Count(ctx, r.tx, r.sub.CompanyID, r.Counted, replayCount)
	}
	r.Total += n
	r.Begun = n < replayCount
	return err
}

func (r *replay) countFailed(ctx context.Context) (n int64, err error) {
	low, high := record.IDsBetween(r.From, r.To)
	if r.Counted != uuid.Nil {
		low = r.Counted
	}
	var last string
	if err := r.tx.QueryRow(ctx, sqlCountFailed, r.sub.CompanyID, r.sub.ID, low, high, replayCount).Scan(&n, &last); err != nil {
		return 0, fmt.Errorf("count failed deliveries: %w", err)
	}
	if n > 0 {
		r.Counted, err = uuid.Parse(last)
	}
	return n, err
}

// wait is how long to wait until more may be sent: until the pace allows it, and while as much as two seconds' worth has not had
// an attempt, because the receiver is slow, fails or is paused. So a replay never fills the path for others.
func (r *replay) wait(ctx context.Context) (time.Duration, error) {
	if r.DryRun {
		return 0, nil
	}
	if len(r.Unsent) > 0 {
		rows, err := r.tx.Query(ctx, sqlSelectUnsent, r.sub.CompanyID, r.sub.ID, r.Unsent)
		if err != nil {
			return 0, fmt.Errorf("select deliveries of replay: %w", err)
		}
		if r.Unsent, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID]); err != nil {
			return 0, fmt.Errorf("select deliveries of replay: %w", err)
		}
	}
	if r.free() <= 0 {
		return time.Second, nil
	}
	return max(0, r.Due.Sub(r.tx.Now())), nil
}

// free is how many events more may be without an attempt.
func (r *replay) free() int { return 2*r.Rate - len(r.Unsent) }

// advance looks at the next events and sends those that are to be sent.
func (r *replay) advance(ctx context.Context) (seen int, end bool, err error) {
	limit := min(max(1, r.Rate/replaySteps), replaySends, r.free())
	looks := limit
	if r.DryRun || r.Status == replayMissed {
		looks = replayLooks
	}
	if r.DryRun {
		limit = looks
	}
	found, last, err := r.candidates(ctx, looks)
	if err != nil {
		return 0, false, err
	}
	choose, err := r.chooser(ctx, found)
	if err != nil {
		return 0, false, err
	}
	sent := 0
	for _, e := range found {
		if sent == limit {
			return seen, false, nil
		}
		seen++
		r.passed(e)
		number, wanted := choose(e)
		if !wanted {
			continue
		}
		sent++
		if err := r.send(ctx, e, number); err != nil {
			return 0, false, err
		}
	}
	if sent > 0 && !r.DryRun {
		earliest := r.tx.Now().Add(-replayBurst)
		if r.Due.Before(earliest) {
			r.Due = earliest
		}
		r.Due = r.Due.Add(time.Duration(sent) * time.Second / time.Duration(r.Rate))
	}
	return seen, last, nil
}

// candidates reads the events that come next, and reports whether they are the last.
func (r *replay) candidates(ctx context.Context, limit int) (found []candidate, last bool, err error) {
	if r.Status != replayFailed {
		entries, more, err := r.interval().Read(ctx, r.tx, r.sub.CompanyID, r.Event, limit, replayBytes)
		for _, e := range entries {
			found = append(found, candidate{LogEntry: e})
		}
		return found, !more, err
	}
	low, high := record.IDsBetween(r.From, r.To)
	if r.Delivery != uuid.Nil {
		low = r.Delivery
	}
	failed, err := selectFailed(ctx, r.tx, sqlSelectFailed, r.sub.CompanyID, r.sub.ID, low, high, min(limit, replaySends))
	if err != nil {
		return nil, false, err
	}
	found, err = failedEvents(ctx, r.tx, r.sub.CompanyID, failed)
	return found, len(failed) < min(limit, replaySends), err
}

// passed notes that an event was looked at.
func (r *replay) passed(e candidate) {
	if r.Status == replayFailed {
		r.Delivery = *e.original
	} else {
		r.Event = e.ID
	}
}

// failure is a delivery that failed.
type failure struct {
	ID, EventID uuid.UUID
	Event       string
}

func selectFailed(ctx context.Context, q db.Querier, sql string, args ...any) ([]failure, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("select failed deliveries: %w", err)
	}
	failed, err := pgx.CollectRows(rows, pgx.RowToStructByPos[failure])
	if err != nil {
		return nil, fmt.Errorf("select failed deliveries: %w", err)
	}
	return failed, nil
}

// failedEvents reads the events of failed deliveries.
func failedEvents(ctx context.Context, q db.Querier, company tenant.ID, failed []failure) (found []candidate, err error) {
	wanted := make([]uuid.UUID, len(failed))
	for i, f := range failed {
		wanted[i] = f.EventID
	}
	entries, err := outbox.LogEvents(ctx, q, company, wanted)
	if err != nil {
		return nil, err
	}
	for _, f := range failed {
		found = append(found, candidate{LogEntry: entries[f.EventID], original: &f.ID})
	}
	return found, nil
}

// chooser returns the function that says which of the events are to be sent, and the number of the delivery.
func (r *replay) chooser(ctx context.Context, found []candidate) (func(candidate) (number int, wanted bool), error) {
	wants, err := r.service.wants(r.by, r.sub, r.Events)
	if err != nil {
		return nil, err
	}
	numbers, arrived, err := sent(ctx, r.tx, r.sub, found)
	if err != nil {
		return nil, err
	}
	var states []subscriptionState
	if r.Status == replayMissed {
		if states, err = selectStates(ctx, r.tx, r.sub); err != nil {
			return nil, err
		}
	}
	return func(e candidate) (int, bool) {
		number, tried := numbers[e.ID]
		switch {
		case !wants(e.LogEntry):
			return 0, false
		case r.Status == replayAll:
			return number + 1, true
		case r.Status == replayMissed && !tried && !disabledAt(states, e.OccurredAt):
			return 0, false
		}
		return number + 1, !arrived[e.ID]
	}, nil
}

// send counts an event that is to be sent, and makes a delivery of it unless the run is dry.
func (r *replay) send(ctx context.Context, e candidate, number int) error {
	r.Summary.Selected++
	r.Summary.Events[e.Event]++
	if r.DryRun {
		return nil
	}
	r.Summary.Sent++
	id, err := r.service.sendLogged(ctx, r.tx, r.sub, e, number)
	r.Unsent = append(r.Unsent, id)
	return err
}

// subscriptionState is a status of a subscription, from a time on.
type subscriptionState struct {
	From   time.Time
	Status string
}

const sqlSelectStates = `SELECT valid_from, status FROM webhook_subscription_versions
WHERE company_id = $1 AND subscription_id = $2 ORDER BY company_id, subscription_id, version`

func selectStates(ctx context.Context, q db.Querier, sub Subscription) ([]subscriptionState, error) {
	rows, err := q.Query(ctx, sqlSelectStates, sub.CompanyID, sub.ID)
	if err != nil {
		return nil, fmt.Errorf("select versions of subscription: %w", err)
	}
	states, err := pgx.CollectRows(rows, pgx.RowToStructByPos[subscriptionState])
	if err != nil {
		return nil, fmt.Errorf("select versions of subscription: %w", err)
	}
	return states, nil
}

// routedWithin is how long after an event it was decided at the latest that a subscription does not get it.
const routedWithin = time.Hour

// disabledAt reports whether a subscription was disabled when an event may have been routed.
func disabledAt(states []subscriptionState, occurred time.Time) bool {
	for i, s := range states {
		if s.Status == statusDisabled && !s.From.After(occurred.Add(routedWithin)) && (i+1 == len(states) || states[i+1].From.After(occurred)) {
			return true
		}
	}
	return false
}

// sent tells of each event the number of its last delivery to the subscription, and whether one arrived or is under way.
func sent(ctx context.Context, q db.Querier, sub Subscription, found []candidate) (numbers map[uuid.UUID]int, arrived map[uuid.UUID]bool, err error) {
	numbers, arrived = map[uuid.UUID]int{}, map[uuid.UUID]bool{}
	low, high := uuid.Max, uuid.Nil
	ids := make([]uuid.UUID, 0, len(found))
	for _, e := range found {
		if e.ID == uuid.Nil {
			continue
		}
		ids = append(ids, e.ID)
		if string(e.ID[:6]) < string(low[:6]) {
			low = e.ID
		}
		if string(e.ID[:6]) > string(high[:6]) {
			high = e.ID
		}
	}
	if len(ids) == 0 {
		return numbers, arrived, nil
	}
	from, to := uuid.Nil, uuid.Max
	copy(from[:6], low[:])
	copy(to[:6], high[:])
	rows, err := q.Query(ctx, sqlSelectSent, sub.CompanyID, sub.ID, from, to, ids)
	if err != nil {
		return nil, nil, fmt.Errorf("select redeliveries: %w", err)
	}
	var id uuid.UUID
	var number int
	var well bool
	_, err = pgx.ForEachRow(rows, []any{&id, &number, &well}, func() error {
		numbers[id], arrived[id] = number, well
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("select redeliveries: %w", err)
	}
	return numbers, arrived, nil
}

// wants returns whether a replay sends an event: it must match the names asked for and the subscription as it is now, and
// the subscription must be allowed to carry it.
func (s *Service) wants(by access.Caller, sub Subscription, names []string) (func(outbox.LogEntry) bool, error) {
	now := sub.version()
	terms, err := now.terms()
	if err != nil {
		return nil, err
	}
	asked := patternsOf(names)
	return func(e outbox.LogEntry) bool {
		t, known := s.cfg.Registry.Lookup(e.Event)
		return known && webhook.MatchAny(asked, e.Event) &&
			terms.Decide(&webhook.Candidate{Name: e.Event, Module: t.Module, Scope: t.Scope, Doc: webhook.NewDoc(e.Body)}, by.Components) == webhook.Wanted
	}, nil
}

func patternsOf(names []string) []webhook.EventPattern {
	patterns := make([]webhook.EventPattern, len(names))
	for i, name := range names {
		patterns[i] = webhook.EventPattern(name)
	}
	return patterns
}
