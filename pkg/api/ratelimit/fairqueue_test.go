package ratelimit_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
)

var fairLimits = ratelimit.FairLimits{Running: 1, Waiting: 5, PerKey: 3, Longest: 5 * time.Second} //nolint:gochecknoglobals // a constant

// begin starts a call for each key, one after the other, behind one that runs; it returns how to end that one, and who came when.
func begin(t *testing.T, q *ratelimit.FairQueue, keys ...string) (end func(), order func() []string) {
	t.Helper()
	leave, err := q.Enter(t.Context(), "running", false)
	require.NoError(t, err)
	var mu sync.Mutex
	var came []string
	for _, key := range keys {
		go func() {
			done, err := q.Enter(t.Context(), key, key[0] == '!')
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				came = append(came, fmt.Sprint(key, ": ", err))
				return
			}
			came = append(came, key)
			done()
			done() // the second time does nothing
		}()
		synctest.Wait()
	}
	return leave, func() []string {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return came
	}
}

func TestFairQueueTakesTurnsByKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		end, order := begin(t, ratelimit.NewFairQueue(fairLimits), "a", "a", "a", "b", "c", "!known")
		require.Empty(t, order())
		end()
		require.Equal(t, []string{"!known", "a", "b", "c", "a", "a"}, order())
	})
}

func TestFairQueueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := ratelimit.NewFairQueue(fairLimits)
		full := ": " + ratelimit.ErrQueueFull.Error()
		end, order := begin(t, q, "a", "a", "a", "a", "b", "c", "d", "!known")
		require.Equal(t, []string{"a" + full, "d" + full}, order(), "of one key, and in all, at once")
		time.Sleep(fairLimits.Longest)
		require.Len(t, order(), 8, "nobody waits for long")
		require.NotContains(t, order(), "!known")
		end()
		leave, err := q.Enter(t.Context(), "a", false)
		require.NoError(t, err, "those who have left hold no place")
		leave()
	})
}

func TestFairQueueLetsGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := ratelimit.NewFairQueue(fairLimits)
		leave, err := q.Enter(t.Context(), "a", false)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		gone := make(chan error, 1)
		go func() {
			_, err := q.Enter(ctx, "b", false)
			gone <- err
		}()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-gone, context.Canceled)
		leave()
		again, err := q.Enter(t.Context(), "c", false)
		require.NoError(t, err)
		again()
	})
}
