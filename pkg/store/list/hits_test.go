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

// A search that finds few records reads them with their number by one look into the index, wherever its page lies and however it is
// sorted; one that finds many knows it the next time.
func TestSearchesLookOnce(t *testing.T) {
	t.Parallel()
	watch := &looks{}
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.NewDatabase(t), MaxConns: 4, QueryTracer: watch})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	_, err = d.Exec(t.Context(), createBooks)
	require.NoError(t, err)
	s := shelf{kit{db: d}, list.NewNode(list.NodeConfig{Writes: d.WriteLog(), Limit: time.Minute}), tenant.NewID(), bookList}
	s.spec.Permanent = true
	s.fill(t, 1400, time.Hour) // 200 of each title
	read := func(n *list.Node, p list.Params, sort string) ([]uuid.UUID, int64, int64) {
		p.PageSize = 30
		p.On(n, true)
		q, err := list.New(s.spec, s.company, p, sort)
		require.NoError(t, err)
		q.Search("b.search_text")
		before := watch.n.Load()
		page, err := list.Fetch(t.Context(), d, q, func(b *book) []any { return append([]any{&b.ID, &b.Title, &b.Pages}, b.Targets()...) })
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
