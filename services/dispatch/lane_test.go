package dispatch

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/webhook"
)

// laneRig is a scheduler with a clock of its own, without anything that sends.
type laneRig struct {
	*scheduler
	clock time.Time
	from  *assignment
}

func newLaneRig(cfg LaneConfig) *laneRig {
	cfg.setDefaults()
	r := &laneRig{clock: time.Unix(1e9, 0), from: &assignment{}}
	r.scheduler = newScheduler(cfg, func() time.Time { return r.clock })
	return r
}

func (r *laneRig) add(company tenant.ID, sub uuid.UUID, host string) (run []*job, full bool) {
	j := &job{msg: &webhook.Message{Company: company, SubscriptionID: sub, Body: []byte("12345678")}, from: r.from}
	run, created, full := r.enqueue(j)
	if created {
		opened, _ := r.ready(j.lane, host, nil)
		run = append(run, opened...)
	}
	return run, full
}

func (r *laneRig) end(j *job, took time.Duration, failed bool) []*job {
	j.took, j.failed = took, failed
	return r.finish(j)
}

// Whatever arrives and ends in whatever order: the limits hold, each lane is first in, first out, and
// nothing waits while it could run.
func TestSchedulerKeepsLimitsAndLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := newLaneRig(LaneConfig{PerReceiver: 2, PerHost: 3, PerCompany: 4, Total: 6, Burst: 1000})
		companies := []tenant.ID{tenant.NewID(), tenant.NewID()}
		subs := make([]uuid.UUID, 8)
		for i := range subs {
			subs[i] = uuid.New()
		}
		var running []*job
		queued, begun := map[uuid.UUID][]*job{}, 0
		added := 0
		start := func(run []*job) {
			for _, j := range run {
				q := queued[j.msg.SubscriptionID]
				require.Same(t, q[0].msg, j.msg, "first in, first out")
				queued[j.msg.SubscriptionID] = q[1:]
				running = append(running, j)
				begun++
			}
		}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			if len(running) > 0 && rapid.Bool().Draw(t, "end") {
				i := rapid.IntRange(0, len(running)-1).Draw(t, "which")
				j := running[i]
				running = append(running[:i], running[i+1:]...)
				start(r.end(j, time.Millisecond, rapid.Bool().Draw(t, "failed")))
			} else {
				i := rapid.IntRange(0, len(subs)-1).Draw(t, "sub")
				j := &job{msg: &webhook.Message{Company: companies[i%2], SubscriptionID: subs[i], Body: []byte("x")}, from: r.from}
				queued[subs[i]] = append(queued[subs[i]], j)
				added++
				run, created, full := r.enqueue(j)
				require.False(t, full)
				start(run)
				if created {
					opened, _ := r.ready(j.lane, []string{"a", "b", "c"}[i%3], nil)
					start(opened)
				}
			}
			r.requireLimits(t, running)
		}
		for len(running) > 0 {
			j := running[0]
			running = running[1:]
			start(r.end(j, time.Millisecond, false))
			r.requireLimits(t, running)
		}
		require.Equal(t, added, begun, "nothing is left behind")
		require.Empty(t, r.backlog)
		require.Zero(t, r.total.used)
	})
}

func (r *laneRig) requireLimits(t *rapid.T, running []*job) {
	lanes, hosts, companies := map[*lane]int{}, map[*limiter]int{}, map[*limiter]int{}
	for _, j := range running {
		lanes[j.lane]++
		hosts[j.host]++
		companies[j.lane.company]++
	}
	require.LessOrEqual(t, len(running), 6)
	for l := range r.backlog {
		limit := 2
		if l.failures > 0 {
			limit = 1 // a failing receiver may be kept at one, and looks again when that ends
		}
		able := lanes[l] < limit && hosts[l.host] < 3 && companies[l.company] < 4 && len(running) < 6
		require.False(t, able, "a job waits although all limits have room")
	}
	for _, n := range lanes {
		require.LessOrEqual(t, n, 2)
	}
	for _, n := range hosts {
		require.LessOrEqual(t, n, 3)
	}
	for _, n := range companies {
		require.LessOrEqual(t, n, 4)
	}
}

func TestLaneTakesLittleForSickReceivers(t *testing.T) {
	t.Parallel()
	fill := func(r *laneRig, sub uuid.UUID) (n int) {
		company := tenant.NewID()
		for {
			if _, full := r.add(company, sub, "host"); full {
				return n
			}
			n++
		}
	}
	r := newLaneRig(LaneConfig{})
	require.Equal(t, 2048+4, fill(r, uuid.New()), "unknown: optimistic")

	r = newLaneRig(LaneConfig{})
	company, sub := tenant.NewID(), uuid.New()
	run, _ := r.add(company, sub, "host")
	r.end(run[0], 100*time.Millisecond, false)
	n := 0
	for full := false; !full; n++ {
		_, full = r.add(company, sub, "host")
	}
	require.Equal(t, 160+4, n-1, "40 a second for 4 s, and 4 under way")

	r = newLaneRig(LaneConfig{})
	run, _ = r.add(company, sub, "host")
	r.clock = r.clock.Add(1500 * time.Millisecond)
	for n, full := 0, false; !full; n++ {
		_, full = r.add(company, sub, "host")
		require.LessOrEqual(t, n, 64+4)
	}
	require.NotEmpty(t, run)
}

func TestLanesAreEmptiedWhenTheyWaitTooLong(t *testing.T) {
	t.Parallel()
	r := newLaneRig(LaneConfig{PerReceiver: 1})
	company, sub := tenant.NewID(), uuid.New()
	for range 3 {
		r.add(company, sub, "host")
	}
	r.clock = r.clock.Add(4 * time.Second)
	r.add(company, sub, "host")
	require.Empty(t, r.overdue(time.Time{}))
	r.clock = r.clock.Add(2 * time.Second)
	require.Empty(t, r.overdue(r.clock.Add(-4*time.Second)), "the sender itself was held up")
	require.Len(t, r.overdue(time.Time{}), 2)
	require.Len(t, r.backlog, 1)
}

func TestLanesAreForgotten(t *testing.T) {
	t.Parallel()
	r := newLaneRig(LaneConfig{})
	run, _ := r.add(tenant.NewID(), uuid.New(), "host")
	r.clock = r.clock.Add(time.Hour)
	require.Empty(t, r.evict(), "one that runs stays")
	r.end(run[0], time.Second, false)
	r.clock = r.clock.Add(16 * time.Minute)
	require.Len(t, r.evict(), 1)
	require.Empty(t, r.lanes)
	require.Empty(t, r.hosts)
	require.Empty(t, r.companies)
}

func TestBacklogIsBoundedByWhatGetsDone(t *testing.T) {
	t.Parallel()
	r := newLaneRig(LaneConfig{})
	company := tenant.NewID()
	for range minBacklog {
		require.Nil(t, r.overloaded())
		r.add(company, uuid.New(), "host")
	}
	more := r.overloaded()
	require.NotNil(t, more)
	r.measure(100 * time.Millisecond)
	for range 16 { // as many as run do not wait
		require.Nil(t, r.overloaded())
		r.add(company, uuid.New(), "host")
	}
	more = r.overloaded()
	require.NotNil(t, more, "nothing has moved")
	r.clock = r.clock.Add(2 * time.Second)
	r.measure(100 * time.Millisecond)
	<-more
	require.Nil(t, r.overloaded(), "a host that takes nothing must not hold up the others")
}

// Larger limits let waiting jobs run at once, whichever of them they wait for; smaller ones let jobs end first.
func TestSchedulerTakesNewLimits(t *testing.T) {
	t.Parallel()
	large := LaneConfig{PerReceiver: 3, PerHost: 3, PerCompany: 4, Total: 5}
	for name, row := range map[string]struct {
		small LaneConfig
		begun int
	}{
		"receiver": {LaneConfig{PerReceiver: 1, PerHost: 3, PerCompany: 4, Total: 5}, 2},
		"host":     {LaneConfig{PerReceiver: 3, PerHost: 1, PerCompany: 4, Total: 5}, 2},
		"company":  {LaneConfig{PerReceiver: 3, PerHost: 3, PerCompany: 1, Total: 5}, 2},
		"total":    {LaneConfig{PerReceiver: 3, PerHost: 3, PerCompany: 4, Total: 1}, 1},
		"all":      {LaneConfig{PerReceiver: 1, PerHost: 1, PerCompany: 1, Total: 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newLaneRig(row.small)
			var running []*job
			for range 2 {
				company, sub := tenant.NewID(), uuid.New()
				for range 10 {
					run, full := r.add(company, sub, sub.String())
					require.False(t, full)
					running = append(running, run...)
				}
			}
			require.Len(t, running, row.begun)
			running = append(running, r.setLimits(large)...)
			require.Len(t, running, 5)

			require.Empty(t, r.setLimits(row.small))
			ended := 0
			for len(running) > 0 {
				next := r.end(running[0], time.Millisecond, false)
				ended++
				if len(running) == 5 && ended == 1 {
					require.Empty(t, next, "4 run, %d may", row.begun)
				}
				running = append(running[1:], next...)
			}
			require.Equal(t, 20, ended, "none is forgotten")
		})
	}
}
