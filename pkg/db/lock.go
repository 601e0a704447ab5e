package db

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// errReadsMore makes [DB.RunTx] start again at SERIALIZABLE.
var errReadsMore = errors.New("the transaction reads more than the record that it has locked")

// Lock reads the record that this transaction changes; sql is SELECT … FOR UPDATE of one row of one table, by the key
// that args are, such as company and id. It is the first statement of the transaction.
//
// Changes of one record wait for each other and are not refused. In this process they wait without a connection, as
// [Tx.LockInProcess] says, so that a busy record does not use up the pool. Between processes they wait for the row lock,
// at READ COMMITTED: the row that Lock returns is current, and at SERIALIZABLE PostgreSQL would refuse everyone who
// waited.
//
// That is safe as long as the transaction decides by this record alone, because nobody else can change it before the
// commit. As soon as fn reads anything else, or runs a statement that is not queued, the transaction starts again
// at SERIALIZABLE, so that references, sums and neighbours are protected as ever. Two rules remain for fn:
// queued writes take their values from their arguments and the rows they change, not from other tables; and a
// transaction that stores anything stores the locked record as well, which is how others see the conflict.
func (t *Tx) Lock(ctx context.Context, sql string, args ...any) pgx.Row {
	if err := t.LockInProcess(ctx, keyOf(args)); err != nil {
		return failedRows{err}
	}
	if late, ok := t.tx.(*lateTx); ok && !late.begun() && t.run.mayLower {
		late.iso, t.locked = pgx.ReadCommitted, true
	}
	if err := t.send(ctx); err != nil {
		return failedRows{err}
	}
	return t.tx.QueryRow(ctx, sql, args...)
}

// LockInProcess waits until no other transaction of this process holds the key, and holds it until [DB.RunTx] returns,
// through all tries. It saves the database work that it would refuse: transactions that change the same rows go one
// after the other, and wait without a connection. Other processes are kept apart by the database alone, so what is
// right must not depend on it.
//
// It goes before the first statement: after that, and for a second key, it does nothing, because waiting while
// others wait for this transaction could last for ever.
func (t *Tx) LockInProcess(ctx context.Context, key string) error {
	late, ok := t.tx.(*lateTx)
	if !ok || late.begun() || t.run.unlock != nil {
		return nil
	}
	unlock, err := t.run.locks.Lock(ctx, key)
	if err != nil {
		return fmt.Errorf("wait for other changes of the same record: %w", err)
	}
	t.run.unlock = unlock
	return nil
}

// keyOf tells records apart by the arguments that name them.
func keyOf(args []any) string { return fmt.Sprint(args) }
