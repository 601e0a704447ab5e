package ratelimit

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

type gaugeShard struct {
	mu sync.Mutex
	of map[tenant.ID]*gauge
}

// gauge counts the requests of a company in flight on this node.
type gauge struct {
	n       atomic.Int64
	release func() // created once to avoid an allocation per request
}

// Acquire counts a request of the caller's company as in flight, unless there are too many. The caller must call
// release exactly once when the request has ended. The limit is shared between the nodes like the rate of the token.
func (l *Limiter) Acquire(p *access.Principal) (release func(), ok bool) {
	limit := l.inFlightCap(p)
	shard := &l.gauge[p.Company[15]%shards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	g := shard.of[p.Company]
	if g == nil {
		g = &gauge{}
		g.release = func() { g.n.Add(-1) }
		shard.of[p.Company] = g
	}
	if g.n.Load() >= limit {
		return nil, false
	}
	g.n.Add(1)
	return g.release, true
}

func (l *Limiter) inFlightCap(p *access.Principal) int64 {
	if p.Rate.InFlight <= 0 {
		return math.MaxInt64
	}
	nodes := l.nodes.Load()
	if nodes <= 1 {
		return int64(p.Rate.InFlight)
	}
	return int64(math.Ceil(float64(p.Rate.InFlight) * l.shareOf(p, 1/float64(nodes))))
}

func (l *Limiter) shareOf(p *access.Principal, unknown float64) float64 {
	shard := &l.bucket[p.TokenID[15]%shards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if b := shard.of[p.TokenID]; b != nil {
		return b.share
	}
	return unknown
}

// dropIdleGauges removes companies without requests in flight from the map.
func (l *Limiter) dropIdleGauges() {
	for i := range l.gauge {
		shard := &l.gauge[i]
		shard.mu.Lock()
		for company, g := range shard.of {
			// Incrementing requires the lock, so nobody uses a gauge at 0.
			if g.n.Load() == 0 {
				delete(shard.of, company)
			}
		}
		shard.mu.Unlock()
	}
}
