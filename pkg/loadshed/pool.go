package loadshed

import (
	"context"
	"time"
)

// poolEvery is the interval of measuring the pool.
const poolEvery = 250 * time.Millisecond

// watchPool measures periodically how long it takes to acquire a connection. The pool serves waiters in order, so a request
// would wait as long.
func (s *Shedder) watchPool(ctx context.Context) {
	t := time.NewTicker(poolEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
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
	pool := s.cfg.DB.Pool()
	if pool.Stat().IdleConns() > 0 {
		return 0 // whoever asks gets one at once
	}
	start := time.Now()
	bound, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	conn, err := pool.Acquire(bound)
	if err == nil {
		conn.Release()
	} else if bound.Err() == nil {
		return 0
	}
	return time.Since(start)
}
