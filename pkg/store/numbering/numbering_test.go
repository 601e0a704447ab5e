package numbering_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/groupcommit"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

const sqlCreateDocuments = `CREATE TABLE IF NOT EXISTS test_documents (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    name       TEXT,
    number     BIGINT NOT NULL,
    CONSTRAINT test_documents_pkey PRIMARY KEY (company_id, id)
)`

const sqlCreateDocumentsKey = `CREATE UNIQUE INDEX IF NOT EXISTS test_documents_name_key ON test_documents (company_id, name) WHERE name IS NOT NULL`

var sqlInsertDocument = db.Table("test_documents").Insert(`(company_id, id, name, number) VALUES ($1, $2, $3, $4)`)

const sqlSelectDocuments = `SELECT number FROM test_documents WHERE company_id = $1 ORDER BY number`

var errNameTaken = apierr.StateConflict("NAME_TAKEN", "the name is taken")

var createOnce sync.Once //nolint:gochecknoglobals // the tests of a process share one database

func setup(t testing.TB) *db.DB {
	t.Helper()
	d := dbtest.Open(t)
	createOnce.Do(func() { createDocuments(t, d) })
	return d
}

func createDocuments(t testing.TB, d *db.DB) {
	t.Helper()
	for _, sql := range []string{sqlCreateDocuments, sqlCreateDocumentsKey} {
		_, err := d.Exec(context.Background(), sql)
		require.NoError(t, err)
	}
}

// document is a member that stores a row; name is unique in the company unless nil.
func document(company tenant.ID, name *string, got *int64) numbering.Member {
	return documentOf(company, uuid.Must(uuid.NewV7()), name, got)
}

func documentOf(company tenant.ID, id uuid.UUID, name *string, got *int64) numbering.Member {
	return func(_ context.Context, tx *db.Tx, number int64) error {
		*got = number
		tx.Queue(sqlInsertDocument, company, id, name, number).OnConstraint("test_documents_name_key", errNameTaken)
		return nil
	}
}

const sqlDocumentStored = `SELECT EXISTS (SELECT 1 FROM test_documents WHERE company_id = $1 AND id = $2)`

// provedBy are options that look for a document after a commit without an answer.
func provedBy(company tenant.ID, id uuid.UUID) []db.Option {
	return []db.Option{db.WithCommitCheck(func(ctx context.Context, q db.Querier) (stored bool, err error) {
		err = q.QueryRow(ctx, sqlDocumentStored, company, id).Scan(&stored)
		return stored, err
	})}
}

func numbers(t require.TestingT, d *db.DB, company tenant.ID) []int64 {
	rows, err := d.Query(context.Background(), sqlSelectDocuments, company)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(t, err)
	return all
}

func upTo(n int) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = int64(i) + 1
	}
	return all
}

const (
	waitTime = 10 * time.Second
	tick     = time.Millisecond
)

var errRefused = errors.New("the member refuses")

// TestNumbersHaveNoGaps lets members fail in their code and in their writes, and transactions at every point.
func TestNumbersHaveNoGaps(t *testing.T) {
	t.Parallel()
	setup(t)
	cfg := db.Config{URL: dbtest.URL(t), MaxConns: 8, Inject: db.Chaos(0.2, 0)}
	chaotic, err := db.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(chaotic.Close)
	c := numbering.New(numbering.Config{DB: chaotic, Group: groupcommit.Config{MaxBatch: 7, MaxRunning: 2, Patience: 20 * time.Millisecond}})
	rapid.Check(t, func(rt *rapid.T) {
		kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"good", "good", "good", "refuses", "twin", "panics"}), 1, 20).Draw(rt, "members")
		companies := make([]tenant.ID, rapid.IntRange(1, 5).Draw(rt, "companies"))
		for i := range companies {
			companies[i] = tenant.NewID()
		}
		checkNumbers(rt, chaotic, c, companies, kinds, rapid.Bool().Draw(rt, "proved"))
	})
}

// checkNumbers has the companies store documents in turns, all at once; a commit without an answer is proved by a document or by a marker.
func checkNumbers(rt *rapid.T, d *db.DB, c *numbering.Committer, companies []tenant.ID, kinds []string, proved bool) {
	errs, got := make([]error, len(kinds)), make([]int64, len(kinds))
	var wg sync.WaitGroup
	for i, kind := range kinds {
		company := companies[i%len(companies)]
		wg.Go(func() {
			var name *string
			if kind == "twin" {
				name = new("the same")
			}
			id := uuid.Must(uuid.NewV7())
			member := documentOf(company, id, name, &got[i])
			var opts []db.Option
			if proved {
				opts = provedBy(company, id)
			}
			errs[i] = c.Do(context.Background(), company, "document", func(ctx context.Context, tx *db.Tx, n int64) error {
				switch kind {
				case "refuses":
					return errRefused
				case "panics":
					panic("a mistake")
				}
				return member(ctx, tx, n)
			}, opts)
		})
	}
	wg.Wait()
	stored, twins := map[tenant.ID][]int64{}, map[tenant.ID]int{}
	for i, kind := range kinds {
		company := companies[i%len(companies)]
		if errs[i] == nil {
			stored[company] = append(stored[company], got[i])
		}
		switch {
		case errors.Is(errs[i], db.ErrBusy): // chaos may win; then nothing was stored
		case kind == "good":
			require.NoError(rt, errs[i])
		case kind == "refuses":
			require.ErrorIs(rt, errs[i], errRefused)
		case kind == "panics":
			require.ErrorContains(rt, errs[i], "a mistake")
		case errs[i] == nil:
			twins[company]++
		default:
			require.ErrorIs(rt, errs[i], errNameTaken)
		}
	}
	for _, company := range companies {
		require.LessOrEqual(rt, twins[company], 1, "one of the documents with the same name is stored")
		slices.Sort(stored[company])
		require.Equal(rt, upTo(len(stored[company])), append([]int64{}, stored[company]...), "every caller got a number of its own")
		require.ElementsMatch(rt, stored[company], numbers(rt, d, company), "the stored documents are those that were reported")
	}
}

// do takes a number for a member.
func do(ctx context.Context, c *numbering.Committer, company tenant.ID, member numbering.Member) error {
	return c.Do(ctx, company, "document", member, nil)
}

// blocked makes a committer whose first transaction is in flight until release is called.
func blocked(t *testing.T, d *db.DB, company tenant.ID, cfg groupcommit.Config) (c *numbering.Committer, release func()) {
	t.Helper()
	c = numbering.New(numbering.Config{DB: d, Group: cfg})
	entered, gate, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var once sync.Once
	var n int64
	member := document(company, nil, &n)
	go func() {
		done <- do(context.Background(), c, company, func(ctx context.Context, tx *db.Tx, number int64) error {
			once.Do(func() { close(entered) })
			<-gate
			return member(ctx, tx, number)
		})
	}()
	<-entered
	return c, func() {
		close(gate)
		require.NoError(t, <-done)
	}
}

func TestBatchIsOneTransactionInOrder(t *testing.T) {
	t.Parallel()
	d, company := setup(t), tenant.NewID()
	c, release := blocked(t, d, company, groupcommit.Config{})
	var txs sync.Map
	got := make([]int64, 10)
	errs := make(chan error, len(got))
	for i := range got {
		member := document(company, nil, &got[i])
		go func() {
			errs <- do(t.Context(), c, company, func(ctx context.Context, tx *db.Tx, n int64) error {
				txs.Store(i, tx) // the last try counts
				return member(ctx, tx, n)
			})
		}()
	}
	require.Eventually(t, func() bool { return numbering.Waiting(c, company, "document") == len(got) }, waitTime, tick)
	release()
	for range got {
		require.NoError(t, <-errs)
	}
	seen := map[any]bool{}
	txs.Range(func(_, tx any) bool { seen[tx] = true; return true })
	require.Len(t, seen, 1, "all that waited were stored by one transaction")
	require.Equal(t, upTo(11), numbers(t, d, company))
}

func TestFullQueueRefuses(t *testing.T) {
	t.Parallel()
	d, company := setup(t), tenant.NewID()
	c, release := blocked(t, d, company, groupcommit.Config{MaxWaiting: 1})
	done := make(chan error, 1)
	var n, m int64
	go func() { done <- do(t.Context(), c, company, document(company, nil, &n)) }()
	require.Eventually(t, func() bool { return numbering.Waiting(c, company, "document") == 1 }, waitTime, tick)
	err := c.Do(t.Context(), company, "document", document(company, nil, &m), nil)
	f, ok := apierr.As(err)
	require.True(t, ok)
	require.Equal(t, 503, f.Status)
	require.Positive(t, f.RetryAfter)
	release()
	require.NoError(t, <-done)
	require.Equal(t, upTo(2), numbers(t, d, company))
}

func TestCallerWhoseTimeEndsLeavesTheQueue(t *testing.T) {
	t.Parallel()
	d, company := setup(t), tenant.NewID()
	c, release := blocked(t, d, company, groupcommit.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	var n int64
	go func() { done <- c.Do(ctx, company, "document", document(company, nil, &n), nil) }()
	require.Eventually(t, func() bool { return numbering.Waiting(c, company, "document") == 1 }, waitTime, tick)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	release()
	require.Equal(t, upTo(1), numbers(t, d, company))
	require.Eventually(t, func() bool { return numbering.Waiting(c, company, "document") == -1 }, waitTime, tick)
}

func TestMemberKeepsItsTrace(t *testing.T) {
	t.Parallel()
	d, company := setup(t), tenant.NewID()
	c, release := blocked(t, d, company, groupcommit.Config{})
	errs := make(chan error, 2)
	for i := range 2 {
		sc := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{byte(i + 1)}, SpanID: trace.SpanID{1}})
		var n int64
		member := document(company, nil, &n)
		go func() {
			errs <- do(trace.ContextWithSpanContext(t.Context(), sc), c, company, func(ctx context.Context, tx *db.Tx, n int64) error {
				if got := trace.SpanContextFromContext(ctx).TraceID(); got != sc.TraceID() {
					return fmt.Errorf("trace %s in place of %s", got, sc.TraceID())
				}
				return member(ctx, tx, n)
			})
		}()
	}
	require.Eventually(t, func() bool { return numbering.Waiting(c, company, "document") == 2 }, waitTime, tick)
	release()
	require.NoError(t, <-errs)
	require.NoError(t, <-errs)
}

func BenchmarkOneCompany(b *testing.B) {
	d, company := setup(b), tenant.NewID()
	c := numbering.New(numbering.Config{DB: d})
	b.SetParallelism(32)
	b.ResetTimer() // the server of the database has started
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			var n int64
			require.NoError(b, c.Do(b.Context(), company, "document", document(company, nil, &n), nil))
		}
	})
	b.StopTimer()
	require.Equal(b, upTo(b.N), numbers(b, d, company), "every document that was counted is stored")
}
