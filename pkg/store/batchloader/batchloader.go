// Package batchloader batches the queries of concurrent reads: together they take as many round trips as the longest read.
package batchloader

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Read is a read of one domain. It may run several queries in sequence, and must close its rows.
type Read func(ctx context.Context, q db.Querier) error

// Load runs the reads concurrently and sends the queries that wait at the same time as one batch. The reads share one
// connection and, outside a transaction, one snapshot per batch. It returns the first error in the order of the reads.
//
// A read may call Load with reads of its own; their queries join the batches of the others.
func Load(ctx context.Context, q db.Querier, reads ...Read) error {
	switch len(reads) {
	case 0:
		return nil
	case 1:
		return reads[0](ctx, q)
	}
	if l, ok := q.(*loader); ok {
		return l.join(ctx, reads)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &loader{on: q, events: make(chan *request, len(reads)), meter: cputime.Current()}
	errs := make([]error, len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() {
			defer func() { l.events <- nil }()
			defer l.meter.Measure()()
			errs[i] = read(ctx, l)
		})
	}
	defer cputime.Wait()()
	l.serve(ctx, len(reads))
	wg.Wait()
	return first(errs)
}

// join runs reads in place of the read that calls it.
func (l *loader) join(ctx context.Context, reads []Read) error {
	l.events <- &request{more: len(reads) - 1}
	errs := make([]error, len(reads))
	var left atomic.Int64
	left.Store(int64(len(reads)))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() {
			defer func() {
				if left.Add(-1) > 0 { // the caller goes on in place of the last one
					l.events <- nil
				}
			}()
			defer l.meter.Measure()()
			errs[i] = read(ctx, l)
		})
	}
	defer cputime.Wait()()
	wg.Wait()
	return first(errs)
}

func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// loader is the Querier passed to the reads. It supports only queries, and batches with callbacks: anything else would
// need exclusive use of the shared connection.
type loader struct {
	on     db.Querier
	events chan *request // the queries of a read, the start of more reads, or nil when a read ends
	meter  *cputime.Meter
}

// request holds the queries of one read that wait for a round trip, or announces more reads.
type request struct {
	more    int
	queries []*pgx.QueuedQuery
	results chan pgx.BatchResults // receives the results once those of earlier requests are read
	done    chan struct{}
}

// serve makes a round trip whenever all running reads wait for one.
func (l *loader) serve(ctx context.Context, running int) {
	var waiting []*request
	for running > 0 {
		switch r := <-l.events; {
		case r == nil:
			running--
		case r.more > 0:
			running += r.more
		default:
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
	stop := l.meter.Measure()
	res := l.on.SendBatch(ctx, b)
	stop()
	for _, r := range all {
		r.results <- res
		<-r.done
	}
	_ = res.Close() // readers have received all errors
}

// ask waits for the results of the queries; the caller must read all of them and close done.
func (l *loader) ask(queries ...*pgx.QueuedQuery) (pgx.BatchResults, chan struct{}) {
	r := &request{queries: queries, results: make(chan pgx.BatchResults), done: make(chan struct{})}
	l.events <- r
	defer cputime.Wait()()
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

var errOnlyReads = errors.New("batchloader: unsupported call: a read may only run queries, and batches whose queries have callbacks")

// loadedRows signals when it is closed, so that the next results can be read.
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

// loadedResults are the results of a read's batch within the shared one.
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
			_, err = res.Exec() // the remaining results must still be read
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

// Tx implements [pgx.BatchResults]; the shared batch begins no transaction.
func (loadedResults) Tx() pgx.Tx { return nil }
