package db

import (
	"context"
	"slices"
	"sync"

	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
)

// keyedMutex is a mutex for each key, which exists only while it is held. Callers wait in the order in which they came, and
// give up when their context ends. The zero value is ready to use.
type keyedMutex struct {
	mu    sync.Mutex
	locks map[string]*mutexQueue
}

// mutexQueue is a mutex that somebody holds.
type mutexQueue struct {
	waiting []chan struct{} // in order; closing one passes the mutex to its owner
}

// Lock waits for the mutex of the key. The caller calls unlock exactly once.
// The error is the cause of the end of ctx; a mutex that is free is taken even then.
func (m *keyedMutex) Lock(ctx context.Context, key string) (unlock func(), err error) {
	m.mu.Lock()
	l, held := m.locks[key]
	if !held {
		if m.locks == nil {
			m.locks = map[string]*mutexQueue{}
		}
		m.locks[key] = &mutexQueue{}
		m.mu.Unlock()
		return func() { m.unlock(key) }, nil
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	m.mu.Unlock()
	defer cputime.Wait()()
	select {
	case <-turn:
		return func() { m.unlock(key) }, nil
	case <-ctx.Done():
		m.leave(key, l, turn)
		return nil, context.Cause(ctx)
	}
}

// leave takes a caller out of the queue. If the mutex was passed to it at the last moment, the next one gets it.
func (m *keyedMutex) leave(key string, l *mutexQueue, turn chan struct{}) {
	m.mu.Lock()
	i := slices.Index(l.waiting, turn)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	m.mu.Unlock()
	if i < 0 {
		m.unlock(key)
	}
}

func (m *keyedMutex) unlock(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.locks[key]
	if len(l.waiting) == 0 {
		delete(m.locks, key)
		return
	}
	next := l.waiting[0]
	l.waiting = slices.Delete(l.waiting, 0, 1)
	close(next)
}
