package db_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// statements remembers what was sent to the database, one entry per round trip.
type statements struct {
	mu   sync.Mutex
	sent [][]string
}

// TraceQueryStart implements [pgx.QueryTracer].
func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.add(data.SQL)
	return ctx
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart implements [pgx.BatchTracer].
func (s *statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	var trip []string
	for _, q := range data.Batch.QueuedQueries {
		trip = append(trip, q.SQL)
	}
	s.add(trip...)
	return ctx
}

// TraceBatchQuery implements [pgx.BatchTracer].
func (*statements) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements [pgx.BatchTracer].
func (*statements) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (s *statements) add(trip ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, trip)
}

// take gives the round trips since the last call.
func (s *statements) take() (sent [][]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent, s.sent = s.sent, nil
	return sent
}

// text is everything that was sent, in lower case.
func (s *statements) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, trip := range s.sent {
		all = append(all, trip...)
	}
	return strings.ToLower(strings.Join(all, "\n"))
}

func watched(t *testing.T, watch *statements, cfg db.Config) *db.DB {
	t.Helper()
	cfg.URL, cfg.MaxConns, cfg.QueryTracer = dbtest.URL(t), 2, watch
	d, err := db.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(d.Close)
	watch.take()
	return d
}

// The writes of a transaction travel together: with BEGIN where nothing was read before, with COMMIT unless their result decides about
// it. A change in the number of round trips is a change in the speed of every write.
func TestRoundTripsOfATransaction(t *testing.T) {
	t.Parallel()
	watch := &statements{}
	d := watched(t, watch, db.Config{})
	company := uuid.New()
	shapeOf := func(write func(tx *db.Tx), opts ...db.Option) (trips []int) {
		watch.take()
		require.NoError(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
			write(tx)
			return nil
		}, opts...))
		for _, trip := range watch.take() {
			trips = append(trips, len(trip))
		}
		return trips
	}
	shape := func(opts ...db.Option) []int {
		return shapeOf(func(tx *db.Tx) { tx.Queue(sqlTake, company); tx.Queue(sqlTake, company) }, opts...)
	}
	require.Equal(t, []int{5}, shape(), "BEGIN, two writes, the marker and COMMIT")
	require.Equal(t, []int{4}, shape(db.WithCommitCheck(counted(company))), "BEGIN, two writes and COMMIT")
	require.Equal(t, []int{4}, shape(db.Repeatable()), "BEGIN, two writes and COMMIT")
	require.Equal(t, []int{3}, shapeOf(func(tx *db.Tx) {
		id := tx.NewID()
		tx.ProvedBy(id, counted(id))
		tx.Queue(sqlTake, id)
	}), "BEGIN, a write that proves the commit, and COMMIT")
	require.Equal(t, []int{3, 1}, shapeOf(func(tx *db.Tx) { tx.Queue(sqlTake, company).Expect(1, nil) }), "BEGIN, a write that decides, and the marker; COMMIT")
	ignore := func(pgx.Rows) error { return nil }
	require.Equal(t, []int{3, 1}, shapeOf(func(tx *db.Tx) { tx.Queue(sqlTake, company).Rows(ignore) }), "BEGIN, a write whose rows decide, and the marker; COMMIT")
	require.Equal(t, []int{3}, shapeOf(func(tx *db.Tx) { tx.Queue(sqlTake, company).Rows(ignore) }, db.Repeatable()), "BEGIN, the write and COMMIT")
}
