package list_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

// looks counts the statements that look for a text.
type looks struct{ n atomic.Int64 }

func (l *looks) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}
func (l *looks) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (l *looks) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (l *looks) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	l.n.Add(int64(strings.Count(data.SQL, " LIKE ")))
}
func (l *looks) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// watched is a shelf whose looks for a text are counted.
func watched(t *testing.T, cfg list.NodeConfig) (shelf, *looks) {
	t.Helper()
	watch := &looks{}
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.NewDatabase(t), MaxConns: 4, QueryTracer: watch})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	_, err = d.Exec(t.Context(), createBooks)
	require.NoError(t, err)
	s := shelf{kit{db: d}, list.NewNode(cfg), tenant.NewID(), bookList}
	s.spec.Permanent = true
	return s, watch
}

// A search that finds few records reads them with their number by one look into the index, wherever its page lies and however it is
// sorted; one that finds many knows it the next time.
func TestSearchesLookOnce(t *testing.T) {
	t.Parallel()
	s, watch := watched(t, list.NodeConfig{Limit: time.Minute})
	s.fill(t, 1400, time.Hour) // 200 of each title
	read := func(n *list.Node, p list.Params, sort string) ([]uuid.UUID, int64, int64) {
		p.PageSize = 30
		p.On(n, true)
		q, err := list.New(s.spec, s.company, p, sort)
		require.NoError(t, err)
		q.Search("b.search_text")
		before := watch.n.Load()
		page, err := list.Fetch(t.Context(), s.db, q, func(b *book) []any { return append([]any{&b.ID, &b.Title, &b.Pages}, b.Targets()...) })
		require.NoError(t, err)
		return ids(page), *page.Total, watch.n.Load() - before
	}
	for _, sort := range []string{"createdAt", "title", "pages", "price"} {
		for _, p := range []list.Params{{Search: "T3"}, {Search: "t3", Page: 2, Order: "desc"}, {Search: "t3", Page: 7}, {Search: "t9"}} {
			want, total, _ := read(nil, p, sort)
			got, found, looks := read(s.node, p, sort)
			require.Equal(t, want, got, "%s %+v", sort, p)
			require.Equal(t, total, found, "%s %+v", sort, p)
			require.EqualValues(t, 1, looks, "%s %+v", sort, p)
		}
	}
	past, total, looks := read(s.node, list.Params{Search: "t3", Page: 9}, "title")
	require.Empty(t, past)
	require.EqualValues(t, 200, total)
	require.Greater(t, looks, int64(1), "past the end, nothing tells how many there are")

	many := list.Params{Search: "t"}
	want, _, _ := read(nil, many, "title")
	for _, statements := range []int64{3, 2} {
		got, total, looks := read(s.node, many, "title")
		require.Equal(t, want, got)
		require.EqualValues(t, 1400, total)
		require.Equal(t, statements, looks, "a page and a total, once that is known")
	}
}

// The total of a search is counted as a whole, unless it finds very many records: each segment would look into the index of the text.
func TestTotalsOfSearchesAreCountedAsAWhole(t *testing.T) {
	t.Parallel()
	s, watch := watched(t, list.NodeConfig{Large: 35, Limit: time.Minute}) // 700 are very many
	s.fill(t, 1400, time.Hour)
	count := func(also ...string) (looks int64) {
		p := list.Params{PageSize: 1, Search: "t"}
		p.On(s.node, true)
		q, err := list.New(s.spec, s.company, p, "")
		require.NoError(t, err)
		q.Search("b.search_text")
		for _, c := range also {
			q.Where(c)
		}
		before := watch.n.Load()
		_, err = list.Fetch(t.Context(), s.db, q, func(b *book) []any { return append([]any{&b.ID, &b.Title, &b.Pages}, b.Targets()...) })
		require.NoError(t, err)
		return watch.n.Load() - before
	}
	for _, want := range []int64{3, 2, 2} {
		require.Equal(t, want, count("b.title < 't3'"), "600 of 1400: the page and the total, once it is known that they are many")
	}
	count()
	require.Greater(t, count(), int64(100), "1400: in segments")
}
