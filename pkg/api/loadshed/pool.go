package loadshed

import (
	"context"
	"time"
)

// Interval of measuring the pool, and while it has an idle connection.
const (
	poolEvery     = 250 * time.Millisecond
	poolEveryIdle = time.Second
)

// watchPool measures periodically how long it takes to acquire a connection. The pool serves waiters in order, so a request
// would wait as long.
func (s *Shedder) watchPool(ctx context.Context) {
	t := time.NewTimer(poolEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		next := poolEvery
		if s.hasIdleConn() {
			next = poolEveryIdle
		}
		t.Reset(next)
		most := s.limit(PoolWait)
		if most <= 0 {
			continue
		}
		s.set(PoolWait, s.waitForConn(ctx, time.Duration(most*float64(time.Second))).Seconds(), time.Now())
		s.evaluate(ctx)
	}
}

// waitForConn returns how long it took to acquire a connection, bounded by most. A connection error counts as no wait:
// requests then fail by themselves.
func (s *Shedder) waitForConn(ctx context.Context, most time.Duration) time.Duration {
	if s.hasIdleConn() {
		return 0 // whoever asks gets it at once
	}
	start := time.Now()
	bound, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	conn, err := s.cfg.DB.Pool().Acquire(bound)
	if err == nil {
		conn.Release()
	} else if bound.Err() == nil {
		return 0
	}
	return time.Since(start)
}

func (s *Shedder) hasIdleConn() bool { return s.cfg.DB.Pool().Stat().IdleConns() > 0 }
