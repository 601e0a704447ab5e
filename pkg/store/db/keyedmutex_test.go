package db

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func lockNow(t *testing.T, m *keyedMutex, key string) (unlock func()) {
	t.Helper()
	unlock, err := m.Lock(t.Context(), key)
	require.NoError(t, err)
	return unlock
}

func TestOneHolderPerKey(t *testing.T) {
	t.Parallel()
	var m keyedMutex
	var holders [3]int
	var wg sync.WaitGroup
	for i := range 300 {
		wg.Go(func() {
			unlock, err := m.Lock(t.Context(), strconv.Itoa(i%3))
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			holders[i%3]++ // the race detector sees two holders
		})
	}
	wg.Wait()
	require.Equal(t, [3]int{100, 100, 100}, holders)
	require.Empty(t, m.locks, "a mutex that nobody holds takes no memory")
}

func TestOtherKeysAreFree(t *testing.T) {
	t.Parallel()
	var m keyedMutex
	a := lockNow(t, &m, "a")
	lockNow(t, &m, "b")()
	a()
}

func TestWaitersTakeTurnsInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var m keyedMutex
		var order []int
		unlock := lockNow(t, &m, "key")
		for i := range 10 {
			go func() {
				unlock, err := m.Lock(t.Context(), "key")
				if err == nil {
					order = append(order, i)
					unlock()
				}
			}()
			synctest.Wait()
		}
		unlock()
		synctest.Wait()
		require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, order)
	})
}

func TestWaiterLeavesWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var m keyedMutex
		unlock := lockNow(t, &m, "key")
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		var left, got error
		go func() { _, left = m.Lock(ctx, "key") }()
		synctest.Wait()
		go func() {
			var unlock func()
			if unlock, got = m.Lock(t.Context(), "key"); got == nil {
				unlock()
			}
		}()
		synctest.Wait()
		cancel(gone)
		synctest.Wait()
		require.ErrorIs(t, left, gone)
		unlock()
		synctest.Wait()
		require.NoError(t, got)
		require.Empty(t, m.locks)
	})
}

// A waiter that gets the mutex at the moment when its context ends either has it or passes it on.
func TestMutexIsNotLostWithAContext(t *testing.T) {
	t.Parallel()
	for range 2000 {
		var m keyedMutex
		unlock := lockNow(t, &m, "key")
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if unlock, err := m.Lock(ctx, "key"); err == nil {
				unlock()
			}
		})
		wg.Go(unlock)
		wg.Go(cancel)
		wg.Wait()
		require.Empty(t, m.locks)
	}
}
