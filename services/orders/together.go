package orders

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradegrid/tradegrid/pkg/db"
)

// readFunc reads something of one domain.
type readFunc func(ctx context.Context, q db.Querier) error

// together runs reads of several domains in as few round trips as the longest of them needs: what they ask for at
// the same time is sent as one batch. Each read may ask one thing after the other and must close its rows.
// Reads share one connection and, on the pool, one snapshot per batch. It returns the first error in their order.
func together(ctx context.Context, q db.Querier, reads ...readFunc) error {
	if len(reads) == 1 {
		return reads[0](ctx, q)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g := &gathering{on: q, events: make(chan *asked, len(reads))}
	errs := make([]error, len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() {
			defer func() { g.events <- nil }()
			errs[i] = read(ctx, g)
		})
	}
	g.serve(ctx, len(reads))
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// gathering is the Querier that the reads see. It takes queries only: anything else would need the connection
// that other reads are using.
type gathering struct {
	on     db.Querier
	events chan *asked // a query of a read, or nil for its end
}

// asked is a query that waits for its batch.
type asked struct {
	sql    string
	args   []any
	rows   chan pgx.Rows
	closed chan struct{}
}

// serve sends a batch whenever every read that is not over waits for one.
func (g *gathering) serve(ctx context.Context, running int) {
	var waiting []*asked
	for running > 0 {
		if a := <-g.events; a == nil {
			running--
		} else {
			waiting = append(waiting, a)
		}
		if running > 0 && len(waiting) == running {
			g.send(ctx, waiting)
			waiting = nil
		}
	}
}

func (g *gathering) send(ctx context.Context, all []*asked) {
	b := &pgx.Batch{}
	for _, a := range all {
		b.Queue(a.sql, a.args...)
	}
	res := g.on.SendBatch(ctx, b)
	for _, a := range all {
		rows, _ := res.Query() // the rows carry the error as well
		a.rows <- rows
		<-a.closed
	}
	_ = res.Close() // every error has reached its reader
}

// Query implements [db.Querier].
func (g *gathering) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	a := &asked{sql: sql, args: args, rows: make(chan pgx.Rows), closed: make(chan struct{})}
	g.events <- a
	rows := &gatheredRows{Rows: <-a.rows, closed: a.closed}
	if err := rows.Err(); err != nil {
		rows.Close()
		return rows, err
	}
	return rows, nil
}

// QueryRow implements [db.Querier].
func (g *gathering) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return gatheredRow{func() (pgx.Rows, error) { return g.Query(ctx, sql, args...) }}
}

// gatheredRows tells when they are closed, so that the next rows of the batch can be read.
type gatheredRows struct {
	pgx.Rows
	once   sync.Once
	closed chan struct{}
}

// Close implements [pgx.Rows].
func (r *gatheredRows) Close() {
	r.once.Do(func() {
		r.Rows.Close()
		close(r.closed)
	})
}

type gatheredRow struct{ query func() (pgx.Rows, error) }

// Scan implements [pgx.Row].
func (r gatheredRow) Scan(dest ...any) error {
	rows, err := r.query()
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	rows.Close()
	return rows.Err()
}

// Exec implements [db.Querier].
func (g *gathering) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	panic("orders: a read that runs together with others must not execute statements")
}

// SendBatch implements [db.Querier].
func (g *gathering) SendBatch(context.Context, *pgx.Batch) pgx.BatchResults {
	panic("orders: a read that runs together with others must not send batches")
}
