package db

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/groupcommit"
)

// Limits of transactions that share one with others.
const (
	maxCreates     = 16       // of one transaction, whose rows of a table are one statement
	maxCreateBytes = 64 << 10 // of one that shares; a larger one would keep the others waiting
)

// create is a try of a transaction that has read nothing and has only new rows to insert.
type create struct {
	tx     *Tx
	iso    pgx.TxIsoLevel
	finish func() error // commits it alone
}

// newCreates returns the group in which creates share transactions; patience is that of [groupcommit.Config].
func (d *DB) newCreates(patience time.Duration) *groupcommit.Group[create] {
	return groupcommit.New(groupcommit.Config{MaxBatch: maxCreates, PerKey: 4, Patience: patience}, d.commitCreates)
}

// CompaniesApart reports whether transactions of several companies cost more than one of each: on CockroachDB, where their rows are
// in several ranges, and maybe regions.
func (d *DB) CompaniesApart() bool { return d.dialect == CockroachDB }

// share commits a try of a company that may share its transaction: the rows follow from nothing that another could change, and one of
// them proves the commit. It reports false if the try has to go on by itself.
func (d *DB) share(ctx context.Context, lazy *lazyTx, tx *Tx, o txOptions, finish func() error) (shared bool, err error) {
	company := tenant.Of(ctx)
	if o.alone || company.IsZero() || lazy.begun() || tx.run.check == nil || o.async || o.lockTimeout > 0 || tx.run.unlock != nil || !tx.creates() {
		return false, nil
	}
	return true, d.creates.Do(ctx, groupcommit.Key{Company: company}, d.CompaniesApart(), create{tx, o.iso, finish})
}

// creates reports whether nothing but new rows is queued, and not too much.
func (t *Tx) creates() bool {
	bytes := 0
	for _, q := range t.queue {
		if !q.joinable() || q.write.insert.params == 0 {
			return false
		}
		for _, arg := range q.args {
			switch v := arg.(type) {
			case string:
				bytes += len(v)
			case []byte:
				bytes += len(v)
			}
		}
	}
	return len(t.queue) > 0 && bytes <= maxCreateBytes
}

// commitCreates commits a batch. Its rows are the last thing that is done, so an error that is not about the commit is a member's.
func (d *DB) commitCreates(ctx context.Context, batch []*groupcommit.Member[create]) (groupcommit.Outcome, error) {
	first := batch[0].What
	if len(batch) == 1 {
		err := first.finish()
		var unknown *unknownOutcome
		if err == nil || errors.As(err, &unknown) || retryable(err) {
			return groupcommit.Ended, err
		}
		return groupcommit.Failed, err
	}
	opts := []Option{WithCommitCheck(first.tx.run.check), func(o *txOptions) { o.alone = true }}
	if !slices.ContainsFunc(batch, func(m *groupcommit.Member[create]) bool { return m.What.iso != pgx.ReadCommitted }) {
		opts = append(opts, ReadCommitted())
	}
	if groupcommit.Several(batch) {
		opts = append(opts, LockTimeout(d.creates.Patience()))
	}
	err := d.RunTx(ctx, "db.create", func(_ context.Context, tx *Tx) error {
		for _, m := range batch {
			tx.queue = append(tx.queue, m.What.tx.queue...)
		}
		return nil
	}, opts...)
	switch {
	case errors.Is(err, ErrLocked):
		return groupcommit.Locked, err
	case err == nil || errors.Is(err, ErrBusy) || errors.Is(err, ErrOutcomeUnknown) || ctx.Err() != nil:
		return groupcommit.Ended, err
	}
	return groupcommit.Failed, err
}
