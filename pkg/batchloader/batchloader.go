// Package batchloader runs reads of several domains in as few round trips to the database as the longest of them needs.
package batchloader

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradegrid/tradegrid/pkg/db"
)

// Read reads something of one domain. It may ask one thing after the other, and closes its rows.
type Read func(ctx context.Context, q db.Querier) error

// Load runs the reads: what they ask for at the same time is sent as one batch. They share one connection and, on the
// pool, one snapshot per batch. It returns the first error in the order of the reads.
func Load(ctx context.Context, q db.Querier, reads ...Read) error {
	switch len(reads) {
	case 0:
		return nil
	case 1:
		return reads[0](ctx, q)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &loader{on: q, events: make(chan *request, len(reads))}
	errs := make([]error, len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() {
			defer func() { l.events <- nil }()
			errs[i] = read(ctx, l)
		})
	}
	l.serve(ctx, len(reads))
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// loader is the Querier that the reads see. It takes queries and batches with callbacks only: a statement of
// its own would need the connection that other reads are using.
type loader struct {
	on     db.Querier
	events chan *request // what a read asks for, or nil for its end
}

// request is the queries of one read that wait for a round trip.
type request struct {
	queries []*pgx.QueuedQuery
	results chan pgx.BatchResults // the read takes its results from here when those before it are read
	done    chan struct{}
}

// serve makes a round trip whenever every read that is not over waits for one.
func (l *loader) serve(ctx context.Context, running int) {
	var waiting []*request
	for running > 0 {
		if r := <-l.events; r == nil {
			running--
		} else {
			waiting = append(waiting, r)
		}
		if running > 0 && len(waiting) == running {
			l.send(ctx, waiting)
			waiting = nil
		}
	}
}

func (l *loader) send(ctx context.Context, all []*request) {
	b := &pgx.Batch{}
	for _, r := range all {
		for _, q := range r.queries {
			b.Queue(q.SQL, q.Arguments...)
		}
	}
	res := l.on.SendBatch(ctx, b)
	for _, r := range all {
		r.results <- res
		<-r.done
	}
	_ = res.Close() // every error has reached its reader
}

// ask waits for the results of the queries; the caller reads all of them and closes done.
func (l *loader) ask(queries ...*pgx.QueuedQuery) (pgx.BatchResults, chan struct{}) {
	r := &request{queries: queries, results: make(chan pgx.BatchResults), done: make(chan struct{})}
	l.events <- r
	return <-r.results, r.done
}

// Query implements [db.Querier].
func (l *loader) Query(_ context.Context, sql string, args ...any) (pgx.Rows, error) {
	res, done := l.ask(&pgx.QueuedQuery{SQL: sql, Arguments: args})
	rows, err := res.Query()
	r := &loadedRows{Rows: rows, done: done}
	if err != nil {
		r.Close()
	}
	return r, err
}

// QueryRow implements [db.Querier].
func (l *loader) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return loadedRow{func() (pgx.Rows, error) { return l.Query(ctx, sql, args...) }}
}

// SendBatch implements [db.Querier] for batches whose queries have callbacks; they run when it is closed.
func (l *loader) SendBatch(_ context.Context, b *pgx.Batch) pgx.BatchResults {
	return loadedResults{l: l, queries: b.QueuedQueries}
}

// Exec implements [db.Querier].
func (l *loader) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, errOnlyReads
}

var errOnlyReads = errors.New("batchloader: a read may send queries, and batches whose queries have callbacks")

// loadedRows tells when they are closed, so that the results behind them can be read.
type loadedRows struct {
	pgx.Rows
	once sync.Once
	done chan struct{}
}

// Close implements [pgx.Rows].
func (r *loadedRows) Close() {
	r.once.Do(func() {
		r.Rows.Close()
		close(r.done)
	})
}

type loadedRow struct{ query func() (pgx.Rows, error) }

// Scan implements [pgx.Row].
func (r loadedRow) Scan(dest ...any) error {
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

// loadedResults are the results of a batch within the common one.
type loadedResults struct {
	l       *loader
	queries []*pgx.QueuedQuery
}

// Close implements [pgx.BatchResults]: it runs the callbacks and returns the first error.
func (r loadedResults) Close() error {
	res, done := r.l.ask(r.queries...)
	defer close(done)
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
func (loadedResults) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, errOnlyReads }

// Query implements [pgx.BatchResults].
func (loadedResults) Query() (pgx.Rows, error) { return nil, errOnlyReads }

// QueryRow implements [pgx.BatchResults].
func (loadedResults) QueryRow() pgx.Row {
	return loadedRow{func() (pgx.Rows, error) { return nil, errOnlyReads }}
}

// Tx implements [pgx.BatchResults]: the common batch begins no transaction.
func (loadedResults) Tx() pgx.Tx { return nil }
