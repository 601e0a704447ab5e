// Package numbering assigns gap-free numbers to documents: 1, 2, 3 … per company and kind. The number is taken in the
// transaction that stores the document, so a document that is not stored takes none.
//
// The counter row serialises these transactions. To store more than one document per commit, documents that arrive
// while a transaction is in flight are committed together in the next one (group commit): those of one company and kind
// everywhere, and on PostgreSQL those of several companies, too. See docs/architecture.md#group-commit.
package numbering

import (
	"context"
	"errors"
	"fmt"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/groupcommit"
)

// Member stores one document with its number. It may run several times, possibly with different numbers; the last run
// counts. It must change nothing but the transaction and its own result, and only queue writes: reads would delay all
// documents of the transaction, so do them before.
type Member func(ctx context.Context, tx *db.Tx, number int64) error

// Config configures group commits. Only DB is required.
type Config struct {
	DB    *db.DB
	Group groupcommit.Config
}

// Committer commits the documents of all companies. Use one per process and database.
type Committer struct {
	cfg   Config
	group *groupcommit.Group[document]
}

type (
	document struct {
		store Member
		opts  []db.Option
	}
	member = groupcommit.Member[document]
)

// New makes a committer.
func New(cfg Config) *Committer {
	c := &Committer{cfg: cfg}
	c.group = groupcommit.New(cfg.Group, c.commit)
	return c
}

// Do stores one document with the next number of the company and kind. It returns when the document is committed or has
// failed; errors of other members do not affect it. A caller whose ctx ends while it waits leaves the queue; one whose
// transaction is running waits for the outcome. opts says how to find the document, whose commit may be that of others.
func (c *Committer) Do(ctx context.Context, company tenant.ID, kind string, store Member, opts []db.Option) error {
	return c.group.Do(ctx, groupcommit.Key{Company: company, Kind: kind}, c.cfg.DB.CompaniesApart(), document{store, opts})
}

// DoReading is [Committer.Do] for a kind whose members cannot do without reads. Each is a round trip for all documents of the
// transaction, so these share it with others of their company only.
func (c *Committer) DoReading(ctx context.Context, company tenant.ID, kind string, store Member, opts []db.Option) error {
	return c.group.Do(ctx, groupcommit.Key{Company: company, Kind: kind}, true, document{store, opts})
}

// commit runs one transaction for the batch.
func (c *Committer) commit(ctx context.Context, batch []*member) (groupcommit.Outcome, error) {
	var inMembers bool
	err := c.cfg.DB.RunTx(ctx, "numbering."+batch[0].Key.Kind, func(ctx context.Context, tx *db.Tx) error {
		inMembers = false
		numbers, err := take(ctx, tx, batch)
		if err != nil {
			return err
		}
		inMembers = true
		for i, m := range batch {
			if err := store(ctx, tx, m, numbers[i]); err != nil {
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
	switch {
	case errors.Is(err, db.ErrLocked):
		return groupcommit.Locked, err
	case inMembers && err != nil && !errors.Is(err, db.ErrBusy) && !errors.Is(err, db.ErrOutcomeUnknown) && ctx.Err() == nil:
		return groupcommit.Failed, err
	}
	return groupcommit.Ended, err
}

// take takes a number for each member of the batch.
func take(ctx context.Context, tx *db.Tx, batch []*member) ([]int64, error) {
	last := map[groupcommit.Key]int64{}
	if groupcommit.Several(batch) {
		var companies []tenant.ID
		var kinds []string
		var counts []int64
		for of := range groupcommit.ByKey(batch) {
			companies, kinds, counts = append(companies, of[0].Key.Company), append(kinds, of[0].Key.Kind), append(counts, int64(len(of)))
		}
		var err error
		if last, err = takeAll(ctx, tx, companies, kinds, counts); err != nil {
			return nil, err
		}
	} else {
		k := batch[0].Key
		n, err := Take(ctx, tx, k.Company, k.Kind, len(batch))
		if err != nil {
			return nil, err
		}
		last[k] = n
	}
	numbers := make([]int64, 0, len(batch))
	for of := range groupcommit.ByKey(batch) {
		first := last[of[0].Key] - int64(len(of)) + 1
		for i := range of {
			numbers = append(numbers, first+int64(i))
		}
	}
	return numbers, nil
}

// options are those of the first member, whose document proves that the batch was committed. READ COMMITTED is enough: members do not
// read, and all their writes come after the counter row, whose lock serialises the transactions of a company and kind. At SERIALIZABLE
// every transaction that waited for this lock would be aborted and retried.
func (c *Committer) options(batch []*member) []db.Option {
	opts := []db.Option{db.ReadCommitted()}
	if groupcommit.Several(batch) {
		opts = append(opts, db.LockTimeout(c.group.Patience()))
	}
	return append(opts, batch[0].What.opts...)
}

// store runs the member. A panic must not affect the other members or the queue.
func store(ctx context.Context, tx *db.Tx, m *member, number int64) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("store document: panic: %v", p)
		}
	}()
	defer m.Measure()()
	return m.What.store(memberContext{Context: ctx, values: m.Ctx}, tx, number) //nolint:contextcheck // it is made of both
}

// memberContext has the deadline of the transaction and the values of the caller, such as its trace.
type memberContext struct {
	context.Context //nolint:containedctx // it is a context
	values          context.Context
}

// Value implements [context.Context].
func (c memberContext) Value(k any) any { return c.values.Value(k) }
