package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// errReadsMore makes [DB.RunTx] start again at SERIALIZABLE.
var errReadsMore = errors.New("the transaction reads more than the record that it locked")

// Lock reads the record that this transaction changes; sql is SELECT … FOR UPDATE of one row of one table, by the key
// that args are, such as company and id. It is the first statement of the transaction.
//
// Concurrent changes of one record wait for each other and do not fail. Within this process they wait in
// [Tx.LockInProcess], without a connection, so a hot record does not exhaust the pool. Between processes they wait for
// the row lock at READ COMMITTED: Lock returns the current row, whereas at SERIALIZABLE PostgreSQL would abort every
// transaction that waited.
//
// That is safe as long as the transaction depends on this record alone, because nobody else can change it before
// COMMIT. As soon as fn reads anything else, or runs a statement that is not queued, the transaction starts again at
// SERIALIZABLE, which protects invariants over several rows. Two rules remain for fn: queued writes take their values
// from their arguments and the rows they change, not from other tables; and a transaction that writes anything also
// writes the locked record, so that concurrent SERIALIZABLE transactions see the conflict.
//
// On PostgreSQL one anomaly remains, and it takes three transactions: one that read the record before this change and is
// still running, and one that sees this change but not the changes of the first. Reads outside transactions, which run
// at REPEATABLE READ, can see the same.
func (t *Tx) Lock(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := t.lock(ctx, args); err != nil {
		return failedRows{err}
	}
	return t.tx.QueryRow(t.read(ctx, sql), sql, args...)
}

// LockBy is [Tx.Lock] by a write of the record, with RETURNING.
func (t *Tx) LockBy(ctx context.Context, w Write, args ...any) pgx.Row {
	t.run.note(w, args)
	if err := t.lock(ctx, args); err != nil {
		return failedRows{err}
	}
	return t.tx.QueryRow(t.declare(ctx, w), w.s.sql, args...)
}

// lock prepares for the statement that locks the record.
func (t *Tx) lock(ctx context.Context, key []any) error {
	if err := t.LockInProcess(ctx, "record", key...); err != nil {
		return err
	}
	if lazy, ok := t.tx.(*lazyTx); ok && !lazy.begun() && t.run.mayLower {
		lazy.iso, t.locked = pgx.ReadCommitted, true
	}
	return t.send(ctx)
}

// ReadsMore says, before [Tx.Lock], that the transaction will read more than the record that it locks. It begins at
// SERIALIZABLE then, which saves the round trips of starting again.
func (t *Tx) ReadsMore() { t.run.mayLower = false }

// LockInProcess waits until no other transaction of this process holds the key, and holds it until [DB.RunTx] returns,
// across all tries. Use it for transactions that change the same rows and would abort each other: they run one after
// the other, and wait without a connection. It is an optimisation only. Between processes the database alone ensures
// correctness.
//
// A key is the name of what the transactions share, such as "categories", and the values that identify it.
//
// Call it before the first statement. After that, and for a second key, it does nothing, because a wait while others
// wait for this transaction could be a deadlock.
func (t *Tx) LockInProcess(ctx context.Context, thing string, id ...any) error {
	lazy, ok := t.tx.(*lazyTx)
	if !ok || lazy.begun() || t.run.unlock != nil {
		return nil
	}
	unlock, err := t.run.locks.Lock(ctx, fmt.Sprint(thing, id))
	if err != nil {
		return fmt.Errorf("wait for other changes of the same record: %w", err)
	}
	t.run.unlock = unlock
	return nil
}

// LockInProcess waits until nothing else of this process holds the key, and holds it until unlock is called, for work of more than
// one transaction. Otherwise it is [Tx.LockInProcess], and like it an optimisation only.
func (d *DB) LockInProcess(ctx context.Context, thing string, id ...any) (unlock func(), err error) {
	if unlock, err = d.locks.Lock(ctx, fmt.Sprint(thing, id)); err != nil {
		return nil, fmt.Errorf("wait for other work on the same %s: %w", thing, err)
	}
	return unlock, nil
}
