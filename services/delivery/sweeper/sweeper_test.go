package sweeper

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/lease"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// row is an open delivery for the tests of the sweeper; times are ages.
type row struct {
	sub      uuid.UUID
	state    webhook.State
	attempt  int16
	due      time.Duration // ago; held = none
	held     bool
	updated  time.Duration
	created  time.Duration
	left     time.Duration // to live; default 1 h
	noBody   bool
	ownBody  bool
	newer    bool // a form of the body that only a later release reads
	expected string
}

func insert(k *dispatchtest.Kit, r row) uuid.UUID {
	k.T.Helper()
	now := time.Now().UTC()
	if r.left == 0 {
		r.left = time.Hour
	}
	created := now.Add(-max(r.created, r.updated, r.due))
	event := uuid.Must(uuid.NewV7())
	id := webhook.DeliveryID(event, r.sub, 0)
	var next *time.Time
	if !r.held {
		at := now.Add(-r.due)
		next = &at
	}
	var payload []byte
	switch {
	case r.newer:
		payload = []byte{7, 7}
	case r.ownBody:
		payload = []byte(`{"from":"payload"}`)
	case !r.noBody:
		k.Exec(`INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
VALUES ($1, $2, $3, 'order.created', 'order', $3, 1, $4, $5, $6)`, k.Company, now.UnixNano(), event, []byte(`{"from":"log"}`), created, now.Add(time.Hour))
	}
	k.Exec(`INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, next_attempt_at, expires_at, is_test, payload, created_at, updated_at)
VALUES ($1, $2, $3, $4, 'order.created', $5, $6, $7, $8, false, $9, $10, $11)`,
		k.Company, r.sub, id, event, r.state, r.attempt, next, now.Add(r.left), payload, created, now.Add(-r.updated))
	return id
}

func newSweeper(k *dispatchtest.Kit, owner string, change func(*Config)) *Sweeper {
	k.T.Helper()
	cfg := Config{Settings: config.Defaults[Settings](), Kafka: k.Kafka, Owner: owner, Policy: dispatchtest.Policy()}
	cfg.DisableAfter = 0
	if change != nil {
		change(&cfg)
	}
	s, err := New(k.DB, cfg)
	require.NoError(k.T, err)
	k.T.Cleanup(s.client.Close)
	return s
}

func TestSweeperDecisions(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	active, paused, coolingDown, gone := k.Subscription(), k.Subscription(), k.Subscription(), uuid.Must(uuid.NewV7())
	k.Set(paused, "status = 'paused'")
	k.Set(coolingDown, "breaker_opens = 2, breaker_open_until = $3", time.Now().Add(time.Minute))
	// All limits are wide: however slowly this test runs, no row comes of age meanwhile.
	const long, short = time.Hour, 10 * time.Minute
	const grace, holdGrace, abandoned, expireGrace = 30 * time.Minute, 5 * time.Minute, 20 * time.Minute, 5 * time.Minute
	rows := map[string]row{
		"overdue in Kafka":               {sub: active, due: long, updated: long, expected: "inject"},
		"overdue retry":                  {sub: active, due: long, updated: long, attempt: 3, expected: "inject"},
		"due lately":                     {sub: active, due: time.Minute, updated: time.Minute, expected: "leave"},
		"due later":                      {sub: active, due: -time.Minute, expected: "leave"},
		"held, receiver takes again":     {sub: active, held: true, updated: short, expected: "inject"},
		"held this moment":               {sub: active, held: true, updated: 0, expected: "leave"},
		"body in the row":                {sub: active, held: true, updated: short, ownBody: true, expected: "inject"},
		"worker died":                    {sub: active, state: webhook.StateDelivering, attempt: 2, updated: long, held: true, expected: "inject"},
		"worker at it":                   {sub: active, state: webhook.StateDelivering, attempt: 2, updated: short, held: true, expected: "leave"},
		"worker died in the last one":    {sub: active, state: webhook.StateDelivering, attempt: 7, updated: long, held: true, expected: "dead"},
		"time to live over":              {sub: active, held: true, updated: short, left: -time.Second, expected: "dead"},
		"just over, left to the sender":  {sub: active, due: short, left: -time.Second, expected: "leave"},
		"over for long":                  {sub: active, due: short, left: -short, expected: "dead"},
		"event not in the log yet":       {sub: active, held: true, updated: short, noBody: true, expected: "leave"},
		"event not in the log any more":  {sub: active, held: true, updated: short, created: 2 * time.Hour, noBody: true, expected: "dead"},
		"body of a later release":        {sub: active, held: true, updated: short, created: 2 * time.Hour, newer: true, expected: "later"},
		"paused":                         {sub: paused, held: true, updated: long, expected: "leave"},
		"paused, overdue":                {sub: paused, due: long, updated: long, expected: "leave"},
		"paused, time to live over":      {sub: paused, held: true, updated: long, left: -time.Second, expected: "dead"},
		"breaker open":                   {sub: coolingDown, held: true, updated: long, expected: "leave"},
		"breaker open, worker died":      {sub: coolingDown, state: webhook.StateDelivering, attempt: 1, updated: long, due: 0, expected: "hold"},
		"subscription is gone":           {sub: gone, held: true, updated: short, expected: "dead"},
		"subscription is gone, not held": {sub: gone, due: long, updated: long, expected: "dead"},
	}
	ids := map[uuid.UUID]string{}
	byName := map[string]uuid.UUID{}
	injects, deaths := 0, 0
	for name, r := range rows {
		id := insert(k, r)
		ids[id], byName[name] = name, id
		switch r.expected {
		case "inject":
			injects++
		case "dead":
			deaths++
		}
	}
	sent, dead := k.Collect(topics.Deliveries), k.Collect(topics.DeliveriesDead)
	s := newSweeper(k, "a", func(c *Config) {
		c.page, c.Grace, c.HoldGrace, c.abandoned, c.expireGrace = 4, grace, holdGrace, abandoned, expireGrace
	})
	_, err := s.pass(t.Context())
	require.NoError(t, err)

	for _, rec := range k.Await(sent, injects) {
		m := k.Decode(rec)
		name := ids[m.DeliveryID]
		require.Equal(t, "inject", rows[name].expected, name)
		require.EqualValues(t, rows[name].attempt+1, m.Attempt, name)
		require.Equal(t, rows[name].ownBody, strings.Contains(string(m.Body), "payload"), name)
	}
	require.Len(t, sent(), injects)
	require.Len(t, k.Await(dead, deaths), deaths)
	for name, r := range rows {
		got := k.Row(byName[name])
		require.Equal(t, r.attempt, got.Attempt, name)
		switch r.expected {
		case "inject":
			require.Equal(t, webhook.StatePending, got.State, name)
			require.WithinDuration(t, time.Now(), *got.Next, time.Minute, name)
		case "later":
			require.Equal(t, webhook.StatePending, got.State, name)
			require.NotNil(t, got.Next, "looked at again when it is overdue")
		case "dead":
			require.Equal(t, webhook.StateFailed, got.State, name)
			require.NotNil(t, got.Err, name)
		case "hold":
			require.Equal(t, webhook.StatePending, got.State, name)
			require.Nil(t, got.Next, name)
		case "leave":
			require.Equal(t, r.state, got.State, name)
			require.Equal(t, r.held, got.Next == nil, name)
		}
	}
	require.Equal(t, "ttl expired", *k.Row(byName["time to live over"]).Err)
	require.Equal(t, "subscription deleted", *k.Row(byName["subscription is gone"]).Err)

	_, err = s.pass(t.Context())
	require.NoError(t, err)
	require.Len(t, sent(), injects, "what was put in is not put in again")
}

func TestSweeperGivesEachReceiverItsShareOldestFirst(t *testing.T) {
	t.Parallel()
	const backlog, burst = 60, 25
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	big, small, coolingDown := k.Subscription(), k.Subscription(), k.Subscription()
	k.Set(coolingDown, "breaker_opens = 1, breaker_open_until = $3", time.Now().Add(-time.Second))
	var order []uuid.UUID
	for range backlog {
		order = append(order, insert(k, row{sub: big, held: true, updated: time.Minute}))
		insert(k, row{sub: coolingDown, held: true, updated: time.Minute})
	}
	insert(k, row{sub: small, held: true, updated: time.Minute})
	sent := k.Collect(topics.Deliveries)
	s := newSweeper(k, "a", func(c *Config) { c.page, c.burst, c.probe = 10, burst, 2 })

	more, err := s.pass(t.Context())
	require.NoError(t, err)
	require.True(t, more)
	by := map[string][]uuid.UUID{}
	for _, r := range k.Await(sent, burst+2+1) {
		by[string(r.Key)] = append(by[string(r.Key)], k.Decode(r).DeliveryID)
	}
	require.Len(t, by[big.String()], burst)
	require.Len(t, by[small.String()], 1)
	require.Len(t, by[coolingDown.String()], 2, "a receiver in cooldown gets probes only")
	oldest := map[uuid.UUID]bool{}
	for _, id := range order[:burst+5] { // ids of one millisecond have no order
		oldest[id] = true
	}
	for _, id := range by[big.String()] {
		require.True(t, oldest[id], "oldest first")
	}
	for more {
		more, err = s.pass(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, 0, k.Deliveries("subscription_id = '"+big.String()+"' AND next_attempt_at IS NULL"))
}

// A receiver that does not take what it is given gets little until it does.
func TestSweeperGivesLittleToWhoTakesLittle(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	sub := k.Subscription()
	for range 60 {
		insert(k, row{sub: sub, held: true, updated: time.Minute})
	}
	s := newSweeper(k, "a", func(c *Config) { c.burst, c.probe = 20, 2 })
	pass := func() (given int, more bool) {
		t.Helper()
		before := k.Deliveries("next_attempt_at IS NULL")
		more, err := s.pass(t.Context())
		require.NoError(t, err)
		return before - k.Deliveries("next_attempt_at IS NULL"), more
	}
	comeBack := func() {
		k.Exec(`UPDATE deliveries SET next_attempt_at = NULL, updated_at = $2 WHERE company_id = $1`, k.Company, time.Now().Add(-time.Minute))
	}
	for _, want := range []struct {
		given int
		more  bool
	}{{20, true}, {2, false}, {2, false}} {
		given, more := pass()
		require.Equal(t, want.given, given)
		require.Equal(t, want.more, more, "a receiver that takes nothing is no reason to hurry")
		comeBack()
	}
	pass()
	for _, want := range []int{4, 8, 16, 20} {
		given, _ := pass()
		require.Equal(t, want, given, "twice as much while none comes back")
	}
}

func TestSweeperReactsToAResumedSubscription(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	sub := k.Subscription()
	k.Set(sub, "status = 'paused'")
	id := insert(k, row{sub: sub, held: true})
	sent := k.Collect(topics.Deliveries)
	s := newSweeper(k, "a", func(c *Config) { c.Every = time.Hour })
	k.Run(s.Run)
	require.Eventually(t, func() bool { // until the sweeper listens
		k.Set(sub, "status = 'active'")
		k.Announce(sub)
		return len(sent()) > 0
	}, time.Minute, 50*time.Millisecond)
	require.Equal(t, id, k.Decode(sent()[0]).DeliveryID)
}

func TestSweeperDisablesWhatFailsForDays(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	day := 24 * time.Hour
	now := time.Now().UTC()
	fail := func(sub uuid.UUID, n int, isTest bool) {
		for i := range n {
			at := now.Add(-time.Duration(i) * time.Hour)
			id := uuid.Must(uuid.NewV7())
			binary.BigEndian.PutUint64(id[:], uint64(at.UnixMilli())<<16)
			k.Exec(`INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at, completed_at)
VALUES ($1, $2, $3, $3, 'order.created', 3, 7, $4, $5, $4, $4, $4)`, k.Company, sub, id, at, isTest)
		}
	}
	failing := k.Subscription()
	k.Set(failing, "created_at = $3, last_failure_at = $4", now.Add(-6*day), now)
	fail(failing, 20, false)
	few := k.Subscription()
	k.Set(few, "created_at = $3, last_failure_at = $4", now.Add(-6*day), now)
	fail(few, 19, false)
	fail(few, 5, true)
	works := k.Subscription()
	k.Set(works, "created_at = $3, last_failure_at = $4, last_success_at = $5", now.Add(-6*day), now, now.Add(-4*day))
	fail(works, 30, false)
	young := k.Subscription()
	k.Set(young, "created_at = $3, last_failure_at = $4", now.Add(-2*day), now)
	fail(young, 30, false)

	enabled := k.Subscription()
	k.Set(enabled, "created_at = $3, last_failure_at = $4, enabled_at = $4", now.Add(-6*day), now)
	fail(enabled, 30, false)

	owner := &disabler{}
	s := newSweeper(k, "a", func(c *Config) { c.Settings, c.Subscriptions = config.Defaults[Settings](), owner })
	require.NoError(t, s.disableFailing(t.Context()))
	require.NoError(t, s.disableFailing(t.Context()))
	require.Len(t, owner.reasons, 2, "as often as it is asked")
	require.Equal(t, []uuid.UUID{failing, failing}, owner.disabled)
	require.Contains(t, owner.reasons[0], "at least 20 failed deliveries")

	s.cfg.DisableAfter = 0
	require.NoError(t, s.disableFailing(t.Context()))
	require.Len(t, owner.reasons, 2, "never")
}

// A receiver that says for a day that it is gone is believed. What it was asked before it was enabled again does not count.
func TestSweeperDisablesWhatIsGone(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	now := time.Now().UTC()
	receiver := func(failing, gone, last, enabled time.Duration) uuid.UUID {
		sub := k.Subscription()
		k.Set(sub, "created_at = $3, failing_since = $4, gone_since = $5, last_failure_at = $6, enabled_at = $7",
			now.Add(-100*time.Hour), now.Add(-failing), now.Add(-gone), now.Add(-last), now.Add(-enabled))
		return sub
	}
	const day = 24 * time.Hour
	gone := receiver(day+time.Hour, day+time.Minute, 0, 99*time.Hour)
	receiver(day+time.Hour, day-time.Minute, 0, 99*time.Hour)           // it failed otherwise before
	receiver(2*day, 2*day, day+time.Minute, 99*time.Hour)               // it was asked for less than a day
	receiver(2*day, 2*day, 0, day-time.Minute)                          // enabled since
	receiver(day+time.Minute, 2*day, 0, 99*time.Hour)                   // it has answered 410 for longer than this outage
	k.Set(receiver(2*day, 2*day, 0, 99*time.Hour), "status = 'paused'") // not asked now
	k.Set(receiver(2*day, 2*day, 0, 99*time.Hour), "gone_since = NULL")

	owner := &disabler{}
	s := newSweeper(k, "a", func(c *Config) { c.Settings, c.Subscriptions = config.Defaults[Settings](), owner })
	require.NoError(t, s.disableFailing(t.Context()))
	require.Equal(t, []uuid.UUID{gone}, owner.disabled)
	require.Contains(t, owner.reasons[0], "410 Gone to every attempt since")
}

// disabler notes what is to be disabled.
type disabler struct {
	disabled []uuid.UUID
	reasons  []string
}

// Disable implements [Subscriptions].
func (d *disabler) Disable(_ context.Context, _ tenant.ID, id uuid.UUID, reason string, _ time.Time) (bool, error) {
	d.disabled, d.reasons = append(d.disabled, id), append(d.reasons, reason)
	return true, nil
}

// RedeliverFailed implements [Subscriptions].
func (d *disabler) RedeliverFailed(context.Context, tenant.ID, uuid.UUID, time.Time, uuid.UUID, int) (uuid.UUID, int, error) {
	return uuid.Max, 0, nil
}

func TestSweeperNeedsAnOwner(t *testing.T) {
	t.Parallel()
	_, err := New(nil, Config{})
	require.ErrorContains(t, err, "Owner is required")
}

// It reads a metric of the process, so no other test may run beside it.
func TestOnlyTheOwnerOfTheLeaseTellsAges(t *testing.T) {
	d := dbtest.OpenNew(t)
	registry := prometheus.NewRegistry()
	require.NoError(t, registry.Register(oldestUndelivered))
	age := func() (oldest float64) {
		families, err := registry.Gather()
		require.NoError(t, err)
		for _, m := range families[0].GetMetric() {
			oldest = max(oldest, m.GetGauge().GetValue())
		}
		return oldest
	}
	sweeper := func(owner string) *Sweeper {
		return &Sweeper{db: d, now: time.Now, monitor: monitor{groups: kafka.NewGroupWatch(nil, nil, nil)}, lease: lease.New(lease.Config{DB: d, Name: "sweeper", Node: owner, TTL: time.Minute})}
	}
	a, b := sweeper("a"), sweeper("b")
	old := func() error {
		a.showOldest(map[string]time.Time{store.TierHealthy: time.Now().Add(-time.Hour)})
		return nil
	}
	require.NoError(t, a.ifHeld(t.Context(), old))
	require.InDelta(t, 3600, age(), 5)
	require.NoError(t, b.ifHeld(t.Context(), old))
	require.Zero(t, age())
}
