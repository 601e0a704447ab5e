// Package numbering assigns gap-free numbers to documents: 1, 2, 3 … per company and kind. The number is taken in the
// transaction that stores the document, so a document that is not stored takes none.
//
// The counter row serialises these transactions. To store more than one document per commit, documents that arrive
// while a transaction is in flight are committed together in the next one (group commit): those of one company and kind
// everywhere, and on PostgreSQL those of several companies, too. See docs/architecture.md#group-commit.
package numbering

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Member stores one document with its number. It may run several times, possibly with different numbers; the last run
// counts. It must change nothing but the transaction and its own result, and only queue writes: reads would delay all
// documents of the transaction, so do them before.
type Member func(ctx context.Context, tx *db.Tx, number int64) error

// txTimeout is that of one transaction, retries included.
const txTimeout = 25 * time.Second

// Config configures group commits. Only DB is required.
type Config struct {
	DB         *db.DB
	MaxBatch   int // documents per transaction; default 64
	MaxWaiting int // waiting documents per company and kind; default 1000

	// On PostgreSQL the documents of several companies share a transaction once MaxRunning are in flight. On CockroachDB
	// they do not, and there is no limit: the rows of several companies are in several ranges, and maybe regions.
	MaxRunning int           // default 4
	Patience   time.Duration // in a transaction of several companies, with a lock; default 250 ms
}

// maxShared is the most companies and kinds in one transaction: each is a lock that others may wait for until it ends.
const maxShared = 16

// Committer commits the documents of all companies. Use one per process and database.
type Committer struct {
	cfg     Config
	mu      sync.Mutex
	queues  map[key]*queue
	ready   []*queue // those with documents that wait and no transaction in flight, the next one first
	running int      // transactions in flight, without those of one company that take long
}

type key struct {
	company tenant.ID
	kind    string
}

func (k key) compare(other key) int {
	return cmp.Or(bytes.Compare(k.company[:], other.company[:]), cmp.Compare(k.kind, other.kind))
}

// queue holds the callers that wait for a transaction. It exists as long as there are any, or a transaction is in flight.
type queue struct {
	key     key
	waiting []*entry
	own     bool // its transactions are never shared with others, and there is no limit for them
	busy    bool // a transaction is in flight; the next one waits for it
	alone   bool // the next transaction is not shared with others: the counter may be locked for long
}

// entry is one caller of [Committer.Do].
type entry struct {
	ctx    context.Context
	key    key
	member Member
	reads  bool // the member reads
	opts   []db.Option
	done   chan error // of capacity 1
	meter  *cputime.Meter
}

// New makes a committer.
func New(cfg Config) *Committer {
	if cfg.MaxBatch <= 0 {
		cfg.MaxBatch = 64
	}
	if cfg.MaxWaiting <= 0 {
		cfg.MaxWaiting = 1000
	}
	if cfg.MaxRunning <= 0 {
		cfg.MaxRunning = 4
	}
	if cfg.Patience <= 0 {
		cfg.Patience = 250 * time.Millisecond
	}
	return &Committer{cfg: cfg, queues: map[key]*queue{}}
}

// shares reports whether documents of several companies share a transaction.
func (c *Committer) shares() bool { return c.cfg.DB.Dialect() == db.PostgreSQL }

var errFull = apierr.Unavailable(apierr.QueueFull, 1, "too many documents of this company are waiting to be stored; nothing was stored, repeat the request after the time in Retry-After")

// Do stores one document with the next number of the company and kind. It returns when the document is committed or has
// failed; errors of other members do not affect it. A caller whose ctx ends while it waits leaves the queue; one whose
// transaction is running waits for the outcome. opts says how to find the document, whose commit may be that of others.
func (c *Committer) Do(ctx context.Context, company tenant.ID, kind string, member Member, opts []db.Option) error {
	return c.do(&entry{ctx: ctx, key: key{company, kind}, member: member, opts: opts}) //nolint:contextcheck // a batch takes its context from its members
}

// DoReading is [Committer.Do] for a kind whose members cannot do without reads. Each is a round trip for all documents of the
// transaction, so these share it with others of their company only.
func (c *Committer) DoReading(ctx context.Context, company tenant.ID, kind string, member Member, opts []db.Option) error {
	return c.do(&entry{ctx: ctx, key: key{company, kind}, member: member, reads: true, opts: opts}) //nolint:contextcheck // a batch takes its context from its members
}

func (c *Committer) do(e *entry) error {
	e.done, e.meter = make(chan error, 1), cputime.Current()
	if err := e.ctx.Err(); err != nil {
		return fmt.Errorf("take a %s number: %w", e.key.kind, err)
	}
	c.mu.Lock()
	if q := c.queues[e.key]; q != nil && len(q.waiting) >= c.cfg.MaxWaiting {
		c.mu.Unlock()
		return errFull
	}
	c.enqueue(e)
	batch := c.take()
	c.mu.Unlock()
	if len(batch) == 1 && batch[0] == e { // the rule while not all transactions that may run do
		next := c.run(batch)
		c.continueWith(next)
	} else {
		c.continueWith(batch)
	}
	return c.wait(e)
}

// enqueue adds an entry to the queue of its key.
func (c *Committer) enqueue(e *entry) {
	q := c.queues[e.key]
	if q == nil {
		q = &queue{key: e.key, own: e.reads || !c.shares()}
		c.queues[e.key] = q
	}
	q.waiting = append(q.waiting, e)
	if len(q.waiting) == 1 && !q.busy {
		c.ready = append(c.ready, q)
	}
}

// continueWith runs a batch, and those after it, in the background, so that callers get their answers at once.
func (c *Committer) continueWith(batch []*entry) {
	if len(batch) == 0 {
		return
	}
	go func() {
		for len(batch) > 0 {
			batch = c.run(batch)
		}
	}()
}

// take removes the next batch from the queues, in the order of the locks; it is empty if nothing waits or enough
// transactions are in flight. Companies take turns, and none gets more than half of a batch while others wait.
func (c *Committer) take() []*entry {
	if i := slices.IndexFunc(c.ready, func(q *queue) bool { return q.own }); i >= 0 {
		return c.pop(i, c.cfg.MaxBatch)
	}
	if len(c.ready) == 0 || c.running >= c.cfg.MaxRunning {
		return nil
	}
	c.running++
	if c.ready[0].alone {
		c.ready[0].alone = false
		return c.pop(0, c.cfg.MaxBatch)
	}
	most := c.cfg.MaxBatch
	if len(c.ready) > 1 {
		most = max(1, most/2)
	}
	var batch []*entry
	for keys := 0; keys < maxShared && len(batch) < c.cfg.MaxBatch && len(c.ready) > 0 && !c.ready[0].alone; keys++ {
		batch = append(batch, c.pop(0, min(most, c.cfg.MaxBatch-len(batch)))...)
	}
	slices.SortStableFunc(batch, func(a, b *entry) int { return a.key.compare(b.key) })
	return batch
}

// pop takes up to most entries of a queue that is ready.
func (c *Committer) pop(i, most int) []*entry {
	q := c.ready[i]
	c.ready = slices.Delete(c.ready, i, i+1)
	n := min(len(q.waiting), most)
	taken := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	q.busy = true
	return taken
}

// run commits a batch, and returns the next one.
func (c *Committer) run(batch []*entry) (next []*entry) {
	counted := !c.ofOwn(batch)
	stop := func() { // under the mutex
		if counted {
			c.running--
			counted = false
		}
	}
	if counted && !several(batch) { // others give up
		slow := time.AfterFunc(c.cfg.Patience, func() {
			c.mu.Lock()
			stop() // it may wait for a lock, which is no reason to let other companies wait, too
			next := c.take()
			c.mu.Unlock()
			c.continueWith(next)
		})
		defer slow.Stop()
	}
	c.store(batch)
	c.mu.Lock()
	defer c.mu.Unlock()
	stop()
	for group := range groups(batch) {
		c.release(c.queues[group[0].key])
	}
	next = c.take()
	for more := c.take(); len(more) > 0; more = c.take() {
		c.continueWith(more)
	}
	return next
}

// ofOwn reports whether a batch is of a queue with transactions of its own.
func (c *Committer) ofOwn(batch []*entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queues[batch[0].key].own
}

// release makes a queue ready whose transaction has ended, and deletes an empty one.
func (c *Committer) release(q *queue) {
	q.busy = false
	switch {
	case len(q.waiting) == 0:
		delete(c.queues, q.key)
	case q.alone:
		c.ready = slices.Insert(c.ready, 0, q)
	default:
		c.ready = append(c.ready, q)
	}
}

// groups are the parts of a batch with the same key.
func groups(batch []*entry) iter.Seq[[]*entry] {
	return func(yield func([]*entry) bool) {
		for len(batch) > 0 {
			n := 1
			for n < len(batch) && batch[n].key == batch[0].key {
				n++
			}
			if !yield(batch[:n]) {
				return
			}
			batch = batch[n:]
		}
	}
}

func (c *Committer) wait(e *entry) error {
	defer cputime.Wait()()
	select {
	case err := <-e.done:
		return err
	case <-e.ctx.Done():
	}
	if c.leave(e) {
		return fmt.Errorf("wait for a %s number: %w", e.key.kind, e.ctx.Err())
	}
	return <-e.done
}

// leave removes a waiting entry; false if its transaction has started.
func (c *Committer) leave(e *entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[e.key]
	if q == nil {
		return false
	}
	i := slices.Index(q.waiting, e)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	if len(q.waiting) == 0 && !q.busy {
		c.ready = slices.DeleteFunc(c.ready, func(r *queue) bool { return r == q })
		delete(c.queues, e.key)
	}
	return true
}

// store commits a batch and reports the outcome to every member. If one member fails, the batch is rolled back and run
// again in halves, until the failing member is alone and gets its error. If a company keeps the others waiting, all wait
// again, for transactions of their own.
func (c *Committer) store(batch []*entry) {
	shared := cputime.New(nil)
	stop := shared.Measure()
	memberFailed, err := c.commit(batch)
	stop()
	for _, e := range batch {
		e.meter.Add(shared.Used() / time.Duration(len(batch)))
	}
	switch {
	case errors.Is(err, db.ErrLocked):
		c.putBack(batch)
		return
	case err != nil && memberFailed && len(batch) > 1:
		half := len(batch) / 2
		c.store(batch[:half])
		c.store(batch[half:])
		return
	}
	for _, e := range batch {
		e.done <- err
	}
}

// putBack returns the members of a batch to their queues, which are busy until the end of [Committer.run].
func (c *Committer) putBack(batch []*entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for group := range groups(batch) {
		q := c.queues[group[0].key]
		q.waiting = slices.Insert(q.waiting, 0, group...)
		q.alone = true
	}
}

// commit runs one transaction for the batch. memberFailed means that a member or its writes failed, so that the others
// may succeed without it; any other error applies to all.
func (c *Committer) commit(batch []*entry) (memberFailed bool, err error) {
	ctx, end := c.begin(batch)
	defer end()
	var inMembers bool
	err = c.cfg.DB.RunTx(ctx, "numbering."+batch[0].key.kind, func(ctx context.Context, tx *db.Tx) error {
		inMembers = false
		numbers, err := take(ctx, tx, batch)
		if err != nil {
			return err
		}
		inMembers = true
		for i, e := range batch {
			if err := e.store(ctx, tx, numbers[i]); err != nil {
				return err
			}
		}
		if len(batch) == 1 {
			return nil
		}
		// Sent here and not at the end of the transaction, to distinguish a failed write from a failed commit.
		if err := tx.Flush(ctx); err != nil {
			return err
		}
		inMembers = false
		return nil
	}, c.options(batch)...)
	memberFailed = inMembers && !errors.Is(err, db.ErrBusy) && !errors.Is(err, db.ErrOutcomeUnknown) && ctx.Err() == nil
	return memberFailed, err
}

// several reports whether a batch has more than one key.
func several(batch []*entry) bool { return batch[0].key != batch[len(batch)-1].key }

// take takes a number for each member of the batch.
func take(ctx context.Context, tx *db.Tx, batch []*entry) ([]int64, error) {
	last := map[key]int64{}
	if several(batch) {
		var companies []tenant.ID
		var kinds []string
		var counts []int64
		for group := range groups(batch) {
			companies, kinds, counts = append(companies, group[0].key.company), append(kinds, group[0].key.kind), append(counts, int64(len(group)))
		}
		var err error
		if last, err = takeAll(ctx, tx, companies, kinds, counts); err != nil {
			return nil, err
		}
	} else {
		k := batch[0].key
		n, err := Take(ctx, tx, k.company, k.kind, len(batch))
		if err != nil {
			return nil, err
		}
		last[k] = n
	}
	numbers := make([]int64, 0, len(batch))
	for group := range groups(batch) {
		first := last[group[0].key] - int64(len(group)) + 1
		for i := range group {
			numbers = append(numbers, first+int64(i))
		}
	}
	return numbers, nil
}

// options are those of the first member, whose document proves that the batch was committed. READ COMMITTED is enough: members do not
// read, and all their writes come after the counter row, whose lock serialises the transactions of a company and kind. At SERIALIZABLE
// every transaction that waited for this lock would be aborted and retried.
func (c *Committer) options(batch []*entry) []db.Option {
	opts := []db.Option{db.ReadCommitted()}
	if several(batch) {
		opts = append(opts, db.LockTimeout(c.cfg.Patience))
	}
	return append(opts, batch[0].opts...)
}

// begin makes the context of the transaction, independent of those of the members, so that one cannot cancel the others.
// It links the spans of the members and of the batch.
func (c *Committer) begin(batch []*entry) (context.Context, func()) {
	groupCommitSize.Observe(float64(len(batch)))
	if len(batch) == 1 {
		return context.WithTimeout(context.WithoutCancel(batch[0].ctx), txTimeout)
	}
	links := make([]trace.Link, len(batch))
	for i, e := range batch {
		links[i] = trace.LinkFromContext(e.ctx)
	}
	about := []attribute.KeyValue{attribute.Int("tradegrid.group_commit.size", len(batch))}
	if k := batch[0].key; !several(batch) {
		about = append(about, attribute.String("app.company.id", k.company.String()))
	}
	ctx, cancel := context.WithTimeout(context.Background(), txTimeout)
	if !several(batch) {
		ctx = tenant.With(ctx, batch[0].key.company)
	}
	ctx, span := otel.Tracer("tradegrid/numbering").Start(ctx, "group commit "+batch[0].key.kind, trace.WithLinks(links...), trace.WithAttributes(about...))
	for _, e := range batch {
		trace.SpanFromContext(e.ctx).AddLink(trace.Link{SpanContext: span.SpanContext()})
	}
	return ctx, func() {
		span.End()
		cancel()
	}
}

// store runs the member. A panic must not affect the other members or the queue.
func (e *entry) store(ctx context.Context, tx *db.Tx, number int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("store document: panic: %v", p)
		}
	}()
	defer e.meter.Measure()()
	return e.member(memberContext{Context: ctx, values: e.ctx}, tx, number) //nolint:contextcheck // it is made of both
}

// memberContext has the deadline of the transaction and the values of the caller, such as its trace.
type memberContext struct {
	context.Context //nolint:containedctx // it is a context
	values          context.Context
}

// Value implements [context.Context].
func (c memberContext) Value(k any) any { return c.values.Value(k) }
