package ratelimit

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

type clock struct{ at time.Time }

func (c *clock) now() time.Time      { return c.at }
func (c *clock) add(d time.Duration) { c.at = c.at.Add(d) }

func newClock() *clock { return &clock{at: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)} }

func caller(r access.Rate) *access.Principal {
	return &access.Principal{Company: tenant.NewID(), TokenID: uuid.New(), Rate: r}
}

var standard = access.Rate{Limit: 120, RefillPerSecond: 20, InFlight: 40}

func TestBurstThenRefill(t *testing.T) {
	t.Parallel()
	c := newClock()
	l, p := New(Config{Now: c.now}), caller(standard)
	for i := range 120 {
		d := l.Allow(p, 1)
		require.True(t, d.OK)
		require.Equal(t, 119-i, d.Remaining)
		require.Equal(t, 120, d.Limit)
	}
	d := l.Allow(p, 1)
	require.Equal(t, Decision{Limit: 120, ResetSeconds: 6, RetryAfterSeconds: 1}, d)
	c.add(49 * time.Millisecond)
	require.False(t, l.Allow(p, 1).OK)
	c.add(time.Millisecond)
	require.True(t, l.Allow(p, 1).OK, "refused requests took nothing")
	d = l.Allow(p, 10)
	require.False(t, d.OK)
	require.Equal(t, 1, d.RetryAfterSeconds)
	d = l.Allow(p, 50)
	require.Equal(t, 3, d.RetryAfterSeconds)
	c.add(time.Hour)
	require.Equal(t, 119, l.Allow(p, 1).Remaining)
	l.Refund(p, 1)
	require.Equal(t, 119, l.Allow(p, 1).Remaining)
}

func TestTokensDoNotShareABucket(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := New(Config{Now: c.now})
	one, two := caller(access.Rate{Limit: 1, RefillPerSecond: 1}), caller(access.Rate{Limit: 1, RefillPerSecond: 1})
	require.True(t, l.Allow(one, 1).OK)
	require.False(t, l.Allow(one, 1).OK)
	require.True(t, l.Allow(two, 1).OK)
}

func TestUnlimited(t *testing.T) {
	t.Parallel()
	l := New(Config{})
	p := caller(access.Rate{Unlimited: true})
	for range 10_000 {
		d := l.Allow(p, 100)
		require.Equal(t, Decision{OK: true, Unlimited: true}, d)
		_, ok := l.Acquire(p)
		require.True(t, ok)
	}
}

func TestCostAboveTheBurstLeavesADebt(t *testing.T) {
	t.Parallel()
	c := newClock()
	l, p := New(Config{Now: c.now}), caller(access.Rate{Limit: 5, RefillPerSecond: 1})
	require.True(t, l.Allow(p, 10).OK)
	require.False(t, l.Allow(p, 1).OK)
	c.add(5 * time.Second)
	require.False(t, l.Allow(p, 1).OK)
	c.add(time.Second)
	require.True(t, l.Allow(p, 1).OK)
}

// A caller that sends whatever is admitted, each request using 250 ms of a processor, 10 at a time.
func TestProcessorTimeIsPaidFor(t *testing.T) {
	t.Parallel()
	c := newClock()
	l, p := New(Config{Now: c.now}), caller(standard)
	const unit, uses, seconds, atOnce = 10 * time.Millisecond, 250 * time.Millisecond, 60, 10
	var used time.Duration
	for range seconds * 10 {
		c.add(100 * time.Millisecond)
		admitted := 0
		for admitted < atOnce && l.Allow(p, 1).OK {
			admitted++
		}
		for range admitted {
			used += uses
			l.Charge(p, float64(uses)/float64(unit)-1)
		}
	}
	// Refill and burst, and what was on its way when the bucket became empty.
	require.LessOrEqual(t, used, (20*seconds+120)*unit+atOnce*uses)
	require.Less(t, used, seconds*time.Second/2, "half a core")
	require.GreaterOrEqual(t, used, 20*seconds*unit)
}

func TestCharge(t *testing.T) {
	t.Parallel()
	c := newClock()
	l, p := New(Config{Now: c.now}), caller(standard)
	require.Equal(t, Decision{OK: true, Limit: 120, Remaining: 118, ResetSeconds: 1}, l.Charge(p, 1.5))
	require.Equal(t, Decision{OK: true, Limit: 120, Remaining: 0, ResetSeconds: 11}, l.Charge(p, 218.5))
	require.Equal(t, 6, l.Allow(p, 1).RetryAfterSeconds)
	c.add(5050 * time.Millisecond)
	require.True(t, l.Allow(p, 1).OK)
	require.Equal(t, Decision{OK: true, Unlimited: true}, l.Charge(caller(access.Rate{Unlimited: true}), 5))
}

// A node whose requests take long gets the share of the budget that it needs.
func TestChargedTimeIsDemand(t *testing.T) {
	t.Parallel()
	c := newClock()
	l, p := New(Config{Now: c.now}), caller(standard)
	l.Allow(p, 1)
	l.Charge(p, 9)
	c.add(time.Second)
	mine, _ := l.collect(c.now())
	require.Equal(t, []Demand{{Company: p.Company, Token: p.TokenID, Milli: 10_000}}, mine)
}

func TestChangedRateHoldsAtOnce(t *testing.T) {
	t.Parallel()
	c := newClock()
	l, p := New(Config{Now: c.now}), caller(standard)
	require.True(t, l.Allow(p, 1).OK)
	smaller := *p
	smaller.Rate = access.Rate{Limit: 2, RefillPerSecond: 1}
	require.Equal(t, 1, l.Allow(&smaller, 1).Remaining)
}

// The model counts in thousandths of a token, exactly; times are whole milliseconds.
func TestAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit, refill := rapid.IntRange(1, 200).Draw(t, "limit"), rapid.IntRange(1, 100).Draw(t, "refill")
		c := newClock()
		l, p := New(Config{Now: c.now}), caller(access.Rate{Limit: limit, RefillPerSecond: float64(refill)})
		model := limit * 1000
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			pause := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 3000)).Draw(t, "pause")
			cost := rapid.IntRange(1, limit).Draw(t, "cost")
			c.add(time.Duration(pause) * time.Millisecond)
			model = min(limit*1000, model+pause*refill)
			want := model >= cost*1000
			if want {
				model -= cost * 1000
			}
			d := l.Allow(p, cost)
			require.Equal(t, want, d.OK)
			require.Equal(t, model/1000, d.Remaining)
			require.Equal(t, int(math.Ceil(float64(limit*1000-model)/float64(1000*refill))), d.ResetSeconds)
			if !want {
				require.Equal(t, max(1, int(math.Ceil(float64(cost*1000-model)/float64(1000*refill)))), d.RetryAfterSeconds)
			}
		}
	})
}

func TestInFlight(t *testing.T) {
	t.Parallel()
	l := New(Config{})
	p := caller(access.Rate{Limit: 1, RefillPerSecond: 1, InFlight: 2})
	sibling := *p
	sibling.TokenID = uuid.New()
	first, ok := l.Acquire(p)
	require.True(t, ok)
	second, ok := l.Acquire(&sibling)
	require.True(t, ok)
	_, ok = l.Acquire(p)
	require.False(t, ok, "the cap is the company's")
	_, ok = l.Acquire(caller(p.Rate))
	require.True(t, ok, "another company is free")
	l.dropIdleGauges()
	_, ok = l.Acquire(p)
	require.False(t, ok)
	first()
	_, ok = l.Acquire(p)
	require.True(t, ok)
	first()
	second()
	l.dropIdleGauges()
	require.Empty(t, l.gauge[p.Company[15]%shards].of[p.Company])
}

func TestFailures(t *testing.T) {
	t.Parallel()
	c := newClock()
	f := NewFailures(c.now)
	one, mapped := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("::ffff:192.0.2.1")
	for range 15 {
		require.True(t, f.Fail(one).OK)
		require.True(t, f.Fail(mapped).OK)
	}
	d := f.Fail(one)
	require.False(t, d.OK)
	require.Equal(t, 2, d.RetryAfterSeconds)
	require.Equal(t, d, f.Check(one))
	require.True(t, f.Fail(netip.MustParseAddr("192.0.2.2")).OK)
	c.add(2 * time.Second)
	for range 40 {
		require.True(t, f.Check(one).OK, "a look counts nothing")
	}
	require.True(t, f.Fail(one).OK)
	require.False(t, f.Check(one).OK)
	require.False(t, f.Fail(one).OK)

	for i := range 30 {
		require.True(t, f.Fail(netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 15: byte(i)})).OK)
	}
	require.False(t, f.Fail(netip.MustParseAddr("2001:db8::ffff")).OK, "one network, one caller")
	require.True(t, f.Fail(netip.MustParseAddr("2001:db8:0:1::1")).OK)
	require.True(t, f.Fail(netip.Addr{}).OK)

	require.True(t, f.Check(netip.MustParseAddr("192.0.2.3")).OK)
	require.False(t, f.of.of.Contains(netip.MustParseAddr("192.0.2.3")), "an address without failures takes no room")
}

func TestIdleBucketsAreDropped(t *testing.T) {
	t.Parallel()
	c := newClock()
	l, p := New(Config{Now: c.now}), caller(access.Rate{Limit: 100, RefillPerSecond: 1})
	l.Allow(p, 100)
	c.add(61 * time.Second)
	l.Exchange(t.Context())
	require.False(t, l.Allow(p, 62).OK, "dropping a bucket that is not full would give it away")
	c.add(61 * time.Second)
	l.Exchange(t.Context())
	require.Empty(t, l.bucket[p.TokenID[15]%shards].of)
}

// brokenLeases answer until they are switched off.
type brokenLeases struct {
	Leases
	off bool
}

func (b *brokenLeases) Exchange(ctx context.Context, node string, mine []Demand) (Peers, error) {
	if b.off {
		return Peers{}, errors.New("the database is away")
	}
	return b.Leases.Exchange(ctx, node, mine)
}

// fixedLeases is a cluster that does not change.
type fixedLeases struct{ peers Peers }

func (f *fixedLeases) Exchange(context.Context, string, []Demand) (Peers, error) { return f.peers, nil }
func (f *fixedLeases) Leave(context.Context, string, []Demand) error             { return nil }

func TestLeasesAwayMeansEqualParts(t *testing.T) {
	t.Parallel()
	c := newClock()
	leases := &brokenLeases{Leases: &fixedLeases{Peers{Nodes: 4}}}
	l, p := New(Config{Now: c.now, Leases: leases, Node: "a"}), caller(standard)
	l.Exchange(t.Context())
	l.Allow(p, 1)
	require.InDelta(t, 0.25, l.shareOf(p, 0), 1e-9, "a new token begins with an equal part")
	l.Exchange(t.Context())
	require.InDelta(t, 1, l.shareOf(p, 0), 1e-9, "nobody else sees it")
	require.Equal(t, 118, l.Allow(p, 1).Remaining, "what was held back is given")

	leases.off = true
	c.add(2 * time.Second)
	l.Exchange(t.Context())
	require.InDelta(t, 1, l.shareOf(p, 0), 1e-9, "a short absence changes nothing")
	c.add(time.Second)
	l.Exchange(t.Context())
	require.InDelta(t, 0.25, l.shareOf(p, 0), 1e-9)
	require.Equal(t, 29, l.Allow(p, 1).Remaining)
	other := caller(standard)
	require.Equal(t, 29, l.Allow(other, 1).Remaining)
	leases.off = false
	l.Exchange(t.Context())
	require.InDelta(t, 1, l.shareOf(p, 0), 1e-9)
}

func TestSharesAddUpToOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		demands := rapid.SliceOfN(rapid.Int64Range(0, 1_000_000), 1, 12).Draw(t, "demands")
		refill := float64(rapid.IntRange(1, 100_000).Draw(t, "refill"))
		var all int64
		for _, d := range demands {
			all += d
		}
		sum := 0.0
		for _, d := range demands {
			b := &bucket{limit: 6 * refill, refill: refill, share: 1, tokens: refill, synced: true}
			b.setShare(d, Others{Nodes: len(demands) - 1, Milli: all - d}, time.Time{})
			require.Positive(t, b.share)
			require.LessOrEqual(t, b.tokens, b.limit*b.share)
			sum += b.share
		}
		require.InDelta(t, 1, sum, 1e-9)
	})
}

func TestARequestAllocatesNothing(t *testing.T) {
	l, p := New(Config{}), caller(access.Rate{Limit: 1, RefillPerSecond: 1, InFlight: 5})
	require.Zero(t, testing.AllocsPerRun(100, func() {
		l.Allow(p, 1)
		if release, ok := l.Acquire(p); ok {
			release()
		}
	}))
}

func BenchmarkAllow(b *testing.B) {
	l, p := New(Config{}), caller(standard)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l.Allow(p, 1)
			if release, ok := l.Acquire(p); ok {
				release()
			}
		}
	})
}
