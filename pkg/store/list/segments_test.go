package list_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// shelf is a list whose total may be kept in segments.
type shelf struct {
	kit
	node    *list.Node
	company tenant.ID
	spec    list.Spec
}

func newShelf(t *testing.T, cfg list.NodeConfig) shelf {
	t.Helper()
	s := shelf{setup(t), nil, tenant.NewID(), bookList}
	cfg.Writes = s.db.WriteLog()
	s.node = list.NewNode(cfg)
	s.spec.Permanent = true
	return s
}

// total reads the first page with one record.
func (s shelf) total(t *testing.T, fresh bool, conditions ...string) int64 {
	t.Helper()
	p := list.Params{PageSize: 1}
	p.On(s.node, fresh)
	q, err := list.New(s.spec, s.company, p, "")
	require.NoError(t, err)
	for _, c := range conditions {
		if strings.Contains(c, " FROM ") {
			q.Reading("books")
		}
		q.Where(c)
	}
	page, err := list.Fetch(t.Context(), s.db, q, func(b *book) []any { return append([]any{&b.ID, &b.Title, &b.Pages}, b.Targets()...) })
	require.NoError(t, err)
	return *page.Total
}

func (s shelf) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := s.db.Exec(t.Context(), sql, append([]any{s.company}, args...)...)
	require.NoError(t, err)
}

// addAt stores a book that was created, and last changed, some time ago.
func (s shelf) addAt(t *testing.T, ago time.Duration, title string) book {
	t.Helper()
	return s.add(t, s.company, book{Title: title, Meta: record.New(time.Now().Add(-ago))})
}

const sqlCountBooks = `SELECT count(*) FROM books b WHERE b.company_id = $1 AND `

// Whatever is created or changed, by whomever and however long ago it was created, the totals that are kept in segments are
// those of a count.
func TestTotalsInSegmentsAreThoseOfACount(t *testing.T) {
	t.Parallel()
	s := newShelf(t, list.NodeConfig{Large: 1})
	const year = 365 * 24 * time.Hour
	ids := make([]book, 0, 400)
	for i := range 300 {
		ids = append(ids, s.addAt(t, time.Minute+rand.N(year), fmt.Sprint("t", i%4)))
	}
	all := []string{"TRUE", "b.title = 't1'", "b.title = 't2'", "b.title = 'nowhere'", "b.pages IS NOT NULL", "b.title = ANY(ARRAY['t1', 't3'])"}
	for round := range 60 {
		for range rand.N(4) {
			switch b := ids[rand.N(len(ids))]; rand.N(4) {
			case 0:
				ids = append(ids, s.addAt(t, 0, fmt.Sprint("t", round%4)))
			case 1:
				s.exec(t, `UPDATE books SET pages = 7, updated_at = now() WHERE company_id = $1 AND id = $2`, b.ID)
			default:
				s.exec(t, `UPDATE books SET title = $3, updated_at = now() WHERE company_id = $1 AND id = $2`, b.ID, fmt.Sprint("t", rand.N(4)))
			}
		}
		for _, condition := range all {
			var want int64
			require.NoError(t, s.db.QueryRow(t.Context(), sqlCountBooks+condition, s.company).Scan(&want))
			require.Equal(t, want, s.total(t, true, condition), "%s in round %d", condition, round)
		}
	}
}

// A total in segments costs what has changed. That is seen in a row that was changed without the time of its change, which
// the platform never does: nobody looks at it until its segment is counted again.
func TestOnlyChangedSegmentsAreCounted(t *testing.T) {
	t.Parallel()
	s := newShelf(t, list.NodeConfig{Large: 1})
	const day = 24 * time.Hour
	s.addAt(t, 100*day, "a")
	old := s.addAt(t, 50*day, "a")
	neighbour := s.addAt(t, 50*day, "a")
	s.addAt(t, time.Hour, "a")
	for range 2 { // the second time, in segments
		require.EqualValues(t, 4, s.total(t, true, "b.title = 'a'"))
	}
	s.exec(t, `UPDATE books SET title = 'b' WHERE company_id = $1 AND id = $2`, old.ID)
	s.addAt(t, 0, "a")
	require.EqualValues(t, 5, s.total(t, true, "b.title = 'a'"), "the new one is in another segment")
	s.exec(t, `UPDATE books SET pages = 1, updated_at = now() WHERE company_id = $1 AND id = $2`, neighbour.ID)
	require.EqualValues(t, 4, s.total(t, true, "b.title = 'a'"), "the segment was counted")
}

// After more changes than are read, all segments are made and counted anew, fewer than there were before.
func TestTotalsOutliveManyChanges(t *testing.T) {
	t.Parallel()
	s := newShelf(t, list.NodeConfig{Large: 10})
	s.fill(t, 300, time.Hour)
	s.fill(t, 300, time.Millisecond)
	for range 2 {
		require.EqualValues(t, 600, s.total(t, true))
	}
	s.fill(t, 20_001, 0)
	require.EqualValues(t, 20_601, s.total(t, true))
}

// Conditions on other tables, lists that may lose records, and small totals are counted as a whole.
func TestOtherTotalsAreCountedAsAWhole(t *testing.T) {
	t.Parallel()
	for what, row := range map[string]struct {
		cfg       list.NodeConfig
		spec      func(*list.Spec)
		condition string
	}{
		"records may be deleted": {list.NodeConfig{Large: 1}, func(s *list.Spec) { s.Permanent = false }, "TRUE"},
		"a foreign condition":    {list.NodeConfig{Large: 1}, func(*list.Spec) {}, "b.id IN (SELECT o.id FROM books o WHERE o.company_id = b.company_id)"},
		"a small list":           {list.NodeConfig{Large: 4}, func(*list.Spec) {}, "TRUE"},
	} {
		s := newShelf(t, row.cfg)
		row.spec(&s.spec)
		gone := s.addAt(t, 1000*time.Hour, "a")
		for i := range 2 {
			s.addAt(t, time.Duration(i+1)*time.Hour, "a")
		}
		for range 2 {
			require.EqualValues(t, 3, s.total(t, true, row.condition), what)
		}
		s.exec(t, `DELETE FROM books WHERE company_id = $1 AND id = $2`, gone.ID)
		require.EqualValues(t, 2, s.total(t, true, row.condition), what)
	}
}

// The first total of a list that cannot be counted within the limit of a statement is answered, too: each segment is a
// statement of its own.
func TestFirstTotalOfALargeListIsAnswered(t *testing.T) {
	t.Parallel()
	s := newShelf(t, list.NodeConfig{Limit: 800 * time.Millisecond})
	for i := range 40 {
		s.addAt(t, time.Duration(i)*time.Hour, "a")
	}
	s.spec.Count = "books b CROSS JOIN LATERAL (SELECT pg_sleep(CASE WHEN b.price IS NULL THEN 0.05 ELSE 0.051 END)) AS slow"
	require.EqualValues(t, 40, s.total(t, false), "2 s in all")
}

// An own write that is answered is in the next total, however many write at once.
func TestOwnWritesAreInTheNextTotalInSegments(t *testing.T) {
	t.Parallel()
	s := newShelf(t, list.NodeConfig{Large: 1})
	s.addAt(t, 1000*time.Hour, "a")
	s.addAt(t, 2000*time.Hour, "a")
	for range 2 {
		require.EqualValues(t, 2, s.total(t, true))
	}
	for i := range 30 {
		require.NoError(t, s.db.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
			tx.Queue(sqlInsertBook, newBookOf("a").args(s.company)...)
			return nil
		}))
		require.EqualValues(t, i+3, s.total(t, false))
	}
}
