package list_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// charged is what a page is charged for its way through the index, in records that were passed over.
func (s shelf) charged(t *testing.T, p list.Params, sort string) int {
	t.Helper()
	m := cputime.New(func() time.Duration { return 0 }) // the process itself takes no time
	stop := m.Measure()
	defer stop()
	_, err := s.page(t, s.node, p, sort)
	require.NoError(t, err)
	return int(m.Used() / (150 * time.Nanosecond))
}

// A jump into a large list passes over a segment at most, also where very many records were created at once, and never over more
// than half of a list. What it passes over is charged to the token.
func TestJumpsPassOverFewRecords(t *testing.T) {
	t.Parallel()
	s := newShelf(t, list.NodeConfig{Skip: 10, Large: 100})
	s.fill(t, 1000, time.Hour)
	s.fill(t, 1000, time.Millisecond) // an import
	for page := 2; page < 100; page += 24 {
		for _, order := range []string{"asc", "desc"} {
			require.LessOrEqual(t, s.charged(t, list.Params{Page: page, PageSize: 20, Order: order}, "createdAt"), 100, "page %d %s", page, order)
		}
	}
	require.Equal(t, 1000, s.charged(t, list.Params{Page: 51, PageSize: 20}, "price"), "an order in which no positions are kept")
	require.Equal(t, 201, s.charged(t, list.Params{Page: 91, PageSize: 20}, "price"), "from the end")
	require.Zero(t, s.charged(t, list.Params{Page: 1_000_000, PageSize: 20}, "price"), "past the end")
	require.Zero(t, s.charged(t, list.Params{Page: 1, PageSize: 20}, "price"))
}
