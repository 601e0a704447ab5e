// Package groupcommit has callers whose writes arrive while transactions are in flight share the next one, which costs less than
// one for each and makes nobody wait at rest: the first one never waits.
//
// A [Group] decides who goes with whom, and when; what a batch of members stores is a function of its owner. Members of one key go in
// order. Keys take turns, and one that keeps the others waiting or fails goes alone. See docs/architecture.md#group-commit.
package groupcommit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Outcome is what became of a batch.
type Outcome int

// The outcomes of a batch.
const (
	Ended  Outcome = iota // it was committed, or failed for all members alike
	Failed                // because of a member: the others may succeed without it
	Locked                // it waited for a lock for longer than its patience
)

// Config configures a group. Zero values are the defaults.
type Config struct {
	MaxBatch   int // members of a transaction; default 64
	MaxWaiting int // waiting members of a key; default 1000
	MaxKeys    int // keys of a transaction: each may hold locks that others wait for until it ends; default 16
	PerKey     int // transactions in flight of a key; default 1
	// Those in flight altogether, without those of one key that take longer than Patience; default 4. Members of several keys share
	// a transaction once so many are in flight.
	MaxRunning int
	Patience   time.Duration // default 250 ms
}

func (c Config) withDefaults() Config {
	c.MaxBatch, c.MaxWaiting, c.MaxKeys = cmp.Or(c.MaxBatch, 64), cmp.Or(c.MaxWaiting, 1000), cmp.Or(c.MaxKeys, 16)
	c.PerKey, c.MaxRunning, c.Patience = cmp.Or(c.PerKey, 1), cmp.Or(c.MaxRunning, 4), cmp.Or(c.Patience, 250*time.Millisecond)
	return c
}

// Key is a company and a kind of what it stores, whose members go in order.
type Key struct {
	Company tenant.ID
	Kind    string
}

// Compare orders keys.
func (k Key) Compare(other Key) int {
	return cmp.Or(bytes.Compare(k.Company[:], other.Company[:]), cmp.Compare(k.Kind, other.Kind))
}

// Member is one caller of [Group.Do], and what it stores.
type Member[M any] struct {
	Ctx  context.Context //nolint:containedctx // it is that of the caller, whose values the batch may need
	Key  Key
	What M
	done chan error // of capacity 1
	cost *cputime.Meter
}

// Measure charges the member alone with what the caller does until stop.
func (m *Member[M]) Measure() (stop func()) { return m.cost.Measure() }

// Group runs the transactions. Use one per process and database.
type Group[M any] struct {
	cfg     Config
	commit  func(ctx context.Context, batch []*Member[M]) (Outcome, error)
	mu      sync.Mutex
	queues  map[Key]*queue[M]
	ready   []*queue[M] // those whose next transaction may begin, the next one first
	running int         // transactions in flight that count
}

// queue holds the members of a key that wait for a transaction. It exists as long as there are any, or a transaction is in flight.
type queue[M any] struct {
	waiting []*Member[M]
	apart   bool // it shares no transaction with another key
	running int
	alone   bool // the next transaction is not shared: the last one waited for a lock, or a member of it failed
	again   bool // its members have had their turn, and waited for a lock
}

// New returns a group whose batches are stored by commit, in the order of their keys. Its context is the caller's in a batch of one.
func New[M any](cfg Config, commit func(ctx context.Context, batch []*Member[M]) (Outcome, error)) *Group[M] {
	return &Group[M]{cfg: cfg.withDefaults(), commit: commit, queues: map[Key]*queue[M]{}}
}

// Patience is how long a transaction of several keys may wait for a lock.
func (g *Group[M]) Patience() time.Duration { return g.cfg.Patience }

// Waiting counts the members of a key that wait; -1 when no transaction is in flight.
func (g *Group[M]) Waiting(key Key) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if q := g.queues[key]; q != nil {
		return len(q.waiting)
	}
	return -1
}

var errFull = apierr.Unavailable(apierr.QueueFull, 1, "too many records of this company are waiting to be stored; nothing was stored, repeat the request after the time in Retry-After")

// Do stores a member. It returns when the member is committed or has failed; errors of others do not affect it. A caller whose ctx
// ends while it waits leaves the queue; one whose transaction is running waits for the outcome.
//
// A key that is apart shares no transaction with another, and does not count among those in flight altogether. That is the same for all
// its members.
func (g *Group[M]) Do(ctx context.Context, key Key, apart bool, what M) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("join a group commit: %w", err)
	}
	m := &Member[M]{Ctx: ctx, Key: key, What: what, done: make(chan error, 1), cost: cputime.Current()}
	g.mu.Lock()
	if q := g.queues[key]; q != nil && len(q.waiting) >= g.cfg.MaxWaiting {
		g.mu.Unlock()
		return errFull
	}
	g.enqueue(m, apart)
	batch := g.take()
	g.mu.Unlock()
	if len(batch) == 1 && batch[0] == m { // the rule while not all transactions that may run do
		next := g.run(batch)
		g.continueWith(next)
	} else {
		g.continueWith(batch)
	}
	return g.wait(m)
}

// enqueue adds a member to the queue of its key.
func (g *Group[M]) enqueue(m *Member[M], apart bool) {
	q := g.queues[m.Key]
	if q == nil {
		q = &queue[M]{apart: apart}
		g.queues[m.Key] = q
	}
	q.waiting = append(q.waiting, m)
	if len(q.waiting) == 1 && q.running < g.cfg.PerKey {
		g.ready = append(g.ready, q)
	}
}

// continueWith runs a batch, and those after it, in the background, so that callers get their answers at once.
func (g *Group[M]) continueWith(batch []*Member[M]) {
	if len(batch) == 0 {
		return
	}
	go func() {
		for len(batch) > 0 {
			batch = g.run(batch)
		}
	}()
}

// take removes the next batch from the queues, in the order of the keys; it is empty if nothing waits or enough
// transactions are in flight. Keys take turns, and none gets more than half of a batch while others wait.
func (g *Group[M]) take() []*Member[M] {
	if i := slices.IndexFunc(g.ready, func(q *queue[M]) bool { return q.apart }); i >= 0 {
		return g.pop(i, g.cfg.MaxBatch)
	}
	if len(g.ready) == 0 || g.running >= g.cfg.MaxRunning {
		return nil
	}
	g.running++
	if g.ready[0].alone {
		g.ready[0].alone = false
		return g.pop(0, g.cfg.MaxBatch)
	}
	most := g.cfg.MaxBatch
	if len(g.ready) > 1 {
		most = max(1, most/2)
	}
	var batch []*Member[M]
	for keys := min(g.cfg.MaxKeys, len(g.ready)); keys > 0 && len(batch) < g.cfg.MaxBatch && !g.ready[0].alone; keys-- {
		batch = append(batch, g.pop(0, min(most, g.cfg.MaxBatch-len(batch)))...)
	}
	slices.SortStableFunc(batch, func(a, b *Member[M]) int { return a.Key.Compare(b.Key) })
	return batch
}

// pop takes up to most members of a queue that is ready. What it leaves waits for another turn.
func (g *Group[M]) pop(i, most int) []*Member[M] {
	q := g.ready[i]
	g.ready = slices.Delete(g.ready, i, i+1)
	n := min(len(q.waiting), most)
	taken := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	if q.running++; len(q.waiting) > 0 && q.running < g.cfg.PerKey {
		g.ready = append(g.ready, q)
	}
	return taken
}

// run commits a batch, and returns the next one.
func (g *Group[M]) run(batch []*Member[M]) (next []*Member[M]) {
	counted := !g.isApart(batch[0].Key)
	stop := func() { // under the mutex
		if counted {
			g.running--
			counted = false
		}
	}
	if counted && !Several(batch) { // others give up
		slow := time.AfterFunc(g.cfg.Patience, func() {
			g.mu.Lock()
			stop() // it may wait for a lock, which is no reason to let other keys wait, too
			next := g.take()
			g.mu.Unlock()
			g.continueWith(next)
		})
		defer slow.Stop()
	}
	g.store(batch)
	g.mu.Lock()
	defer g.mu.Unlock()
	stop()
	for of := range ByKey(batch) {
		g.release(of[0].Key)
	}
	next = g.take()
	for more := g.take(); len(more) > 0; more = g.take() {
		g.continueWith(more)
	}
	return next
}

func (g *Group[M]) isApart(k Key) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queues[k].apart
}

// release makes the queue of a key ready whose transaction has ended, and deletes an empty one.
func (g *Group[M]) release(k Key) {
	q := g.queues[k]
	q.running--
	switch {
	case len(q.waiting) == 0 && q.running == 0:
		delete(g.queues, k)
	case len(q.waiting) == 0 || slices.Contains(g.ready, q):
	case q.again:
		q.again = false
		g.ready = slices.Insert(g.ready, 0, q)
	default:
		g.ready = append(g.ready, q)
	}
}

// ByKey yields the parts of a batch with the same key.
func ByKey[M any](batch []*Member[M]) iter.Seq[[]*Member[M]] {
	return func(yield func([]*Member[M]) bool) {
		for len(batch) > 0 {
			n := 1
			for n < len(batch) && batch[n].Key == batch[0].Key {
				n++
			}
			if !yield(batch[:n]) {
				return
			}
			batch = batch[n:]
		}
	}
}

// Several reports whether a batch has more than one key.
func Several[M any](batch []*Member[M]) bool { return batch[0].Key != batch[len(batch)-1].Key }

func (g *Group[M]) wait(m *Member[M]) error {
	defer cputime.Wait()()
	select {
	case err := <-m.done:
		return err
	case <-m.Ctx.Done():
	}
	if g.leave(m) {
		return fmt.Errorf("wait for a group commit: %w", m.Ctx.Err())
	}
	return <-m.done
}

// leave removes a waiting member; false if its transaction has started.
func (g *Group[M]) leave(m *Member[M]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.queues[m.Key]
	if q == nil {
		return false
	}
	i := slices.Index(q.waiting, m)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	if len(q.waiting) == 0 {
		g.ready = slices.DeleteFunc(g.ready, func(r *queue[M]) bool { return r == q })
		if q.running == 0 {
			delete(g.queues, m.Key)
		}
	}
	return true
}

// store commits a batch and reports the outcome to every member. If one member fails, the batch is rolled back and run
// again in halves, until the failing member is alone and gets its error. If a key keeps the others waiting, all wait
// again, for transactions of their own.
func (g *Group[M]) store(batch []*Member[M]) {
	outcome, err := g.commitMeasured(batch)
	switch {
	case outcome == Locked:
		g.putBack(batch)
		return
	case outcome == Failed && len(batch) > 1:
		half := len(batch) / 2
		g.store(batch[:half])
		g.store(batch[half:])
		return
	case outcome == Failed:
		g.setAlone(batch[0].Key)
	}
	for _, m := range batch {
		m.done <- err
	}
}

// commitMeasured charges the members with equal parts of the processor time.
func (g *Group[M]) commitMeasured(batch []*Member[M]) (Outcome, error) {
	groupCommitSize.Observe(float64(len(batch)))
	shared := cputime.New(nil)
	ctx, end := g.context(batch)
	defer end()
	stop := shared.Measure()
	outcome, err := g.commit(ctx, batch)
	stop()
	for _, m := range batch {
		m.cost.Add(shared.Used() / time.Duration(len(batch)))
	}
	return outcome, err
}

// setAlone has the next members of a key go alone, because one of them has made a batch fail that others had a part in.
func (g *Group[M]) setAlone(k Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queues[k].alone = true
}

// putBack returns the members of a batch to their queues, which [Group.run] makes ready in the end.
func (g *Group[M]) putBack(batch []*Member[M]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for of := range ByKey(batch) {
		q := g.queues[of[0].Key]
		q.waiting = slices.Insert(q.waiting, 0, of...)
		q.alone, q.again = true, true
	}
}
