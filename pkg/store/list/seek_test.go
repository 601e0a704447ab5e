package list_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// page reads a page of books, with what the node knows; without a node, as OFFSET finds it.
func (s shelf) page(t *testing.T, n *list.Node, p list.Params, sort string, conditions ...string) (*list.Page[book], error) {
	t.Helper()
	p.On(n, n != nil)
	q, err := list.New(s.spec, s.company, p, sort)
	require.NoError(t, err)
	for _, c := range conditions {
		q.Where(c)
	}
	return list.Fetch(t.Context(), s.db, q, func(b *book) []any { return append([]any{&b.ID, &b.Title, &b.Pages}, b.Targets()...) })
}

// fill adds books that were created at regular intervals, the last one now.
func (s shelf) fill(t *testing.T, n int, every time.Duration) {
	t.Helper()
	s.exec(t, `INSERT INTO books (company_id, id, title, pages, price, search_text, version, ev_pos, created_at, updated_at)
		SELECT $1, gen_random_uuid(), 't' || i % 7, CASE WHEN i % 3 > 0 THEN i % 101 END, i % 1009, 't' || i % 7, 1, 1, at, at
		FROM (SELECT i, now() - i * $3::BIGINT * interval '1 microsecond' AS at FROM generate_series(0, $2::BIGINT - 1) AS i) AS s`, n, every.Microseconds())
}

// Wherever a page lies, and whatever was changed and created before it is read, a page that is found from what the node knows has
// the records that are found by counting all before it: none is skipped or repeated.
func TestPagesFoundByPositionAreTheSame(t *testing.T) {
	t.Parallel()
	s := newShelf(t, list.NodeConfig{Skip: 3, Large: 1})
	s.fill(t, 400, time.Hour)
	s.fill(t, 300, time.Millisecond) // an import
	for round := range 80 {
		switch rand.N(4) {
		case 0:
			s.addAt(t, 0, fmt.Sprint("t", round%7))
		case 1:
			s.addAt(t, rand.N(400*time.Hour), "late")
			s.exec(t, `UPDATE books SET updated_at = now() WHERE company_id = $1 AND title = 'late'`)
		default:
			s.exec(t, `UPDATE books SET title = $2, pages = $3, price = $4, updated_at = now()
				WHERE company_id = $1 AND id = (SELECT id FROM books WHERE company_id = $1 ORDER BY price, id LIMIT 1 OFFSET $5)`,
				fmt.Sprint("t", rand.N(7)), sometimes(rand.N(100)), rand.N(1000), rand.N(700))
		}
		p := list.Params{PageSize: 1 + rand.N(20), Order: []string{"asc", "desc"}[rand.N(2)]}
		p.Page = 1 + rand.N(720/p.PageSize)
		sort := []string{"createdAt", "createdAt", "title", "pages", "price"}[rand.N(5)]
		var conditions []string
		if rand.N(2) == 0 {
			conditions = []string{"b.title <> 't3'"}
		}
		want, err := s.page(t, nil, p, sort, conditions...)
		require.NoError(t, err)
		got, err := s.page(t, s.node, p, sort, conditions...)
		require.NoError(t, err)
		label := fmt.Sprint("round ", round, " ", sort, " ", p.Order, " page ", p.Page, " of ", p.PageSize, conditions)
		require.Equal(t, ids(want), ids(got), label)
		require.Equal(t, *want.Total, *got.Total, label)
		require.Equal(t, want.NextCursor, got.NextCursor, label)
	}
}

// sometimes returns no value for every third number.
func sometimes(n int) *int {
	if n%3 == 0 {
		return nil
	}
	return &n
}

// A long way through an index needs one of the slots of the counts, so that pages in front go on.
func TestFarJumpsWaitForASlotOfTheCounts(t *testing.T) {
	t.Parallel()
	s := newShelf(t, list.NodeConfig{Skip: 3, Conns: 4, Limit: 300 * time.Millisecond}) // one slot
	s.spec.Permanent = false
	s.fill(t, 1000, time.Hour)
	read := func(page int) ([]uuid.UUID, error) {
		p := list.Params{Page: page, PageSize: 10}
		p.On(s.node, false)
		q, err := list.New(s.spec, s.company, p, "title")
		require.NoError(t, err)
		found, err := list.Fetch(t.Context(), s.db, q, func(b *book) []any { return append([]any{&b.ID, &b.Title, &b.Pages}, b.Targets()...) })
		if err != nil {
			return nil, err
		}
		return ids(found), nil
	}
	_, err := read(1) // its total is known from now on
	require.NoError(t, err)
	err = s.node.Sum(t.Context(), s.company, []any{"busy"}, func(context.Context, time.Duration) error {
		_, err := read(50)
		fault, ok := apierr.As(err)
		require.True(t, ok, "%v", err)
		require.Equal(t, apierr.PoolExhausted, fault.Reason())
		for _, near := range []int{10, 90} {
			_, err = read(near)
			require.NoError(t, err, "page %d is not far from an end", near)
		}
		return nil
	})
	require.NoError(t, err)
	found, err := read(50)
	require.NoError(t, err)
	require.Len(t, found, 10)
}
