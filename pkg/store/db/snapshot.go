package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
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

// snapshotSettings are the settings of the transaction.
func (d *DB) snapshotSettings(limit time.Duration) (set string) {
	if limit > 0 {
		set = fmt.Sprintf("set local statement_timeout = %d;", limit.Milliseconds())
	}
	if d.dialect == PostgreSQL {
		// A range of time is read by its index. Where companies write at different times, the estimate of one company's rows in a
		// range is far off, and a bitmap of all of its rows, such as that of the index for searching, looks cheaper.
		set += "set local enable_bitmapscan = off;"
	}
	return set
}

func (d *DB) readSnapshot(ctx context.Context, limit time.Duration, read func(q Querier) error) error {
	// The isolation is that of statements outside RunTx, which has one snapshot on either database.
	conn, err := d.acquire(ctx, tenant.Of(ctx))
	if err != nil {
		return err
	}
	defer conn.Release()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	if settings := d.snapshotSettings(limit); settings != "" {
		if _, err := tx.Exec(ctx, settings); err != nil {
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
