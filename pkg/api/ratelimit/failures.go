package ratelimit

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	failureBurst  = 30
	failureRefill = 0.5 // per second: 30 a minute
	keysKept      = 100_000
)

// Failures limits calls without a valid token to 30 per minute and address, and thereby the cost of looking up their
// tokens. It never affects callers whose token is cached; another token from such an address waits for the next refill. An
// IPv6 host can use a whole /64, so a /64 counts as one address.
type Failures struct{ of *Keyed[netip.Addr] }

// NewFailures creates a limiter of failures; if now is nil, it uses time.Now.
func NewFailures(now func() time.Time) *Failures {
	return &Failures{NewKeyed[netip.Addr](failureBurst, failureRefill, now)}
}

// Check reports whether the address may fail once more. It counts nothing.
func (f *Failures) Check(ip netip.Addr) Decision { return f.of.Check(Host(ip)) }

// Fail counts a failure. If the decision is not OK, respond with 429 instead of the status of the failure.
func (f *Failures) Fail(ip netip.Addr) Decision { return f.of.Take(Host(ip)) }

// Keyed limits what is done by key, such as by address, in this process.
type Keyed[K comparable] struct {
	burst  float64
	refill float64 // per second
	now    func() time.Time
	mu     sync.Mutex
	of     *simplelru.LRU[K, *bucket] // evicts the least recently used
}

// NewKeyed creates a limiter; if now is nil, it uses time.Now.
func NewKeyed[K comparable](burst, refill float64, now func() time.Time) *Keyed[K] {
	if now == nil {
		now = time.Now
	}
	of, _ := simplelru.NewLRU[K, *bucket](keysKept, nil) // fails only on a size below 1
	return &Keyed[K]{burst: burst, refill: refill, now: now, of: of}
}

// Check reports whether the key has one left. It counts nothing.
func (k *Keyed[K]) Check(key K) Decision {
	now := k.now()
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.of.Get(key)
	if !ok {
		return Decision{OK: true}
	}
	b.refillUntil(now)
	d := b.take(1, now)
	if d.OK {
		b.tokens++
	}
	return d
}

// Take takes one.
func (k *Keyed[K]) Take(key K) Decision {
	now := k.now()
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.of.Get(key)
	if !ok {
		b = &bucket{limit: k.burst, refill: k.refill, share: 1, tokens: k.burst, at: now}
		k.of.Add(key, b)
	}
	b.refillUntil(now)
	return b.take(1, now)
}

// Host is the address that counts for a client: an IPv6 host can use a whole /64.
func Host(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return ip
}
