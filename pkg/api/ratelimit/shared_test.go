package ratelimit

import (
	"context"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// fleet is three nodes on one database and one clock.
type fleet struct {
	clock *clock
	nodes [3]*Limiter
	asked [3]float64 // carried over, so that weights below one request a step count
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	d := dbtest.OpenNew(t)
	f := &fleet{clock: newClock()}
	for i := range f.nodes {
		f.nodes[i] = New(Config{Node: uuid.NewString(), Leases: NewDBLeases(d), Now: f.clock.now})
	}
	f.exchange(t)
	f.exchange(t) // the first one of the first node has seen nobody
	for _, n := range f.nodes {
		require.EqualValues(t, 3, n.nodes.Load())
	}
	return f
}

func (f *fleet) exchange(t *testing.T) {
	t.Helper()
	for _, n := range f.nodes {
		n.Exchange(t.Context())
	}
}

// run asks each node for so many requests a second and returns how many were let through on each.
func (f *fleet) run(t *testing.T, p *access.Principal, seconds int, perSecond [3]float64) (through [3]int) {
	t.Helper()
	const step = 20 * time.Millisecond
	for range seconds {
		for range int(time.Second / step) {
			f.clock.add(step)
			for _, i := range rand.Perm(len(f.nodes)) {
				for f.asked[i] += perSecond[i] * step.Seconds(); f.asked[i] >= 1; f.asked[i]-- {
					if f.nodes[i].Allow(p, 1).OK {
						through[i]++
					}
				}
			}
		}
		f.exchange(t)
	}
	return through
}

func sum(n [3]int) int { return n[0] + n[1] + n[2] }

func TestThreeNodesShareABudget(t *testing.T) {
	t.Parallel()
	f, p := newFleet(t), caller(standard)
	const seconds = 20
	through := f.run(t, p, seconds, [3]float64{200, 80, 20})
	// Refill and burst, once more the parts of the burst that late nodes held, and two seconds of stale shares.
	require.LessOrEqual(t, sum(through), 20*seconds+120+80+40)
	require.GreaterOrEqual(t, sum(through), 20*seconds)

	steady := f.run(t, p, 10, [3]float64{200, 80, 20})
	require.InDelta(t, 200, sum(steady), 10, "ten seconds of refill")
	require.InDelta(t, 200*200.0/300, steady[0], 15, "shares follow demand")
	require.InDelta(t, 200*80.0/300, steady[1], 15)
	require.InDelta(t, 200*20.0/300, steady[2], 15)
}

func TestDemandMovesToAnotherNode(t *testing.T) {
	t.Parallel()
	f, p := newFleet(t), caller(standard)
	f.run(t, p, 10, [3]float64{100, 0, 0})
	f.run(t, p, 8, [3]float64{0, 0, 100})
	steady := f.run(t, p, 10, [3]float64{0, 0, 100})
	require.Zero(t, steady[0])
	require.InDelta(t, 200, steady[2], 20, "the node that is asked has all of it")
}

func TestOneNodeHasTheWholeBurst(t *testing.T) {
	t.Parallel()
	f, p := newFleet(t), caller(standard)
	n := f.nodes[1]
	through := 0
	for range 200 {
		if n.Allow(p, 1).OK {
			through++
		}
	}
	require.Equal(t, 40, through, "until the others have been asked")
	select {
	case <-n.wake:
	default:
		t.Fatal("a new token must bring an exchange forward")
	}
	n.Exchange(t.Context())
	for range 200 {
		if n.Allow(p, 1).OK {
			through++
		}
	}
	require.Equal(t, 120, through)
}

func TestInFlightIsShared(t *testing.T) {
	t.Parallel()
	f, p := newFleet(t), caller(standard)
	f.run(t, p, 10, [3]float64{100, 100, 100})
	total := 0
	for _, n := range f.nodes {
		for range 100 {
			if _, ok := n.Acquire(p); ok {
				total++
			}
		}
	}
	require.InDelta(t, 40, total, 3)
}

func TestANodeThatLeavesGivesItsPartBack(t *testing.T) {
	t.Parallel()
	f, p := newFleet(t), caller(standard)
	idle := caller(standard)
	f.run(t, idle, 3, [3]float64{100, 100, 100})
	f.run(t, p, 10, [3]float64{100, 100, 100})
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	for _, n := range f.nodes[1:] {
		g.Go(func() error { return n.Run(ctx) })
	}
	cancel()
	require.NoError(t, g.Wait())
	f.nodes[0].Exchange(t.Context())
	require.EqualValues(t, 1, f.nodes[0].nodes.Load())
	require.InDelta(t, 1, f.nodes[0].shareOf(p, 0), 1e-9)
	require.InDelta(t, 1, f.nodes[0].shareOf(idle, 0), 1e-9)
}

func TestLeasesOfADeadNodeEnd(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	require.Eventually(t, func() bool {
		f.nodes[0].Exchange(t.Context())
		return f.nodes[0].nodes.Load() == 1
	}, time.Minute, 100*time.Millisecond)
}

func TestManyTokensGoInBatches(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var callers []*access.Principal
	for range 2*leaseBatch + 10 {
		p := caller(standard)
		callers = append(callers, p)
		f.nodes[0].Allow(p, 1)
		f.nodes[1].Allow(p, 1)
	}
	f.exchange(t)
	f.exchange(t)
	for _, p := range callers {
		require.InDelta(t, 0.5, f.nodes[0].shareOf(p, 0), 0.01)
		require.InDelta(t, 0.5, f.nodes[1].shareOf(p, 0), 0.01)
	}
}
