package imports

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// A company reads one file at a time, so that another company finds a place however many files the first one sends.
func TestCompaniesShareTheParser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{})
		greedy, other, third := tenant.NewID(), tenant.NewID(), tenant.NewID()
		first, err := s.wait(t.Context(), greedy)
		require.NoError(t, err)
		for range 5 {
			go func() {
				_, err := s.wait(t.Context(), greedy)
				if !apierr.Is(err, "SERVICE_UNAVAILABLE") {
					t.Errorf("a second file of the company: %v", err)
				}
			}()
		}
		synctest.Wait()
		start := time.Now()
		second, err := s.wait(t.Context(), other)
		require.NoError(t, err)
		require.Zero(t, time.Since(start))

		leaving, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.wait(leaving, third)
		require.ErrorIs(t, err, context.DeadlineExceeded, "both places are taken")
		_, err = s.wait(t.Context(), third)
		require.True(t, apierr.Is(err, "SERVICE_UNAVAILABLE"), "%v", err)
		require.Equal(t, patience+time.Second, time.Since(start))
		second()
		again, err := s.wait(t.Context(), third)
		require.NoError(t, err)
		first()
		again()
		last, err := s.wait(t.Context(), greedy)
		require.NoError(t, err)
		last()
	})
}
