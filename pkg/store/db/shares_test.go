package db

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// enterAll has a company ask for more connections than there are. It returns how many it gets.
func enterAll(s *shares, company tenant.ID) int {
	for range 20 {
		go func() { _ = s.enter(context.Background(), company) }()
	}
	synctest.Wait()
	return s.heldBy(company)
}

func (s *shares) heldBy(company tenant.ID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.of[company]; own != nil {
		return own.held
	}
	return 0
}

func TestBusyCompaniesLeaveConnectionsToOthers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ conns, first, second, third int }{{16, 8, 4, 2}, {12, 6, 3, 2}, {4, 2, 1, 1}, {2, 1, 1, 0}, {1, 1, 0, 0}} {
		synctest.Test(t, func(t *testing.T) {
			s, companies := newShares(int32(row.conns)), []tenant.ID{tenant.NewID(), tenant.NewID(), tenant.NewID()}
			for i, want := range []int{row.first, row.second, row.third} {
				require.Equal(t, want, enterAll(s, companies[i]), "%d connections", row.conns)
			}
			require.NoError(t, s.enter(t.Context(), tenant.ID{}), "the platform never waits")
			s.leave(tenant.ID{})

			// What the first gives back goes to those who hold less, until all hold the same.
			for s.heldBy(companies[0]) > s.heldBy(companies[1])+1 {
				s.leave(companies[0])
			}
			require.InDelta(t, s.heldBy(companies[0]), s.heldBy(companies[2]), 1, "%d connections", row.conns)
			for s.pending() > 0 || s.heldBy(companies[0])+s.heldBy(companies[1])+s.heldBy(companies[2]) > 0 {
				for _, company := range companies {
					if s.heldBy(company) > 0 {
						s.leave(company)
					}
				}
			}
			require.Equal(t, row.conns, s.free)
			require.Empty(t, s.of)
		})
	}
}

func TestWaitForAShareEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, company := newShares(2), tenant.NewID()
		require.NoError(t, s.enter(t.Context(), company))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, s.enter(ctx, company), context.DeadlineExceeded)
		require.Zero(t, s.pending())
		s.leave(company)
		require.NoError(t, s.enter(t.Context(), company))
		s.leave(company)
		require.Equal(t, 2, s.free)
		require.Empty(t, s.of)
	})
}
