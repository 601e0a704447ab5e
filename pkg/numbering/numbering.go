// Package numbering assigns gap-free numbers to documents: 1, 2, 3 … per company and kind. The number is taken in the
// transaction that stores the document, so a document that is not stored takes none.
//
// The counter row serialises these transactions. To store more than one document per commit, documents that arrive
// while a transaction is in flight are committed together in the next one (group commit).
package numbering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// Member stores one document with its number. It may run several times, possibly with different numbers; the last run
// counts. It must change nothing but the transaction and its own result, and only queue writes: reads would delay all
// documents of the company, so do them before.
type Member func(ctx context.Context, tx *db.Tx, number int64) error

// Config configures group commits. Only DB is required.
type Config struct {
	DB         *db.DB
	MaxBatch   int           // documents per transaction; default 64
	MaxWaiting int           // waiting documents per company and kind; default 1000
	Timeout    time.Duration // of one transaction including retries; default 25 s

	// Serializable raises the isolation level. The default, READ COMMITTED, is enough: members do not read, and all
	// their writes come after the counter row, whose lock serialises the transactions of a company and kind.
	// At SERIALIZABLE every transaction that waited for this lock would be aborted and retried.
	Serializable bool
}

// Committer commits the documents of all companies. Use one per process and database.
type Committer struct {
	cfg    Config
	mu     sync.Mutex
	queues map[key]*queue
}

type key struct {
	company tenant.ID
	kind    string
}

// queue holds the callers that wait for the transaction in flight; without one there is no queue.
type queue struct{ waiting []*entry }

// entry is one caller of [Committer.Do].
type entry struct {
	ctx    context.Context
	member Member
	opts   []db.Option
	done   chan error // of capacity 1
}

// New makes a committer.
func New(cfg Config) *Committer {
	if cfg.MaxBatch <= 0 {
		cfg.MaxBatch = 64
	}
	if cfg.MaxWaiting <= 0 {
		cfg.MaxWaiting = 1000
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 25 * time.Second
	}
	return &Committer{cfg: cfg, queues: map[key]*queue{}}
}

var errFull = fault.Unavailable(fault.QueueFull, 1, "too many documents of this company are waiting to be stored; nothing was stored, repeat the request after the time in Retry-After")

// Do stores one document with the next number of the company and kind. It returns when the document is committed or has
// failed; errors of other members do not affect it. A caller whose ctx ends while it waits leaves the queue; one whose
// transaction is running waits for the outcome. The commit check in opts is used if the document is committed alone.
func (c *Committer) Do(ctx context.Context, company tenant.ID, kind string, member Member, opts []db.Option) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("take a %s number: %w", kind, err)
	}
	k := key{company, kind}
	e := &entry{ctx: ctx, member: member, opts: opts, done: make(chan error, 1)}
	c.mu.Lock()
	q := c.queues[k]
	if q == nil {
		c.queues[k] = &queue{}
		c.mu.Unlock()
		c.run(k, []*entry{e}) //nolint:contextcheck // the batch takes its context from its members
		c.next(k)             //nolint:contextcheck // the next batch is not this caller's
		return <-e.done
	}
	if len(q.waiting) >= c.cfg.MaxWaiting {
		c.mu.Unlock()
		return errFull
	}
	q.waiting = append(q.waiting, e)
	c.mu.Unlock()
	return c.wait(k, e)
}

// next commits the waiting documents in the background, so that the first caller gets its answer immediately.
func (c *Committer) next(k key) {
	if batch := c.take(k); batch != nil {
		go func() {
			for ; batch != nil; batch = c.take(k) {
				c.run(k, batch)
			}
		}()
	}
}

// take removes the next batch from the queue; nil if it is empty, and then the queue is deleted.
func (c *Committer) take(k key) []*entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[k]
	if len(q.waiting) == 0 {
		delete(c.queues, k)
		return nil
	}
	n := min(len(q.waiting), c.cfg.MaxBatch)
	batch := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return batch
}

func (c *Committer) wait(k key, e *entry) error {
	select {
	case err := <-e.done:
		return err
	case <-e.ctx.Done():
	}
	if c.leave(k, e) {
		return fmt.Errorf("wait for a %s number: %w", k.kind, e.ctx.Err())
	}
	return <-e.done
}

// leave removes a waiting entry; false if its transaction has started.
func (c *Committer) leave(k key, e *entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[k]
	if q == nil {
		return false
	}
	i := slices.Index(q.waiting, e)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// run commits a batch and reports the outcome to every member. If one member fails, the batch is rolled back and run
// again in halves, until the failing member is alone and gets its error.
func (c *Committer) run(k key, batch []*entry) {
	memberFailed, err := c.commit(k, batch)
	if err != nil && memberFailed && len(batch) > 1 {
		half := len(batch) / 2
		c.run(k, batch[:half])
		c.run(k, batch[half:])
		return
	}
	for _, e := range batch {
		e.done <- err
	}
}

// commit runs one transaction for the batch. memberFailed means that a member or its writes failed, so that the others
// may succeed without it; any other error applies to all.
func (c *Committer) commit(k key, batch []*entry) (memberFailed bool, err error) {
	ctx, end := c.begin(k, batch)
	defer end()
	var inMembers bool
	err = c.cfg.DB.RunTx(ctx, "numbering."+k.kind, func(ctx context.Context, tx *db.Tx) error {
		inMembers = false
		last, err := Take(ctx, tx, k.company, k.kind, len(batch))
		if err != nil {
			return err
		}
		inMembers = true
		first := last - int64(len(batch)) + 1
		for i, e := range batch {
			if err := e.store(ctx, tx, first+int64(i)); err != nil {
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
	memberFailed = inMembers && !errors.Is(err, db.ErrBusy) && ctx.Err() == nil
	return memberFailed, err
}

// options leaves out the members' options for a batch of several, whose outcome is looked up by its marker row.
func (c *Committer) options(batch []*entry) []db.Option {
	var opts []db.Option
	if !c.cfg.Serializable {
		opts = append(opts, db.ReadCommitted())
	}
	if len(batch) == 1 {
		opts = append(opts, batch[0].opts...)
	}
	return opts
}

// begin makes the context of the transaction, independent of those of the members, so that one cannot cancel the others.
// It links the spans of the members and of the batch.
func (c *Committer) begin(k key, batch []*entry) (context.Context, func()) {
	groupCommitSize.Observe(float64(len(batch)))
	if len(batch) == 1 {
		return context.WithTimeout(context.WithoutCancel(batch[0].ctx), c.cfg.Timeout)
	}
	links := make([]trace.Link, len(batch))
	for i, e := range batch {
		links[i] = trace.LinkFromContext(e.ctx)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.Timeout)
	ctx, span := otel.Tracer("tradegrid/numbering").Start(ctx, "group commit "+k.kind, trace.WithLinks(links...),
		trace.WithAttributes(attribute.Int("tradegrid.group_commit.size", len(batch)), attribute.String("app.company.id", k.company.String())))
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
	return e.member(memberContext{Context: ctx, values: e.ctx}, tx, number) //nolint:contextcheck // it is made of both
}

// memberContext has the deadline of the transaction and the values of the caller, such as its trace.
type memberContext struct {
	context.Context //nolint:containedctx // it is a context
	values          context.Context
}

// Value implements [context.Context].
func (c memberContext) Value(k any) any { return c.values.Value(k) }
