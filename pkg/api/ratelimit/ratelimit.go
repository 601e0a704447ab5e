// Package ratelimit limits the request rate of tokens and the number of concurrent requests of companies;
// see docs/reference/limits.md#rate-limits. Each node keeps its token buckets in memory. Nodes that see the same token share
// its budget in proportion to their demand, by leases that they exchange about once a second. No request
// waits for the database. If the leases cannot be exchanged, every node takes an equal share.
//
// In a time T, all nodes together admit at most refill × T plus a slack: the burst, once more the share
// of the burst that the other nodes held when they first saw the token, and the refill of two seconds, which
// is how long a shift of demand takes to be seen everywhere.
package ratelimit

import (
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

const (
	shards    = 64
	idleAfter = time.Minute // a full bucket that was not used for this long is dropped
	longest   = 3600        // seconds; the longest Retry-After
	// epsilon absorbs the rounding errors of many small refills.
	epsilon = 1e-9
)

// Config configures a limiter.
type Config struct {
	Node   string           // name of this node, unique among the processes; required with Leases
	Leases Leases           // nil = single node
	Now    func() time.Time // nil = time.Now
	Log    *slog.Logger
}

// Limiter holds the buckets of one process. It is safe for concurrent use.
type Limiter struct {
	cfg    Config
	bucket [shards]bucketShard
	gauge  [shards]gaugeShard
	nodes  atomic.Int64 // last known number of live nodes, including this one
	wake   chan struct{}

	mu       sync.Mutex // one exchange at a time
	syncedAt time.Time
	ticks    int
}

// New creates a limiter. With several nodes, [Limiter.Run] must run in the background.
func New(cfg Config) *Limiter {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	l := &Limiter{cfg: cfg, wake: make(chan struct{}, 1), syncedAt: cfg.Now()}
	l.nodes.Store(1)
	for i := range shards {
		l.bucket[i].of = map[uuid.UUID]*bucket{}
		l.gauge[i].of = map[tenant.ID]*gauge{}
	}
	return l
}

// Decision is the decision on a request, with the values of the response headers.
type Decision struct {
	OK                bool
	Unlimited         bool // the token has no limit; the numbers are meaningless
	Limit             int  // burst
	Remaining         int  // requests that this node would admit immediately
	ResetSeconds      int  // until the bucket is full
	RetryAfterSeconds int  // ≥ 1 when not OK
}

type bucketShard struct {
	mu sync.Mutex
	of map[uuid.UUID]*bucket
}

// bucket is a node's share of the budget of one token.
type bucket struct {
	company tenant.ID
	limit   float64 // of the token, over all nodes
	refill  float64 // per second, over all nodes
	share   float64 // of limit and refill; this node's share
	tokens  float64 // negative after requests that cost more than was left
	at      time.Time
	seen    time.Time

	asked  float64 // cost requested since window
	window time.Time
	demand float64 // per second, smoothed
	synced bool    // the other nodes' demand is known
}

// Allow takes the cost of a request from the bucket of the caller's token. A refused request takes nothing.
// The cost is 1, and for a batch of n one per ten, rounded up. What is only known later is charged by [Limiter.Charge].
func (l *Limiter) Allow(p *access.Principal, cost int) Decision {
	if p.Rate.Unlimited {
		return Decision{OK: true, Unlimited: true}
	}
	now := l.cfg.Now()
	shard := &l.bucket[p.TokenID[15]%shards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	return l.bucketOf(shard, p, now).take(float64(cost), now)
}

// Refund returns the cost of a request that Allow admitted and that was then rejected by another limit
// of this package, because a 429 must not cost anything.
func (l *Limiter) Refund(p *access.Principal, cost int) Decision { return l.Charge(p, -float64(cost)) }

// Charge takes units from the bucket of the caller's token for what a request that Allow admitted has used beyond its cost.
// The bucket may become negative: the next requests wait until it is refilled. A negative charge is a refund.
func (l *Limiter) Charge(p *access.Principal, units float64) Decision {
	if p.Rate.Unlimited {
		return Decision{OK: true, Unlimited: true}
	}
	now := l.cfg.Now()
	shard := &l.bucket[p.TokenID[15]%shards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	b := l.bucketOf(shard, p, now)
	b.asked += max(units, 0) // a refused request stays a part of the demand
	b.tokens = min(b.tokens-units, b.limit*b.share)
	return b.decision(true, 0)
}

// bucketOf returns the bucket of the caller's token, refilled; the caller holds the lock of the shard.
func (l *Limiter) bucketOf(shard *bucketShard, p *access.Principal, now time.Time) *bucket {
	b := shard.of[p.TokenID]
	if b == nil {
		b = l.newBucket(p, now)
		shard.of[p.TokenID] = b
	}
	b.refillUntil(now)
	b.limit, b.refill = float64(p.Rate.Limit), p.Rate.RefillPerSecond
	return b
}

// newBucket starts with an equal share, because it is not known yet whether other nodes see the token too.
func (l *Limiter) newBucket(p *access.Principal, now time.Time) *bucket {
	nodes := l.nodes.Load()
	share := 1 / float64(nodes)
	if nodes > 1 {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
	return &bucket{
		company: p.Company, limit: float64(p.Rate.Limit), refill: p.Rate.RefillPerSecond,
		share: share, tokens: share * float64(p.Rate.Limit), at: now, window: now,
	}
}

// refillUntil adds the refill since the last call. If the clock goes back, it adds nothing.
func (b *bucket) refillUntil(now time.Time) {
	if d := now.Sub(b.at).Seconds(); d > 0 {
		b.tokens += d * b.refill * b.share
	}
	b.at = now
	b.tokens = min(b.tokens, b.limit*b.share)
}

func (b *bucket) take(cost float64, now time.Time) Decision {
	b.seen = now
	b.asked += cost
	b.tokens = min(b.tokens, b.limit*b.share)
	// A request that costs more than the capacity of the bucket waits until it is full and leaves it negative.
	need := min(cost, b.limit*b.share)
	ok := b.tokens+epsilon >= need
	if ok {
		b.tokens -= cost
	}
	return b.decision(ok, need)
}

// decision describes the bucket after a request that needs this many tokens was admitted or refused.
func (b *bucket) decision(ok bool, need float64) Decision {
	d := Decision{OK: ok, Limit: int(b.limit)}
	if !ok {
		d.RetryAfterSeconds = b.seconds(need - b.tokens)
	}
	d.Remaining = max(0, int(b.tokens+epsilon))
	if missing := b.limit*b.share - b.tokens; missing > epsilon {
		d.ResetSeconds = b.seconds(missing)
	}
	return d
}

// seconds returns how long the refill of the tokens takes, at least 1.
func (b *bucket) seconds(tokens float64) int {
	return int(math.Ceil(max(1, min(longest, tokens/(b.refill*b.share)-epsilon))))
}

// idle reports whether the bucket can be dropped without losing state.
func (b *bucket) idle(now time.Time) bool {
	return now.Sub(b.seen) > idleAfter && b.tokens >= b.limit*b.share-epsilon
}

var exchanges = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "tradegrid_rate_lease_exchanges_total", Help: "Exchanges of rate leases between the nodes, by result: ok, error.",
}, []string{"result"})

// Metrics returns the collectors of this package, to be registered once per process.
func Metrics() []prometheus.Collector {
	for _, result := range []string{"ok", "error"} {
		exchanges.WithLabelValues(result)
	}
	return []prometheus.Collector{exchanges}
}
