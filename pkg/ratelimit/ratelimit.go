// Package ratelimit bounds what a token may ask for and how many requests of a company run at the same time;
// see docs/reference/limits.md#rate-limits. Each node keeps its buckets in memory; nodes that see the same token share its
// budget in proportion to what is asked of them, by leases that they exchange about once a second. No request
// waits for the database. When the leases cannot be exchanged, every node takes an equal part.
//
// What the nodes let through together in a time T is at most refill × T plus a slack: the burst, once more the part
// of the burst that the other nodes held when the token was first seen there, and the refill of the two seconds that
// a shift of demand needs to be seen everywhere.
package ratelimit

import (
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

const (
	shards    = 64
	idleAfter = time.Minute // a bucket that nobody asked for so long, and that is full, is dropped
	longest   = 3600        // seconds; the longest Retry-After
	// epsilon swallows the rounding of many small refills: a full token must count as one.
	epsilon = 1e-9
)

// Config is what a limiter needs.
type Config struct {
	Node   string           // unique among the processes; required with Leases
	Leases Leases           // nil = this node is alone
	Now    func() time.Time // nil = time.Now
	Log    *slog.Logger
}

// Limiter holds the buckets of one process. It is safe for concurrent use.
type Limiter struct {
	cfg    Config
	bucket [shards]bucketShard
	gauge  [shards]gaugeShard
	nodes  atomic.Int64 // last known number of live nodes, this one included
	nudge  chan struct{}

	mu       sync.Mutex // one exchange at a time
	syncedAt time.Time
	ticks    int
}

// New makes a limiter. [Limiter.Run] is to be run beside it when there are several nodes.
func New(cfg Config) *Limiter {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	l := &Limiter{cfg: cfg, nudge: make(chan struct{}, 1), syncedAt: cfg.Now()}
	l.nodes.Store(1)
	for i := range shards {
		l.bucket[i].of = map[uuid.UUID]*bucket{}
		l.gauge[i].of = map[tenant.ID]*gauge{}
	}
	return l
}

// Decision is the answer to a request, with what its headers need.
type Decision struct {
	OK                bool
	Unlimited         bool // the token has no limit; the numbers mean nothing
	Limit             int  // burst
	Remaining         int  // requests that would be let through at once on this node
	ResetSeconds      int  // until the bucket is full
	RetryAfterSeconds int  // ≥ 1 when not OK
}

type bucketShard struct {
	mu sync.Mutex
	of map[uuid.UUID]*bucket
}

// bucket is a node's part of the budget of one token.
type bucket struct {
	company tenant.ID
	limit   float64 // of the token, over all nodes
	refill  float64 // per second, over all nodes
	share   float64 // of both: this node's part
	tokens  float64 // may be below 0 after a request that costs more than the bucket holds
	at      time.Time
	seen    time.Time

	asked  float64 // cost asked for since window
	window time.Time
	demand float64 // per second, smoothed
	synced bool    // the other nodes' demand is known
}

// Allow takes the cost of a request from the bucket of the caller's token. A refused request takes nothing.
// The cost is 1, and for a batch of n one per ten, rounded up.
func (l *Limiter) Allow(p *access.Principal, cost int) Decision {
	if p.Rate.Unlimited {
		return Decision{OK: true, Unlimited: true}
	}
	now := l.cfg.Now()
	shard := &l.bucket[p.TokenID[15]%shards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	b := shard.of[p.TokenID]
	if b == nil {
		b = l.newBucket(p, now)
		shard.of[p.TokenID] = b
	}
	b.settle(now)
	b.limit, b.refill = float64(p.Rate.Limit), p.Rate.RefillPerSecond
	return b.take(float64(cost), now)
}

// Refund gives back the cost of a request that was let through by Allow and refused for another reason
// of this package: a 429 costs nothing.
func (l *Limiter) Refund(p *access.Principal, cost int) {
	shard := &l.bucket[p.TokenID[15]%shards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if b := shard.of[p.TokenID]; b != nil {
		b.tokens = min(b.tokens+float64(cost), b.limit*b.share)
	}
}

// newBucket starts with an even part: nobody knows yet whether other nodes see the token too.
func (l *Limiter) newBucket(p *access.Principal, now time.Time) *bucket {
	nodes := l.nodes.Load()
	share := 1 / float64(nodes)
	if nodes > 1 {
		select {
		case l.nudge <- struct{}{}:
		default:
		}
	}
	return &bucket{
		company: p.Company, limit: float64(p.Rate.Limit), refill: p.Rate.RefillPerSecond,
		share: share, tokens: share * float64(p.Rate.Limit), at: now, window: now,
	}
}

// settle adds what has flowed in since the last time. A clock that goes back adds nothing.
func (b *bucket) settle(now time.Time) {
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
	// What costs more than the bucket can ever hold waits for a full one and leaves a debt.
	need := min(cost, b.limit*b.share)
	d := Decision{Limit: int(b.limit), OK: b.tokens+epsilon >= need}
	if d.OK {
		b.tokens -= cost
	} else {
		d.RetryAfterSeconds = b.seconds(need - b.tokens)
	}
	d.Remaining = max(0, int(b.tokens+epsilon))
	if missing := b.limit*b.share - b.tokens; missing > epsilon {
		d.ResetSeconds = b.seconds(missing)
	}
	return d
}

// seconds is how long so many tokens need to flow in, at least 1.
func (b *bucket) seconds(tokens float64) int {
	return int(math.Ceil(max(1, min(longest, tokens/(b.refill*b.share)-epsilon))))
}

// idle reports whether nothing is lost by dropping the bucket.
func (b *bucket) idle(now time.Time) bool {
	return now.Sub(b.seen) > idleAfter && b.tokens >= b.limit*b.share-epsilon
}
