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

// Failures bounds the calls without a valid token, and so what it costs to look their tokens up: 30 a minute for each
// address. It never stands in the way of a caller whose token is remembered; another token has to wait for
// the next failure that its address may make. An IPv6 host has a whole /64 to choose from, so that counts as one address.
type Failures struct {
	now func() time.Time
	mu  sync.Mutex
	of  *simplelru.LRU[netip.Addr, *bucket] // the oldest make room for new ones
}

// NewFailures makes a limiter of failures; now nil is time.Now.
func NewFailures(now func() time.Time) *Failures {
	if now == nil {
		now = time.Now
	}
	hosts, _ := simplelru.NewLRU[netip.Addr, *bucket](failureHosts, nil) // fails only on a size below 1
	return &Failures{now: now, of: hosts}
}

// Check tells whether the address may fail once more, and counts nothing.
func (f *Failures) Check(ip netip.Addr) Decision {
	now := f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.of.Get(host(ip))
	if !ok {
		return Decision{OK: true}
	}
	b.settle(now)
	d := b.take(1, now)
	if d.OK {
		b.tokens++
	}
	return d
}

// Fail counts a failure. When the decision is not OK, it is to be answered with 429 in place of its own status.
func (f *Failures) Fail(ip netip.Addr) Decision {
	now, addr := f.now(), host(ip)
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.of.Get(addr)
	if !ok {
		b = &bucket{limit: failureBurst, refill: failureRefill, share: 1, tokens: failureBurst, at: now}
		f.of.Add(addr, b)
	}
	b.settle(now)
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
