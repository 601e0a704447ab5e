package list_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func (f kit) read(t *testing.T, n *list.Node, company tenant.ID, p list.Params, sort string, conditions ...string) (*list.Page[book], error) {
	t.Helper()
	p.PageSize = cmp.Or(p.PageSize, 5)
	p.On(n, false)
	q, err := list.New(bookList, company, p, sort)
	require.NoError(t, err)
	for _, c := range conditions {
		q.Where(c)
	}
	return list.Fetch(t.Context(), f.db, q, func(b *book) []any { return append([]any{&b.ID, &b.Title, &b.Pages}, b.Targets()...) })
}

func ids(p *list.Page[book]) []uuid.UUID {
	all := make([]uuid.UUID, len(p.Items))
	for i, b := range p.Items {
		all[i] = b.ID
	}
	return all
}

// Pages that are sought from a known key, in any order of reading, are those that are found by counting.
func TestSoughtPagesAreTheSame(t *testing.T) {
	t.Parallel()
	f := setup(t)
	company := tenant.NewID()
	for i := range 60 {
		b := book{Title: fmt.Sprint("t", i%7), price: float64(i % 5)}
		if i%3 > 0 {
			pages := int64(i % 11)
			b.Pages = &pages
		}
		f.add(t, company, b)
	}
	for _, sort := range []string{"title", "pages", "price", "createdAt"} {
		for _, order := range []string{"asc", "desc"} {
			node, label := list.NewNode(list.NodeConfig{Skip: 3}), sort+" "+order
			numbers := rand.Perm(14)
			numbers = append(numbers, 11, 12, 13) // known by now
			for _, i := range numbers {
				p := list.Params{Page: i + 1, Order: order}
				want, err := f.read(t, nil, company, p, sort)
				require.NoError(t, err, label)
				got, err := f.read(t, node, company, p, sort)
				require.NoError(t, err, label)
				require.Equal(t, ids(want), ids(got), "%s, page %d of %v", label, i+1, numbers)
				require.EqualValues(t, 60, *got.Total, label)
				require.Equal(t, want.NextCursor, got.NextCursor, label)
			}
		}
	}
}

// What a process remembers of a deep page is not used after a write of the company.
func TestSoughtPagesSeeOwnWrites(t *testing.T) {
	t.Parallel()
	f, company := setup(t), tenant.NewID()
	node := list.NewNode(list.NodeConfig{Writes: f.db.WriteLog(), Skip: 3})
	for i := range 30 {
		f.add(t, company, book{Title: fmt.Sprintf("m%02d", i)})
	}
	second := func() []string {
		page, err := f.read(t, node, company, list.Params{Page: 3}, "title")
		require.NoError(t, err)
		titles := make([]string, len(page.Items))
		for i, b := range page.Items {
			titles[i] = b.Title
		}
		return titles
	}
	require.Equal(t, "m10", second()[0])
	f.add(t, company, book{Title: "a"})
	require.Equal(t, "m10", second()[0], "another process wrote it: the page still follows the one before")
	f.db.WriteLog().Add(company, "books")
	require.Equal(t, "m09", second()[0])
}

// A list that takes longer than the limit is ended by the server, and refused at once when it is asked for again.
func TestExpensiveListsAreRefused(t *testing.T) {
	t.Parallel()
	f, node, company := setup(t), list.NewNode(list.NodeConfig{Limit: 100 * time.Millisecond}), tenant.NewID()
	for i := range 8 {
		f.add(t, company, book{Title: fmt.Sprint(i)})
	}
	const slow = "pg_sleep(20) IS NOT NULL"
	for what, row := range map[string]struct {
		params     list.Params
		conditions []string
	}{
		"a slow page":  {list.Params{}, []string{slow}},
		"a slow count": {list.Params{}, []string{"(b.title < '6' OR " + slow + ")"}}, // the page ends before it
	} {
		start := time.Now()
		_, err := f.read(t, node, company, row.params, "title", row.conditions...)
		require.True(t, apierr.Is(err, list.TooExpensive), "%s: %v", what, err)
		fault, _ := apierr.As(err)
		require.Equal(t, 503, fault.Status)
		require.Positive(t, fault.RetryAfter)
		require.Less(t, time.Since(start), 15*time.Second, what)
		_, err = f.read(t, node, company, row.params, "title", row.conditions...)
		require.True(t, apierr.Is(err, list.TooExpensive), "%s: %v", what, err)
	}
	page, err := f.read(t, node, company, list.Params{}, "title")
	require.NoError(t, err, "other lists go on, on connections that are in order")
	require.EqualValues(t, 8, *page.Total)
	require.Zero(t, f.db.Pool().Stat().AcquiredConns())
}

type shelfFilter struct {
	list.Params
	Sort string `query:"sort" enum:"title"`
}

type newBook struct {
	Title string `json:"title" required:"true"`
}

// Over the API, a total shows what this process has answered before, and what others wrote within five seconds or with
// Cache-Control: no-cache.
func TestTotalsOverTheAPI(t *testing.T) {
	t.Parallel()
	f := setup(t)
	routes := func(api *httpapi.API) {
		group := httpapi.Group{Tag: "Books", Scope: "catalog", Component: "catalog"}.On(api, f.db)
		httpapi.List(group, "/shelf", "listShelf", "List", func(ctx context.Context, by access.Caller, s shelfFilter) (*list.Page[book], error) {
			q, err := list.New(bookList, by.Company, s.Params, s.Sort)
			if err != nil {
				return nil, err
			}
			return list.Fetch(ctx, f.db, q, func(b *book) []any { return append([]any{&b.ID, &b.Title, &b.Pages}, b.Targets()...) })
		})
		httpapi.Create(group, "/shelf", "addToShelf", "Add", func(_ context.Context, tx *db.Tx, by access.Caller, in newBook) (book, error) {
			b := newBookOf(in.Title)
			tx.Queue(sqlInsertBook, b.args(by.Company)...)
			return b, nil
		}, httpapi.NoURL)
	}
	node := list.NewNode(list.NodeConfig{Writes: f.db.WriteLog()})
	s := apitest.NewWith(t, f.db, func(cfg *httpapi.Config) { cfg.Lists = node }, routes)
	c, other := s.Company(), s.Company()
	total := func(c *apitest.Client, headers ...apitest.Header) int {
		var p page
		res := c.Do(t, "GET", "/shelf?pageSize=1", nil, headers...)
		require.Equal(t, 200, res.Status, "%s", res.Body)
		res.Decode(&p)
		return *p.Total
	}
	for i := range 5 {
		require.Equal(t, 201, c.Do(t, "POST", "/shelf", map[string]any{"title": fmt.Sprint(i)}).Status)
		require.Equal(t, i+1, total(c), "own writes count at once")
	}
	require.Zero(t, total(other))
	f.add(t, c.Principal.Company, book{Title: "another process"})
	require.Equal(t, 5, total(c), "kept")
	require.Equal(t, 6, total(c, apitest.Header{"Cache-Control", "no-cache"}))
	f.add(t, c.Principal.Company, book{Title: "another process"})
	require.Equal(t, 6, total(c))
	require.Eventually(t, func() bool { return total(c) == 7 }, 5*time.Second, 100*time.Millisecond)
}
