package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// snapshotTries is how often [DB.ReadSnapshot] begins again when the database asks for it.
const snapshotTries = 5

// ReadSnapshot runs reading statements on one snapshot, in as many round trips as read takes, and has the server end any that
// takes longer than the limit: [ErrTooLong]. 0 is the limit of all statements. read may run several times.
func (d *DB) ReadSnapshot(ctx context.Context, limit time.Duration, read func(q Querier) error) error {
	for try := 1; ; try++ {
		err := d.readSnapshot(ctx, limit, read)
		if err == nil || try == snapshotTries || sqlState(err) != codeSerialization || !pause(ctx, try, backoffBase) {
			return err
		}
	}
}

func (d *DB) readSnapshot(ctx context.Context, limit time.Duration, read func(q Querier) error) error {
	// The isolation is that of statements outside RunTx, which has one snapshot on either database.
	tx, err := d.pool.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	if limit > 0 {
		if _, err := tx.Exec(ctx, fmt.Sprintf("set local statement_timeout = %d", limit.Milliseconds())); err != nil {
			return err
		}
	}
	if err := read(tx); sqlState(err) == codeCancelled {
		return fmt.Errorf("%w: %w", ErrTooLong, err)
	} else if err != nil {
		return err
	}
	return nil
}
