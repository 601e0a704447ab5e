package lease_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/lease"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

const eventually = time.Minute

// node is a process with a clock of its own.
type node struct {
	*lease.Lease
	t  *testing.T
	at atomic.Int64 // how far its clock is ahead
}

func (n *node) now() time.Time           { return time.Now().Add(time.Duration(n.at.Load())) }
func (n *node) advance(by time.Duration) { n.at.Add(int64(by)) }
func (n *node) holds() bool {
	n.t.Helper()
	held, err := n.Hold(n.t.Context())
	require.NoError(n.t, err)
	return held
}

func start(t *testing.T, d *db.DB, job, name string, ttl time.Duration) *node {
	n := &node{t: t}
	n.Lease = lease.New(lease.Config{DB: d, Name: job, Node: name, TTL: ttl, Now: n.now})
	return n
}

// open returns a pool whose transactions pass the injector.
func open(t *testing.T, inject failpoint.Injector) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 4, Inject: inject})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

func TestOneOwnerPerJob(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	a, b := start(t, d, t.Name(), "a", time.Minute), start(t, d, t.Name(), "b", time.Minute)
	other := start(t, d, t.Name()+"/other", "b", time.Minute)
	require.True(t, a.holds())
	require.False(t, b.holds())
	require.True(t, a.holds())
	require.True(t, other.holds(), "jobs are independent")
	require.NoError(t, b.Release(t.Context()), "it holds nothing")
	require.False(t, b.holds())
	require.NoError(t, a.Release(t.Context()))
	require.True(t, b.holds(), "at once")
	require.False(t, a.holds())
	require.NoError(t, a.Release(t.Context()))
	require.False(t, a.holds(), "what another one holds cannot be released")
}

// Two processes of the same name, or a process and its predecessor, are two.
func TestSameNameIsNotTheSameOwner(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	first, second := start(t, d, t.Name(), "host-1", time.Minute), start(t, d, t.Name(), "host-1", time.Minute)
	require.True(t, first.holds())
	require.False(t, second.holds())
}

func TestDeadOwnerIsSucceeded(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	dead, next := start(t, d, t.Name(), "dead", 500*time.Millisecond), start(t, d, t.Name(), "next", time.Minute)
	require.Eventually(t, dead.holds, eventually, time.Millisecond)
	began := time.Now()
	next.advance(-time.Hour) // only the clock of the database counts
	require.Eventually(t, next.holds, eventually, 5*time.Millisecond)
	require.Greater(t, time.Since(began), 200*time.Millisecond, "the lease was not over")
	require.False(t, dead.holds())
}

// The owner stops by its own clock before others may take over, and asks again when half of the time is over.
func TestOwnerStopsBeforeTheLeaseExpires(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	var asked atomic.Int64
	d := open(t, func(_ context.Context, h failpoint.Hit) error {
		if h.Point != db.AtBegin {
			return nil
		}
		asked.Add(1)
		if away.Load() {
			return errors.New("away")
		}
		return nil
	})
	a := start(t, d, t.Name(), "a", time.Hour)
	require.True(t, a.holds())
	a.advance(20 * time.Minute)
	require.True(t, a.holds())
	require.EqualValues(t, 1, asked.Load(), "more than half is left")
	a.advance(5 * time.Minute)
	require.True(t, a.holds())
	require.EqualValues(t, 2, asked.Load(), "renewed")

	away.Store(true)
	a.advance(53 * time.Minute)
	held, err := a.Hold(t.Context())
	require.ErrorContains(t, err, "away")
	require.True(t, held, "what the database confirmed lasts")
	a.advance(2 * time.Minute)
	held, err = a.Hold(t.Context())
	require.ErrorContains(t, err, "away")
	require.False(t, held, "the margin has begun")
	b := start(t, open(t, nil), t.Name(), "b", time.Hour)
	require.False(t, b.holds(), "the database still reserves it")
	away.Store(false)
	require.True(t, a.holds())
}

// An answer that arrives after the lease would be over confirms nothing.
func TestLateAnswerIsNotCountedOn(t *testing.T) {
	t.Parallel()
	var a *node
	var late atomic.Bool
	late.Store(true)
	d := open(t, failpoint.On(map[failpoint.Point]func(context.Context) error{
		db.AfterCommit: func(context.Context) error {
			if late.Swap(false) {
				a.advance(time.Hour)
			}
			return nil
		},
	}))
	a = start(t, d, t.Name(), "a", time.Minute)
	require.False(t, a.holds())
	require.True(t, a.holds(), "it is the owner, and asks again")
}

// The answer to a take is lost for good: the process may be the owner without knowing.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	var lost atomic.Bool
	lost.Store(true)
	d := open(t, failpoint.On(map[failpoint.Point]func(context.Context) error{
		db.AfterCommit: func(context.Context) error {
			if lost.Load() {
				return io.ErrUnexpectedEOF
			}
			return nil
		},
	}))
	a, b := start(t, d, t.Name(), "a", time.Hour), start(t, open(t, nil), t.Name(), "b", time.Hour)
	unknown := func() {
		t.Helper()
		held, err := a.Hold(t.Context())
		require.ErrorIs(t, err, db.ErrBusy)
		require.False(t, held, "nothing was confirmed")
		require.False(t, b.holds(), "the take was stored")
	}
	unknown()
	lost.Store(false)
	require.True(t, a.holds(), "it asks again and learns that it is the owner")
	require.NoError(t, a.Release(t.Context()))
	require.True(t, b.holds())
	require.NoError(t, b.Release(t.Context()))

	lost.Store(true)
	unknown()
	lost.Store(false)
	require.NoError(t, a.Release(t.Context()))
	require.True(t, b.holds(), "what may have been taken is released too")
}

func TestReleaseWithoutAnswerIsRepeated(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	d := open(t, failpoint.On(map[failpoint.Point]func(context.Context) error{
		db.AtBegin: func(context.Context) error {
			if away.Load() {
				return errors.New("away")
			}
			return nil
		},
	}))
	a, b := start(t, d, t.Name(), "a", time.Hour), start(t, open(t, nil), t.Name(), "b", time.Hour)
	require.True(t, a.holds())
	away.Store(true)
	require.ErrorContains(t, a.Release(t.Context()), "away")
	held, err := a.Hold(t.Context())
	require.Error(t, err)
	require.False(t, held, "it has given up its part")
	require.False(t, b.holds())
	away.Store(false)
	require.NoError(t, a.Release(t.Context()))
	require.True(t, b.holds())
}

// spell is a time in which a process worked because it held the lease.
type spell struct {
	owner    int
	from, to time.Time
}

// Processes take over from each other while answers are lost, transactions fail, and owners pause for longer than their
// leases last. Whoever is told that it holds the lease works alone for the half of the TTL that the answer is good for.
func TestNeverTwoOwners(t *testing.T) {
	t.Parallel()
	const ttl = 400 * time.Millisecond
	chaos := open(t, db.Chaos(0.2, 0))
	var mu sync.Mutex
	var spells []spell
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			l := lease.New(lease.Config{DB: chaos, Name: t.Name(), Node: "n", TTL: ttl})
			for ctx.Err() == nil {
				began := time.Now()
				held, err := l.Hold(ctx)
				told := time.Now()
				<-time.After(rand.N(10 * time.Millisecond))
				if end := time.Now(); held && err == nil && end.Sub(began) < ttl/2 { // otherwise the machine was busy
					mu.Lock()
					spells = append(spells, spell{i, told, end})
					mu.Unlock()
				}
				switch rand.N(20) {
				case 0:
					_ = l.Release(ctx)
				case 1:
					<-time.After(ttl + rand.N(ttl/2)) // a frozen process
				}
			}
		})
	}
	all.Wait()
	slices.SortFunc(spells, func(a, b spell) int { return a.from.Compare(b.from) })
	changes := 0
	for i := 1; i < len(spells); i++ {
		if spells[i-1].owner == spells[i].owner {
			continue
		}
		changes++
		require.False(t, spells[i].from.Before(spells[i-1].to), "two owners at once: %v", spells[i-1:i+1])
	}
	require.Positive(t, changes, "nobody took over")
}
