package sender

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// ResultsConfig configures the batches in which results are written. Zero values take the defaults named beside the fields.
type ResultsConfig struct {
	Linger  time.Duration // longest wait for more results; 50 ms
	batch   int           // rows per transaction; 500
	limit   int           // buffered results at which the sender stops consuming; 20 000
	showAge time.Duration // store an attempt as delivering after this; 250 ms
}

func (c *ResultsConfig) setDefaults() {
	c.Linger = cmp.Or(c.Linger, 50*time.Millisecond)
	c.batch = cmp.Or(c.batch, 500)
	c.limit = cmp.Or(c.limit, 20_000)
	c.showAge = cmp.Or(c.showAge, 250*time.Millisecond)
}

// result is a result on its way to the database.
type result struct {
	store.Result
	stored func() // called once the result is in the database; may be nil
}

// results writes results in batches. Adding never blocks and never drops: while the database is slow or away, blocked tells
// the sender to stop consuming.
type results struct {
	cfg ResultsConfig
	db  *db.DB
	log *slog.Logger
	now func() time.Time

	mu        sync.Mutex
	queue     []*result
	breakers  map[webhook.SubscriptionKey]store.Breaker
	unblocked chan struct{} // nil below the limit; closed when enough results are stored
	wake      chan struct{}
	full      chan struct{}
	moved     bool // another process may have written histories

	// Only the writing goroutine touches the rest.
	seqs map[webhook.SubscriptionKey]int64     // last number in a subscription's history
	last map[webhook.SubscriptionKey]lastTimes // last times that were stored
}

type lastTimes struct{ success, failure time.Time }

// maxKnown limits the entries of seqs; beyond it all are read again.
const maxKnown = 200_000

func newResults(cfg ResultsConfig, d *db.DB, log *slog.Logger, now func() time.Time) *results {
	return &results{
		cfg: cfg, db: d, log: log, now: now, breakers: map[webhook.SubscriptionKey]store.Breaker{},
		wake: make(chan struct{}, 1), full: make(chan struct{}, 1),
		seqs: map[webhook.SubscriptionKey]int64{}, last: map[webhook.SubscriptionKey]lastTimes{},
	}
}

// add adds a result. It does not block, because callbacks of the producer call it.
func (r *results) add(res *result) {
	r.mu.Lock()
	r.queue = append(r.queue, res)
	n := len(r.queue)
	if n >= r.cfg.limit && r.unblocked == nil {
		r.unblocked = make(chan struct{})
	}
	r.mu.Unlock()
	if n == 1 {
		signal(r.wake)
	}
	if n >= r.cfg.batch {
		signal(r.full)
	}
}

// addBreaker adds the state of a circuit breaker, in place of an older one of the same receiver.
func (r *results) addBreaker(key webhook.SubscriptionKey, c store.Breaker) {
	r.mu.Lock()
	if before := r.breakers[key].RecoveredFrom; !before.IsZero() {
		c.RecoveredFrom = before
	}
	r.breakers[key] = c
	r.mu.Unlock()
	signal(r.wake)
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// blocked is nil below the limit of buffered results, otherwise closed when enough of them are stored.
func (r *results) blocked() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unblocked
}

// run writes until ctx is done, then what is left if the database is available.
func (r *results) run(ctx context.Context) {
	linger := time.NewTimer(0)
	defer linger.Stop()
	for ctx.Err() == nil {
		select {
		case <-r.wake:
		case <-r.full:
		case <-ctx.Done():
		}
		linger.Reset(r.cfg.Linger)
		select {
		case <-linger.C:
		case <-r.full:
		case <-ctx.Done():
		}
		r.flush(context.WithoutCancel(ctx), ctx.Done(), r.cfg.batch)
	}
	r.flush(context.WithoutCancel(ctx), ctx.Done(), 1)
}

// flush writes what is queued, until fewer results are left than a transaction is worth: those wait for more of them. A
// failed batch is retried; after stop only a few times.
func (r *results) flush(ctx context.Context, stop <-chan struct{}, worth int) {
	for {
		batch, changes := r.take()
		if len(batch) == 0 && len(changes) == 0 {
			return
		}
		if !r.write(ctx, batch, changes, stop) {
			return
		}
		for _, res := range batch {
			if res.stored != nil {
				res.stored()
			}
		}
		if r.wait(worth) {
			return
		}
	}
}

// wait reports whether fewer results are queued than a transaction is worth, and lets them wait for more.
func (r *results) wait(worth int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) >= worth {
		return false
	}
	if len(r.queue) > 0 {
		signal(r.wake)
	}
	return true
}

// take removes the next batch. It never contains two results of one delivery, because a statement must not update a row
// twice.
func (r *results) take() ([]*result, map[webhook.SubscriptionKey]store.Breaker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changes := r.breakers
	r.breakers = map[webhook.SubscriptionKey]store.Breaker{}
	seen := make(map[uuid.UUID]struct{}, min(len(r.queue), r.cfg.batch))
	n := 0
	for n < len(r.queue) && n < r.cfg.batch {
		id := r.queue[n].ID
		if _, twice := seen[id]; twice {
			break
		}
		seen[id] = struct{}{}
		n++
	}
	batch := slices.Clone(r.queue[:n])
	clear(r.queue[:n])
	if r.queue = r.queue[n:]; len(r.queue) == 0 {
		r.queue = nil
	}
	if r.unblocked != nil && len(r.queue) < r.cfg.limit/2 {
		close(r.unblocked)
		r.unblocked = nil
	}
	resultsBuffered.Set(float64(len(r.queue)))
	return batch, changes
}

func (r *results) write(ctx context.Context, batch []*result, changes map[webhook.SubscriptionKey]store.Breaker, stop <-chan struct{}) bool {
	pause := 50 * time.Millisecond
	for try := 1; ; try++ {
		err := r.writeOnce(ctx, batch, changes)
		if err == nil {
			return true
		}
		r.log.WarnContext(ctx, "results not written", "rows", len(batch), "try", try, "error", err)
		select {
		case <-stop:
			if try >= 3 {
				return false // the offsets are not committed: the next owner repeats this part
			}
		case <-time.After(pause):
			pause = min(pause*2, 2*time.Second)
		}
	}
}

// writeOnce stores one batch in one transaction. Repeating it changes nothing.
func (r *results) writeOnce(ctx context.Context, batch []*result, changes map[webhook.SubscriptionKey]store.Breaker) error {
	// All writers of these rows lock them in this order.
	slices.SortFunc(batch, func(a, b *result) int { return a.Compare(b.DeliveryKey) })
	rows := make([]*store.Result, len(batch))
	for i, res := range batch {
		rows[i] = &res.Result
	}
	history, seqs, err := r.history(ctx, batch)
	if err != nil {
		return err
	}
	now := r.now().UTC().Truncate(time.Microsecond)
	last := r.lastTimes(batch)
	err = r.db.RunTx(ctx, "dispatch.results", func(_ context.Context, tx *db.Tx) error {
		store.UpsertResults(tx, rows, now)
		store.UpsertAttempts(tx, history)
		store.UpdateLastTimes(tx, last.rows)
		store.UpdateBreakers(tx, changes)
		return nil
	}, db.ReadCommitted(), db.Repeatable())
	if err != nil {
		return err
	}
	for key, seq := range seqs {
		r.seqs[key] = seq
	}
	for i, row := range last.rows {
		r.last[row.Key] = last.times[i]
	}
	return nil
}

// history numbers the unsuccessful attempts of a batch: a successful one is described by the row of its delivery. It drops
// those that would be overwritten by others of the batch.
func (r *results) history(ctx context.Context, batch []*result) ([]store.Attempt, map[webhook.SubscriptionKey]int64, error) {
	tried := map[webhook.SubscriptionKey][]*result{}
	for _, res := range batch {
		if res.Tried && !res.Succeeded() {
			tried[res.Subscription] = append(tried[res.Subscription], res)
		}
	}
	if err := r.knowSeqs(ctx, tried); err != nil {
		return nil, nil, err
	}
	var rows []store.Attempt
	ends := make(map[webhook.SubscriptionKey]int64, len(tried))
	for _, key := range sortedKeys(tried) {
		attempts := tried[key]
		slices.SortStableFunc(attempts, func(a, b *result) int { return a.Started.Compare(b.Started) })
		attempts = attempts[max(0, len(attempts)-store.HistorySize):]
		seq := r.seqs[key]
		for _, res := range attempts {
			seq++
			rows = append(rows, store.Attempt{Result: &res.Result, Seq: seq})
		}
		ends[key] = seq
	}
	return rows, ends, nil
}

func sortedKeys[T any](m map[webhook.SubscriptionKey]T) []webhook.SubscriptionKey {
	keys := make([]webhook.SubscriptionKey, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, webhook.SubscriptionKey.Compare)
	return keys
}

// knowSeqs reads the last numbers of histories that are not known.
func (r *results) knowSeqs(ctx context.Context, tried map[webhook.SubscriptionKey][]*result) error {
	if r.takeMoved() || len(r.seqs) > maxKnown {
		clear(r.seqs)
		clear(r.last)
	}
	var unknown []webhook.SubscriptionKey
	for key := range tried {
		if _, ok := r.seqs[key]; !ok {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	found, err := store.LastAttempts(ctx, r.db, unknown)
	if err != nil {
		return err
	}
	for _, key := range unknown {
		r.seqs[key] = found[key]
	}
	return nil
}

// forget makes the writer read the last numbers of histories again, because another process may have written them.
func (r *results) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.moved = true
}

// takeMoved reports once whether forget was called.
func (r *results) takeMoved() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	moved := r.moved
	r.moved = false
	return moved
}

// lastRows are rows to be written, and what is stored with them afterwards.
type lastRows struct {
	rows  []store.LastTimes
	times []lastTimes
}

// lastTimes lists the subscriptions with a new last success or failure, see [due].
func (r *results) lastTimes(batch []*result) *lastRows {
	newest := map[webhook.SubscriptionKey]lastTimes{}
	for _, res := range batch {
		if !res.Tried {
			continue
		}
		t, at := newest[res.Subscription], res.Started.Add(res.Took).UTC().Truncate(time.Microsecond)
		switch {
		case res.State == webhook.StateSuccess && at.After(t.success):
			t.success = at
		case res.State != webhook.StateSuccess && at.After(t.failure):
			t.failure = at
		}
		newest[res.Subscription] = t
	}
	c := &lastRows{}
	for _, key := range sortedKeys(newest) {
		c.add(key, newest[key], r.last[key])
	}
	return c
}

func (c *lastRows) add(key webhook.SubscriptionKey, t, stored lastTimes) {
	var success, failure *time.Time
	if due(t.success, stored.success, stored.failure) {
		success, stored.success = &t.success, t.success
	}
	if due(t.failure, stored.failure, stored.success) {
		failure, stored.failure = &t.failure, t.failure
	}
	if success == nil && failure == nil {
		return
	}
	c.rows = append(c.rows, store.LastTimes{Key: key, Success: success, Failure: failure})
	c.times = append(c.times, stored)
}

// refreshLast is how old the last success or failure of a receiver may be that the database shows.
const refreshLast = 10 * time.Second

// due reports whether the last success, or failure, has to be stored: after a while, because the row of the subscription would
// be written with every batch otherwise, and at once when it follows the other, because that tells whether the receiver works;
// yet never twice in a second.
func due(now, stored, other time.Time) bool {
	age := now.Sub(stored)
	return age >= refreshLast || (age >= time.Second && other.After(stored))
}
