package list

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// counter stands for the database: it holds one number and takes some time to tell it.
type counter struct {
	n       atomic.Int64
	takes   time.Duration
	err     error
	running atomic.Int64
	most    atomic.Int64
	runs    atomic.Int64
}

func (c *counter) count(context.Context) (int64, error) {
	c.runs.Add(1)
	now := c.running.Add(1)
	defer c.running.Add(-1)
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
	}
	n := c.n.Load() // its snapshot
	time.Sleep(c.takes)
	return n, c.err
}

const table = "things" // that all of these lists read

func keyFor(company tenant.ID, what string) key { return key{company, hashOf([]string{what}, nil)} }

func (n *Node) ask(t *testing.T, k key, c *counter) int64 {
	t.Helper()
	got, err := n.total(t.Context(), k, n.cfg.Writes.Last(k.company, []db.Table{table}), c.count)
	require.NoError(t, err)
	return got.n
}

func TestTotalsShowOwnWritesAtOnceAndOthersSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, company := NewNode(NodeConfig{}), tenant.NewID()
		k, c := keyFor(company, "all"), &counter{takes: 10 * time.Millisecond}
		require.EqualValues(t, 0, n.ask(t, k, c))

		c.n.Store(1)
		n.cfg.Writes.Add(company, table)
		require.EqualValues(t, 1, n.ask(t, k, c), "an own write")

		c.n.Store(2) // on another node
		require.EqualValues(t, 1, n.ask(t, k, c), "kept: no second count")
		require.EqualValues(t, 2, c.runs.Load())
		for range 50 { // a client that asks all the time
			time.Sleep(100 * time.Millisecond)
			n.ask(t, k, c)
		}
		require.EqualValues(t, 2, n.ask(t, k, c), "after 5 s")
		require.Less(t, c.runs.Load(), int64(6))

		c.n.Store(3)
		time.Sleep(5 * time.Second) // nobody asks
		require.EqualValues(t, 3, n.ask(t, k, c), "after 5 s")

		n.cfg.Writes.Add(tenant.NewID(), table)
		runs := c.runs.Load()
		n.ask(t, k, c)
		require.Equal(t, runs, c.runs.Load(), "a write of another company changes nothing")

		n.cfg.Writes.Add(company, "others")
		n.ask(t, k, c)
		require.Equal(t, runs, c.runs.Load(), "nor a write of another table")

		c.n.Store(4)
		n.cfg.Writes.Add(tenant.ID{}, table)
		require.EqualValues(t, 4, n.ask(t, k, c), "a write that names no company may be one of any")
	})
}

// A count that began before a write must not answer the writer, who waits for the next one.
func TestTotalsUnderWayDoNotAnswerLaterWriters(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, company := NewNode(NodeConfig{}), tenant.NewID()
		k, c := keyFor(company, "all"), &counter{takes: 100 * time.Millisecond}
		var wg sync.WaitGroup
		wg.Go(func() { require.EqualValues(t, 0, n.ask(t, k, c)) })
		time.Sleep(50 * time.Millisecond)
		c.n.Store(1)
		n.cfg.Writes.Add(company, table)
		for range 10 {
			wg.Go(func() { require.EqualValues(t, 1, n.ask(t, k, c)) })
		}
		wg.Wait()
		require.EqualValues(t, 2, c.runs.Load())
		require.EqualValues(t, 1, c.most.Load())
	})
}

func TestEqualTotalsAreCountedOnceAndTenantsNeverShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, a, b := NewNode(NodeConfig{Conns: 100}), tenant.NewID(), tenant.NewID()
		ofA, ofB := &counter{takes: time.Millisecond}, &counter{takes: time.Millisecond}
		ofA.n.Store(1)
		ofB.n.Store(2)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() { require.EqualValues(t, 1, n.ask(t, keyFor(a, "all"), ofA)) })
			wg.Go(func() { require.EqualValues(t, 2, n.ask(t, keyFor(b, "all"), ofB)) })
		}
		wg.Wait()
		require.EqualValues(t, 1, ofA.runs.Load())
		require.EqualValues(t, 1, ofB.runs.Load())
	})
}

func TestCountsOfANodeAndOfACompanyAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, c, one := NewNode(NodeConfig{Conns: 16}), &counter{takes: 10 * time.Millisecond}, &counter{takes: 10 * time.Millisecond}
		busy := tenant.NewID()
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() { n.ask(t, keyFor(tenant.NewID(), "all"), c) })
			wg.Go(func() { n.ask(t, keyFor(busy, uuid.NewString()), one) })
		}
		wg.Wait()
		require.LessOrEqual(t, c.most.Load(), int64(4), "a quarter of the connections")
		require.LessOrEqual(t, one.most.Load(), int64(2), "half of them for one company")
		require.EqualValues(t, 40, c.runs.Load())
		require.EqualValues(t, 40, one.runs.Load())
		require.Empty(t, n.counts.own)
		require.Empty(t, n.running)
	})
}

func TestCountsThatFindNoSlotAreRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, hog := NewNode(NodeConfig{Conns: 4}), &counter{takes: time.Minute}
		go func() { _, _ = n.total(t.Context(), keyFor(tenant.NewID(), "all"), time.Time{}, hog.count) }()
		synctest.Wait()
		_, err := n.total(t.Context(), keyFor(tenant.NewID(), "all"), time.Time{}, (&counter{}).count)
		f, ok := apierr.As(err)
		require.True(t, ok, "%v", err)
		require.Equal(t, apierr.PoolExhausted, f.Reason())
		time.Sleep(time.Minute)
		require.EqualValues(t, 0, n.ask(t, keyFor(tenant.NewID(), "all"), &counter{}), "free again")
	})
}

// What took too long is not tried again for some seconds, whoever asks.
func TestSlowCountsAreRefusedWithoutAnotherTry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, company := NewNode(NodeConfig{}), tenant.NewID()
		k, c := keyFor(company, "all"), &counter{err: db.ErrTooLong}
		for range 3 {
			_, err := n.total(t.Context(), k, time.Time{}, c.count)
			require.True(t, apierr.Is(err, TooExpensive), "%v", err)
			n.cfg.Writes.Add(company, table)
		}
		require.EqualValues(t, 1, c.runs.Load())
		time.Sleep(cooldown)
		c.err = nil
		n.ask(t, k, c)
		require.EqualValues(t, 2, c.runs.Load())
	})
}

// A caller who leaves does not end the count that others wait for, and an error is not kept.
func TestCountsOutliveTheirFirstCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, company := NewNode(NodeConfig{}), tenant.NewID()
		k, c := keyFor(company, "all"), &counter{takes: 100 * time.Millisecond, err: errors.New("broken")}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := n.total(ctx, k, time.Time{}, c.count)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = n.total(t.Context(), k, time.Time{}, c.count)
		require.ErrorContains(t, err, "broken")
		require.EqualValues(t, 1, c.runs.Load())
		c.err = nil
		require.EqualValues(t, 0, n.ask(t, k, c))
	})
}

func TestAnyOfOneValueIsAnEquation(t *testing.T) {
	t.Parallel()
	q := &Query{}
	q.Where("status = ANY(?::TEXT[])", []string{"new"})
	q.Where("status = ANY(?::TEXT[])", []string{"new", "ready"})
	q.Where("id = ANY(?::UUID[])", []uuid.UUID{uuid.Nil})
	q.Where("(kind = ANY(?::TEXT[]) OR kind IS NULL)", []string{"a"})
	require.Equal(t, []string{"status = $1::TEXT", "status = ANY($2::TEXT[])", "id = $3::UUID", "(kind = ANY($4::TEXT[]) OR kind IS NULL)"}, q.where)
	require.Equal(t, []any{"new", []string{"new", "ready"}, uuid.Nil, []string{"a"}}, q.args)
}

// A total is as good as the last change of a table that the list or one of its conditions reads.
func TestConditionsAddTheirTables(t *testing.T) {
	t.Parallel()
	spec := Spec{From: "stocks s JOIN products p ON p.id = s.product_id", Reads: []db.Table{"stocks", "products"}, Company: "s.company_id"}
	queries := make([]*Query, 3)
	for i, more := range []db.Table{"", "attribute_uses", "skus"} {
		q, err := New(spec, tenant.NewID(), Params{PageSize: 1}, "")
		require.NoError(t, err)
		if queries[i] = q; more != "" {
			q.Reading(more).Where("s.product_id IN (SELECT u.id FROM "+string(more)+" u WHERE u.a = ?)", 1)
		}
	}
	require.Equal(t, []db.Table{"stocks", "products"}, queries[0].reads)
	require.False(t, queries[0].foreign)
	require.Equal(t, []db.Table{"stocks", "products", "attribute_uses"}, queries[1].reads)
	require.True(t, queries[1].foreign)
	require.Equal(t, []db.Table{"stocks", "products", "skus"}, queries[2].reads)

	plain, err := New(Spec{From: "stocks"}, tenant.NewID(), Params{PageSize: 1}, "")
	require.NoError(t, err)
	require.Equal(t, []db.Table{"stocks"}, plain.reads)
}

func TestSegmentsCoverAllTime(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 1, 1, 0, 0, 0, 123456000, time.UTC)
	for _, span := range []time.Duration{0, time.Millisecond, time.Hour, 400 * 24 * time.Hour} {
		s := divide(first, first.Add(span))
		require.Len(t, s.n, len(s.bounds)-1)
		for i := range s.n {
			require.True(t, s.bounds[i].Before(s.bounds[i+1]))
			require.Equal(t, i, s.at(s.bounds[i]), "a bound belongs to what follows")
			require.Equal(t, i, s.at(s.bounds[i+1].Add(-time.Microsecond)))
			require.Equal(t, s.bounds[i+1], s.bounds[i+1].Truncate(time.Microsecond), "the database knows no less")
		}
		require.Equal(t, everBefore, s.bounds[0])
		require.Equal(t, everAfter, s.bounds[len(s.bounds)-1])
		require.Less(t, s.at(first.Add(span)), len(s.n))

		now, segments := s.bounds[len(s.bounds)-2].Add(latest), len(s.n)
		require.Empty(t, s.grow(now.Add(s.width)))
		require.Equal(t, []int{segments - 1, segments}, s.grow(now.Add(s.width+time.Second)), "what was split and what is new")
		require.Len(t, s.n, segments+1)
		require.Len(t, s.bounds, segments+2)
		require.Equal(t, everAfter, s.bounds[segments+1])
		require.Empty(t, s.grow(now.Add(s.width+time.Second)))
	}
}

// Segments become small where there are many records, however unevenly they were created.
func TestCrowdedSegmentsAreSplit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	first, last := now.Add(-1000*24*time.Hour), now.Add(-time.Hour)
	s := divide(first, last)
	count := func(which []int) { // 9000 records over the whole time, 90 000 within the last minute of it
		within := func(from, to time.Time) float64 {
			return max(0, min(1, to.Sub(from).Seconds()/last.Sub(from).Seconds()))
		}
		for _, i := range which {
			n := 0.0
			for from, records := range map[time.Time]float64{first: 9000, last.Add(-time.Minute): 90_000} {
				n += records * (within(from, s.bounds[i+1]) - within(from, s.bounds[i]))
			}
			s.n[i] = int64(n)
		}
	}
	all := make([]int, len(s.n))
	for i := range all {
		all[i] = i
	}
	count(all)
	require.Empty(t, s.split(now, 1000, nil), "nothing was counted")
	for changed := s.split(now, 1000, all); len(changed) > 0; changed = s.split(now, 1000, changed) {
		count(changed)
	}
	require.InDelta(t, 99_000, s.total(), float64(len(s.n)))
	require.Less(t, len(s.n), segmentsKept)
	require.Len(t, s.bounds, len(s.n)+1)
	for i, n := range s.n {
		require.True(t, s.bounds[i].Before(s.bounds[i+1]))
		require.LessOrEqual(t, n, 4*s.total()/segmentsMade)
	}
	for _, desc := range []bool{false, true} {
		for skip := int64(5000); skip < 99_000; skip += 997 {
			p := s.bound(skip, desc)
			require.LessOrEqual(t, p.before, skip)
			require.Less(t, skip-p.before, 4*s.total()/segmentsMade)
		}
	}
}

// The end of a page that was read leads to the next one for as long as a page may be kept, but to others only as long as the records
// before it are counted.
func TestPlacesAreUsedWhileTheyAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, k := NewNode(NodeConfig{}), keyFor(tenant.NewID(), "all")
		began := time.Now()
		n.learn(k, place{before: 2000, read: began, counted: began})
		time.Sleep(3 * time.Second)
		n.learn(k, place{before: 2050, read: time.Now(), counted: began})
		at := func(skip int64, notBefore time.Time) int64 { return n.nearest(k, skip, notBefore).records() }
		require.EqualValues(t, 2000, at(2049, time.Time{}))
		require.EqualValues(t, 2050, at(2050, time.Time{}))
		require.EqualValues(t, 2050, at(9000, time.Time{}))
		require.Zero(t, at(9000, began.Add(1)), "a change since then")
		time.Sleep(2 * time.Second)
		require.EqualValues(t, 2050, at(2050, time.Time{}), "the page behind the one that was read")
		require.Zero(t, at(2051, time.Time{}), "the records before were counted too long ago")
		require.Zero(t, at(1999, time.Time{}))
	})
}

// A cursor belongs to what the client asked for, not to what was found for it; a total belongs to both.
func TestCursorsOutliveWhatWasFound(t *testing.T) {
	t.Parallel()
	company := tenant.NewID()
	query := func(asked string, ids ...uuid.UUID) *Query {
		q, err := New(Spec{From: "things"}, company, Params{PageSize: 1}, "")
		require.NoError(t, err)
		q.Where("color = ?", "red")
		q.WhereFound(asked, "kind = ANY(?::UUID[])", ids)
		return q
	}
	a, b := uuid.New(), uuid.New()
	first, more, other := query("x", a), query("x", a, b), query("y", a)
	require.Equal(t, first.digest(), more.digest())
	require.NotEqual(t, first.digest(), other.digest())
	require.NotEqual(t, first.orderKey(), more.orderKey())
	require.Len(t, more.args, 3, "the condition itself is kept")
	require.Equal(t, []uuid.UUID{a, b}, more.args[2])
	require.False(t, more.foreign)
}
