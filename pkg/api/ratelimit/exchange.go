package ratelimit

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
)

const (
	exchangeEvery = time.Second
	exchangePause = 100 * time.Millisecond // minimum time between two exchanges
	activeFor     = 5 * time.Second        // tokens used within this time take part in an exchange
	staleAfter    = 3 * time.Second        // without an exchange, after which shares become equal
	sweepEvery    = 30                     // exchanges
)

// Demand is the demand for one token at one node, in thousandths of a request per second.
type Demand struct {
	Company tenant.ID
	Token   uuid.UUID
	Milli   int64
}

// Others is the demand for one token at the other nodes.
type Others struct {
	Nodes int   // number of nodes that see the token
	Milli int64 // sum of their demand
}

// Peers is the result of an exchange.
type Peers struct {
	Nodes  int // number of live nodes, including this one
	Others map[uuid.UUID]Others
}

// Leases exchanges demand between nodes.
type Leases interface {
	// Exchange stores the demand of a node and returns that of the others. An empty list still marks the node as alive.
	Exchange(ctx context.Context, node string, mine []Demand) (Peers, error)
	// Leave deletes what the node stored for these tokens; the zero Demand stands for the node itself.
	Leave(ctx context.Context, node string, gone []Demand) error
}

// Run exchanges leases until ctx is done, about once a second, and sooner for a token that is new on this node.
// A single node only drops idle buckets.
func (l *Limiter) Run(ctx context.Context) error {
	ticker := time.NewTicker(exchangeEvery)
	defer ticker.Stop()
	for {
		l.Exchange(ctx)
		select {
		case <-ctx.Done():
			l.leave(ctx)
			return nil
		case <-time.After(exchangePause):
		}
		select {
		case <-ctx.Done():
			l.leave(ctx)
			return nil
		case <-ticker.C:
		case <-l.wake:
		}
	}
}

// Exchange shares this node's demand with the other nodes and adjusts its shares.
// Run calls it. If it fails, the shares stay as they are, and become equal if the failure lasts. The end of ctx does not cut it off:
// what the database still did then could bring back the leases that this node gives up when it leaves.
func (l *Limiter) Exchange(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.cfg.Now()
	mine, gone := l.collect(now)
	if l.ticks++; l.ticks%sweepEvery == 0 {
		l.dropIdleGauges()
	}
	if l.cfg.Leases == nil {
		return
	}
	if l.nodes.Load() == 1 {
		mine, gone = nil, nil // a single node only needs to be seen as alive
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), staleAfter)
	defer cancel()
	peers, err := l.cfg.Leases.Exchange(ctx, l.cfg.Node, mine)
	if err == nil && len(gone) > 0 {
		err = l.cfg.Leases.Leave(ctx, l.cfg.Node, gone)
	}
	if err != nil {
		l.fallBack(ctx, err, now)
		return
	}
	exchanges.WithLabelValues("ok").Inc()
	l.syncedAt = now
	l.nodes.Store(int64(max(1, peers.Nodes)))
	l.apply(mine, peers, now)
	if l.nodes.Load() == 1 {
		l.setAll(1, now) // including tokens without current demand
	}
}

// fallBack switches to equal shares when the others' demand has been unknown for too long.
func (l *Limiter) fallBack(ctx context.Context, err error, now time.Time) {
	exchanges.WithLabelValues("error").Inc()
	l.cfg.Log.WarnContext(ctx, "exchanging rate leases failed", "error", err)
	if now.Sub(l.syncedAt) < staleAfter {
		return
	}
	l.setAll(1/float64(l.nodes.Load()), now)
}

func (l *Limiter) setAll(share float64, now time.Time) {
	l.each(func(_ uuid.UUID, b *bucket) bool {
		b.refillUntil(now)
		b.share = share
		return true
	})
}

// collect measures the demand of each token; it lists the tokens in use, and drops and lists the idle ones.
func (l *Limiter) collect(now time.Time) (mine, gone []Demand) {
	l.each(func(token uuid.UUID, b *bucket) bool {
		b.refillUntil(now)
		b.measure(now)
		d := Demand{Company: b.company, Token: token, Milli: int64(b.demand * 1000)}
		switch {
		case b.idle(now):
			gone = append(gone, d)
			return false
		case now.Sub(b.seen) <= activeFor:
			mine = append(mine, d)
		}
		return true
	})
	return mine, gone
}

// measure follows rising demand immediately and falling demand by half at a time.
func (b *bucket) measure(now time.Time) {
	elapsed := now.Sub(b.window).Seconds()
	if elapsed < 1 {
		b.demand = max(b.demand, b.asked)
		return
	}
	rate := b.asked / elapsed
	b.demand = max(rate, (b.demand+rate)/2)
	b.asked, b.window = 0, now
}

func (l *Limiter) apply(mine []Demand, peers Peers, now time.Time) {
	for _, d := range mine {
		shard := &l.bucket[d.Token[15]%shards]
		shard.mu.Lock()
		if b := shard.of[d.Token]; b != nil {
			b.setShare(d.Milli, peers.Others[d.Token], now)
		}
		shard.mu.Unlock()
	}
}

// setShare divides the budget by demand. In this division, every node that sees the token has a demand of at least a
// twentieth of the refill, so that a node without demand so far can still admit requests.
func (b *bucket) setShare(mine int64, others Others, now time.Time) {
	b.refillUntil(now)
	before := b.share
	floor := b.refill * 1000 / 20
	own := float64(mine) + floor
	b.share = own / (own + float64(others.Milli) + float64(others.Nodes)*floor)
	if !b.synced && others.Nodes == 0 {
		// No other node sees the token, so this one also gets what was reserved for others.
		b.tokens += b.limit * (b.share - before)
	}
	b.synced = true
	b.tokens = min(b.tokens, b.limit*b.share)
}

// each calls f for every bucket while holding the lock of its shard; a bucket is dropped if f returns false.
func (l *Limiter) each(visit func(uuid.UUID, *bucket) bool) {
	for i := range l.bucket {
		shard := &l.bucket[i]
		shard.mu.Lock()
		for token, b := range shard.of {
			if !visit(token, b) {
				delete(shard.of, token)
			}
		}
		shard.mu.Unlock()
	}
}

// leave releases this node's shares, so that the other nodes need not wait until its leases expire.
func (l *Limiter) leave(ctx context.Context) {
	if l.cfg.Leases == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), staleAfter)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Demand
	l.each(func(token uuid.UUID, b *bucket) bool {
		all = append(all, Demand{Company: b.company, Token: token})
		return true
	})
	if err := l.cfg.Leases.Leave(ctx, l.cfg.Node, append(all, Demand{})); err != nil {
		l.cfg.Log.WarnContext(ctx, "releasing rate leases failed", "error", err)
	}
}

// CleanupJob deletes the leases of nodes that no longer renew them.
var CleanupJob = cleanup.Job{
	Keep:   time.Hour,
	Delete: rateLeases.Delete(`WHERE (company_id, token_id, node) IN (SELECT company_id, token_id, node FROM rate_leases WHERE expires_at < $1 LIMIT 1000)`),
}
