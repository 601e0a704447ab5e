package shed

import (
	"context"
	"time"
)

// poolEvery is the time between two looks at the pool.
const poolEvery = 250 * time.Millisecond

// watchPool takes a connection now and then, as a change would, and measures the wait: the pool serves in turn.
func (g *Guard) watchPool(ctx context.Context) {
	t := time.NewTicker(poolEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		most := g.limit(PoolWait)
		if most <= 0 {
			continue
		}
		g.set(PoolWait, g.waitForConn(ctx, time.Duration(most*float64(time.Second))).Seconds(), time.Now())
		g.judge(ctx)
	}
}

// waitForConn is how long a connection took, at most a little more than most. An error in place of a connection
// is no wait: what needs the database then fails by itself.
func (g *Guard) waitForConn(ctx context.Context, most time.Duration) time.Duration {
	start := time.Now()
	bound, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	conn, err := g.cfg.DB.Pool().Acquire(bound)
	if err == nil {
		conn.Release()
	} else if bound.Err() == nil {
		return 0
	}
	return time.Since(start)
}
