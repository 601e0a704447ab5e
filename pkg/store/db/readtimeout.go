package db

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// ErrTooLong is the error of a statement that the server ended at its limit; see [DB.ReadWithTimeout].
var ErrTooLong = errors.New("the statement took too long")

// Plan is how PostgreSQL plans the statements of a read. CockroachDB has its own ways.
type Plan int

const (
	// PlanForValues plans each statement anew for its values. What a filter leaves differs from value to value: a plan for any value
	// may read a company to find one record (BenchmarkFind).
	PlanForValues Plan = iota
	// PlanInOrder lets the server keep a plan, which costs as much as the read of a short page. The statement has no condition but its
	// company, and is read by the index that has its order. A kept plan is made for a company of average size, for which that index
	// and sorting after another one cost the same: hence no sorts.
	PlanInOrder
)

var planSettings = map[Plan]string{
	PlanForValues: "set local plan_cache_mode = force_custom_plan",
	PlanInOrder:   "set local enable_sort = off",
}

// ReadWithTimeout runs reading statements outside a transaction in one round trip and on one snapshot, like [DB.SendBatch],
// and has the server end any that takes longer than the limit. The statements need callbacks for their results.
func (d *DB) ReadWithTimeout(ctx context.Context, limit time.Duration, p Plan, b *pgx.Batch) error {
	conn, err := d.acquire(ctx, tenant.Of(ctx))
	if err != nil {
		return err
	}
	defer conn.Release()
	all := &pgx.Batch{}
	all.Queue("begin read only")
	all.Queue(fmt.Sprintf("set local statement_timeout = %d", limit.Milliseconds()))
	if d.dialect == PostgreSQL {
		all.Queue(planSettings[p])
	}
	all.QueuedQueries = append(all.QueuedQueries, b.QueuedQueries...)
	all.Queue("commit")
	err = conn.SendBatch(ctx, all).Close()
	if err == nil {
		return nil
	}
	if !conn.Conn().IsClosed() {
		_, _ = conn.Exec(ctx, "rollback") // otherwise the pool would close the connection
	}
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) && pg.Code == codeCancelled {
		return fmt.Errorf("%w: %w", ErrTooLong, err)
	}
	return err
}
