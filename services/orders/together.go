package orders

import (
	"context"
	"errors"
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

// gathering is the Querier that the reads see. It takes queries and batches with callbacks only: a statement of
// its own would need the connection that other reads are using.
type gathering struct {
	on     db.Querier
	events chan *asked // what a read asks for, or nil for its end
}

// asked is the queries of one read that wait for a round trip.
type asked struct {
	queries []*pgx.QueuedQuery
	turn    chan pgx.BatchResults // the read takes its results from here when those before it are read
	over    chan struct{}
}

// serve makes a round trip whenever every read that is not over waits for one.
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
		for _, q := range a.queries {
			b.Queue(q.SQL, q.Arguments...)
		}
	}
	res := g.on.SendBatch(ctx, b)
	for _, a := range all {
		a.turn <- res
		<-a.over
	}
	_ = res.Close() // every error has reached its reader
}

// ask waits for the results of the queries; the caller reads all of them and closes over.
func (g *gathering) ask(queries ...*pgx.QueuedQuery) (pgx.BatchResults, chan struct{}) {
	a := &asked{queries: queries, turn: make(chan pgx.BatchResults), over: make(chan struct{})}
	g.events <- a
	return <-a.turn, a.over
}

// Query implements [db.Querier].
func (g *gathering) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	res, over := g.ask(&pgx.QueuedQuery{SQL: sql, Arguments: args})
	rows, err := res.Query()
	r := &gatheredRows{Rows: rows, over: over}
	if err != nil {
		r.Close()
	}
	return r, err
}

// QueryRow implements [db.Querier].
func (g *gathering) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return gatheredRow{func() (pgx.Rows, error) { return g.Query(ctx, sql, args...) }}
}

// SendBatch implements [db.Querier] for batches whose queries have callbacks; they run when it is closed.
func (g *gathering) SendBatch(_ context.Context, b *pgx.Batch) pgx.BatchResults {
	return gatheredResults{g: g, queries: b.QueuedQueries}
}

// Exec implements [db.Querier].
func (g *gathering) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, errOnlyReads
}

var errOnlyReads = errors.New("orders: what is read together with other things takes queries, and batches with callbacks, only")

// gatheredRows tells when they are closed, so that the results behind them can be read.
type gatheredRows struct {
	pgx.Rows
	once sync.Once
	over chan struct{}
}

// Close implements [pgx.Rows].
func (r *gatheredRows) Close() {
	r.once.Do(func() {
		r.Rows.Close()
		close(r.over)
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

// gatheredResults are the results of a batch within the common one.
type gatheredResults struct {
	g       *gathering
	queries []*pgx.QueuedQuery
}

// Close implements [pgx.BatchResults]: it runs the callbacks and returns the first error.
func (r gatheredResults) Close() error {
	res, over := r.g.ask(r.queries...)
	defer close(over)
	var first error
	for _, q := range r.queries {
		var err error
		if q.Fn == nil || first != nil {
			_, err = res.Exec() // the results behind it still have to be reached
		} else {
			err = q.Fn(res)
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// Exec implements [pgx.BatchResults].
func (gatheredResults) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, errOnlyReads }

// Query implements [pgx.BatchResults].
func (gatheredResults) Query() (pgx.Rows, error) { return nil, errOnlyReads }

// QueryRow implements [pgx.BatchResults].
func (gatheredResults) QueryRow() pgx.Row {
	return gatheredRow{func() (pgx.Rows, error) { return nil, errOnlyReads }}
}

// Tx implements [pgx.BatchResults]: the common batch begins no transaction.
func (gatheredResults) Tx() pgx.Tx { return nil }
