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
	failureHosts  = 100_000
)

// Failures limits calls without a valid token to 30 per minute and address, and thereby the cost of looking up their
// tokens. It never affects callers whose token is cached; another token from such an address waits for the next refill. An
// IPv6 host can use a whole /64, so a /64 counts as one address.
type Failures struct {
	now func() time.Time
	mu  sync.Mutex
	of  *simplelru.LRU[netip.Addr, *bucket] // evicts the least recently used
}

// NewFailures creates a limiter of failures; if now is nil, it uses time.Now.
func NewFailures(now func() time.Time) *Failures {
	if now == nil {
		now = time.Now
	}
	hosts, _ := simplelru.NewLRU[netip.Addr, *bucket](failureHosts, nil) // fails only on a size below 1
	return &Failures{now: now, of: hosts}
}

// Check reports whether the address may fail once more. It counts nothing.
func (f *Failures) Check(ip netip.Addr) Decision {
	now := f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.of.Get(host(ip))
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

// Fail counts a failure. If the decision is not OK, respond with 429 instead of the status of the failure.
func (f *Failures) Fail(ip netip.Addr) Decision {
	now, addr := f.now(), host(ip)
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.of.Get(addr)
	if !ok {
		b = &bucket{limit: failureBurst, refill: failureRefill, share: 1, tokens: failureBurst, at: now}
		f.of.Add(addr, b)
	}
	b.refillUntil(now)
	return b.take(1, now)
}

func host(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return ip
}
