package sender

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// testScheduler is a scheduler with a clock of its own, without anything that sends.
type testScheduler struct {
	*scheduler
	clock time.Time
	from  *assignment
}

func newTestScheduler(cfg QueueConfig) *testScheduler {
	cfg.setDefaults()
	r := &testScheduler{clock: time.Unix(1e9, 0), from: &assignment{}}
	r.scheduler = newScheduler(cfg, func() time.Time { return r.clock })
	return r
}

func (r *testScheduler) add(company tenant.ID, sub uuid.UUID, host string) (run []*job, full bool) {
	j := r.job(company, sub)
	run, created, full := r.enqueue(j)
	if created {
		opened, _ := r.ready(j.queue, host, 0, nil)
		run = append(run, opened...)
	}
	return run, full
}

// job is one that is written now.
func (r *testScheduler) job(company tenant.ID, sub uuid.UUID) *job {
	return &job{
		rec: &kafka.Record{Record: &kgo.Record{Timestamp: r.clock}}, from: r.from,
		msg: &webhook.Message{Company: company, SubscriptionID: sub, Body: []byte("12345678")},
	}
}

func (r *testScheduler) end(j *job, took time.Duration, failed bool) []*job {
	j.took, j.failed = took, failed
	return r.finish(j)
}

// Whatever arrives and ends in whatever order: the limits hold, the deliveries of a record start one after the other and in
// order, and nothing waits while it could run.
func TestSchedulerKeepsLimitsAndLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := newTestScheduler(QueueConfig{PerReceiver: 2, PerHost: 8, PerCompany: 9, Total: 10, burst: 1000})
		companies := []tenant.ID{tenant.NewID(), tenant.NewID(), tenant.NewID()}
		subs := make([]uuid.UUID, 15)
		for i := range subs {
			subs[i] = uuid.New()
		}
		var running []*job
		queued, begun := map[uuid.UUID][]*job{}, 0
		added := 0
		start := func(run []*job) {
			for _, j := range run {
				q := queued[j.msg.SubscriptionID]
				first := slices.IndexFunc(q, func(other *job) bool { return other.msg.Entity == j.msg.Entity })
				require.Same(t, q[first].msg, j.msg, "first in, first out")
				queued[j.msg.SubscriptionID] = slices.Delete(q, first, first+1)
				if j.msg.Entity != uuid.Nil {
					require.False(t, slices.ContainsFunc(running, func(other *job) bool {
						return other.queue == j.queue && other.msg.Entity == j.msg.Entity
					}), "one of a record at a time")
				}
				r.begin(j, r.clock)
				running = append(running, j)
				begun++
			}
		}
		record := rapid.SampledFrom([]uuid.UUID{{}, {1}, {2}})
		took := rapid.SampledFrom([]time.Duration{time.Millisecond, 3 * time.Second})
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			var run []*job
			switch step := rapid.IntRange(0, 9).Draw(t, "step"); {
			case step == 0:
				r.clock = r.clock.Add(2 * webhook.SlowAfter)
				r.markSlow(r.clock.Add(-webhook.SlowAfter))
			case step < 5 && len(running) > 0:
				i := rapid.IntRange(0, len(running)-1).Draw(t, "which")
				j := running[i]
				running = append(running[:i], running[i+1:]...)
				run = r.end(j, took.Draw(t, "took"), rapid.Bool().Draw(t, "failed"))
				start(run)
			default:
				i := rapid.IntRange(0, len(subs)-1).Draw(t, "sub")
				j := &job{msg: &webhook.Message{Company: companies[i%3], SubscriptionID: subs[i], Entity: record.Draw(t, "record"), Body: []byte("x")}, from: r.from}
				before := queued[subs[i]]
				queued[subs[i]] = append(before, j)
				var created, full bool
				run, created, full = r.enqueue(j)
				if full {
					require.Greater(t, len(before), 1)
					queued[subs[i]] = before
				} else {
					added++
				}
				if created {
					opened, _ := r.ready(j.queue, []string{"a", "b"}[i%2], 0, nil)
					run = append(run, opened...)
				}
				start(run)
			}
			r.requireLimits(t, running, run)
		}
		for len(running) > 0 {
			j := running[0]
			running = running[1:]
			run := r.end(j, time.Millisecond, false)
			start(run)
			r.requireLimits(t, running, run)
		}
		require.Equal(t, added, begun, "nothing is left behind")
		require.Empty(t, r.backlog)
		require.Zero(t, r.total.used)
		require.Zero(t, r.total.slow)
		for _, h := range r.hosts {
			require.Zero(t, h.used+h.slow+h.unknown)
			for _, share := range h.shares {
				require.Zero(t, share.used+share.slow)
			}
		}
	})
}

// requireLimits checks what runs against limits of 2 per receiver (1 before the first attempt has ended), 8 per host, of which a company gets 6,
// slow receivers 3, and slow and unknown ones together 6, 9 per company, of which slow ones get 4, and 10 in all, of which slow ones get 4. Attempts that have
// turned slow under way may exceed the bounds for slow ones; none begins then.
func (r *testScheduler) requireLimits(t *rapid.T, running []*job, begun []*job) {
	type slots struct{ used, slow, unknown int }
	queues, hosts, shares, companies, total := map[*receiverQueue]int{}, map[*host]slots{}, map[*limiter]slots{}, map[*limiter]slots{}, slots{}
	count := func(s slots, isSlow bool) slots {
		s.used++
		if isSlow {
			s.slow++
		}
		return s
	}
	for _, j := range running {
		q := j.queue
		queues[q]++
		h := count(hosts[q.host], j.speed == slow)
		if j.speed == unknown {
			h.unknown++
		}
		hosts[q.host] = h
		shares[q.share] = count(shares[q.share], j.speed != fast)
		companies[q.company] = count(companies[q.company], j.speed == slow)
		total = count(total, j.speed == slow)
	}
	fits := func(q *receiverQueue, s slots, limit, slowLimit int, isSlow bool) bool {
		return s.used <= limit && (!isSlow || s.slow <= slowLimit)
	}
	allow := func(q *receiverQueue, v speed, more int) bool {
		add := func(s slots, isSlow bool) slots {
			s.used += more
			if isSlow {
				s.slow += more
			}
			return s
		}
		isSlow, unproven := v == slow, v != fast
		if h := hosts[q.host]; v == unknown && h.slow+h.unknown+more > 6 {
			return false
		}
		return fits(q, add(hosts[q.host], isSlow), 8, 3, isSlow) && fits(q, add(shares[q.share], unproven), 6, 3, unproven) &&
			fits(q, add(companies[q.company], isSlow), 9, 4, isSlow) && fits(q, add(total, isSlow), 10, 4, isSlow)
	}
	for _, j := range begun {
		require.True(t, allow(j.queue, j.speed, 0), "a job has begun beyond a limit")
	}
	for q, n := range queues {
		require.LessOrEqual(t, n, 2)
		require.True(t, allow(q, fast, 0), "a limit is exceeded")
	}
	for q := range r.backlog {
		if len(q.jobs) == 0 {
			continue // all wait for others of their records
		}
		limit := 2
		if q.failures > 0 || q.average == 0 {
			limit = 1 // a failing receiver may be kept at one, and looks again when that ends
		}
		require.False(t, queues[q] < limit && allow(q, q.speed(), 1), "a job waits although all limits have room")
	}
}

func TestQueuesOfSickReceiversTakeLittle(t *testing.T) {
	t.Parallel()
	fill := func(r *testScheduler, sub uuid.UUID) (n int) {
		company := tenant.NewID()
		for {
			if _, full := r.add(company, sub, "host"); full {
				return n
			}
			n++
		}
	}
	r := newTestScheduler(QueueConfig{})
	require.Equal(t, 2048+1, fill(r, uuid.New()), "unknown: optimistic")

	r = newTestScheduler(QueueConfig{})
	company, sub := tenant.NewID(), uuid.New()
	run, _ := r.add(company, sub, "host")
	r.end(run[0], 100*time.Millisecond, false)
	n := 0
	for full := false; !full; n++ {
		_, full = r.add(company, sub, "host")
	}
	require.Equal(t, 160+4, n-1, "40 a second for 4 s, and 4 under way")

	r = newTestScheduler(QueueConfig{})
	run, _ = r.add(company, sub, "host")
	r.clock = r.clock.Add(1500 * time.Millisecond)
	for n, full := 0, false; !full; n++ {
		_, full = r.add(company, sub, "host")
		require.LessOrEqual(t, n, 64+4)
	}
	require.NotEmpty(t, run)
}

func TestReceiverQueuesAreEmptiedWhenTheyWaitTooLong(t *testing.T) {
	t.Parallel()
	r := newTestScheduler(QueueConfig{PerReceiver: 1})
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

func TestReceiverQueuesAreForgotten(t *testing.T) {
	t.Parallel()
	r := newTestScheduler(QueueConfig{})
	run, _ := r.add(tenant.NewID(), uuid.New(), "host")
	r.clock = r.clock.Add(time.Hour)
	require.Empty(t, r.evict(), "one that runs stays")
	r.end(run[0], time.Second, false)
	r.clock = r.clock.Add(16 * time.Minute)
	require.Len(t, r.evict(), 1)
	require.Empty(t, r.queues)
	require.Empty(t, r.hosts)
	require.Empty(t, r.companies)
}

// The periodic work stops once nothing is queued or running and the rate of what was has faded, and the next job wakes it.
func TestSchedulerSleepsOnlyWithoutJobs(t *testing.T) {
	t.Parallel()
	r := newTestScheduler(QueueConfig{PerReceiver: 1})
	awake := func() bool { return len(r.awake) > 0 }
	require.True(t, r.measure(100*time.Millisecond), "nothing was ever sent")
	require.False(t, awake())
	company, sub := tenant.NewID(), uuid.New()
	run, _ := r.add(company, sub, "host")
	require.True(t, awake())
	<-r.awake
	r.add(company, sub, "host")
	require.False(t, awake(), "it wakes once")
	for range 100 {
		require.False(t, r.measure(100*time.Millisecond), "one runs")
	}
	for len(run) > 0 {
		run = r.end(run[0], time.Second, false)
	}
	n := 1
	for ; !r.measure(100 * time.Millisecond); n++ {
		require.Less(t, n, 100)
	}
	require.Greater(t, n, 1, "the rate fades first")
	require.Less(t, r.rate, 1.0)
	r.add(company, sub, "host")
	require.True(t, awake())
}

func TestBacklogIsBoundedByWhatGetsDone(t *testing.T) {
	t.Parallel()
	r := newTestScheduler(QueueConfig{})
	company := tenant.NewID()
	for range minBacklog {
		require.Nil(t, r.backpressure(r.job(company, uuid.New())))
		r.add(company, uuid.New(), "host")
	}
	more := r.backpressure(r.job(company, uuid.New()))
	require.NotNil(t, more)
	r.measure(100 * time.Millisecond)
	for range minority(16) { // as many as run do not wait
		require.Nil(t, r.backpressure(r.job(company, uuid.New())))
		r.add(company, uuid.New(), "host")
	}
	more = r.backpressure(r.job(company, uuid.New()))
	require.NotNil(t, more, "nothing has moved")
	r.clock = r.clock.Add(2 * time.Second)
	r.measure(100 * time.Millisecond)
	<-more
	require.Nil(t, r.backpressure(r.job(company, uuid.New())), "a host that takes nothing must not hold up the others")
}

// A healthy receiver's full queue is waited for, while it is worked off and for a moment only; others are not held up by it.
func TestFullQueueOfAHealthyReceiverIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := newTestScheduler(QueueConfig{burst: 1000})
	company, sub := tenant.NewID(), uuid.New()
	first, _ := r.add(company, sub, "host")
	running := append(first, fill(r, company, sub)...)
	next := r.job(company, sub)
	require.Nil(t, r.backpressure(next), "nothing is known of it yet: it is postponed")
	work := func(took time.Duration, perTick int) {
		for range 10 {
			r.clock = r.clock.Add(100 * time.Millisecond)
			for range perTick {
				running = append(running[1:], r.end(running[0], took, false)...)
				fill(r, company, sub)
			}
			r.measure(100 * time.Millisecond)
		}
	}
	work(time.Millisecond, 100)
	next = r.job(company, sub)
	more := r.backpressure(next)
	require.NotNil(t, more)
	require.Nil(t, r.backpressure(r.job(tenant.NewID(), uuid.New())), "another receiver has room")
	running = append(running[1:], r.end(running[0], time.Millisecond, false)...)
	r.measure(100 * time.Millisecond)
	<-more
	require.Nil(t, r.backpressure(next), "there is room")
	r.from.checking.Add(1)
	require.NotNil(t, r.backpressure(next), "the room is for one that is looked up first")
	r.from.checking.Add(-1)

	fill(r, company, sub)
	require.NotNil(t, r.backpressure(next))
	for began := r.clock; r.clock.Sub(began) <= maxPartitionDelay; {
		work(time.Millisecond, 100)
	}
	require.NotNil(t, r.backpressure(r.job(company, sub)))
	require.Nil(t, r.backpressure(next), "it has held up its partition for long enough")
	work(time.Millisecond, 10)
	require.Nil(t, r.backpressure(r.job(company, sub)), "a thousand at a hundred a second take too long")
}

// A queue may also be full by the size of its deliveries.
func TestQueueFullOfBytesIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := newTestScheduler(QueueConfig{burst: 1000, queueBytes: 80, burstBytes: 80})
	company, sub := tenant.NewID(), uuid.New()
	running, _ := r.add(company, sub, "host")
	running = append(running, fill(r, company, sub)...)
	for range 10 {
		r.clock = r.clock.Add(100 * time.Millisecond)
		for range 20 {
			running = append(running[1:], r.end(running[0], time.Millisecond, false)...)
			fill(r, company, sub)
		}
		r.measure(100 * time.Millisecond)
	}
	require.Len(t, r.queues[webhook.SubscriptionKey{Company: company, ID: sub}].jobs, 10)
	require.NotNil(t, r.backpressure(r.job(company, sub)))
	r.end(running[0], time.Millisecond, false)
	require.Nil(t, r.backpressure(r.job(company, sub)))
}

// Whoever waits for a full queue goes on, also when all the jobs that were to fill it are dropped as repeats.
func TestWaitForAFullQueueEnds(t *testing.T) {
	t.Parallel()
	r := newTestScheduler(QueueConfig{burst: 100})
	company, sub := tenant.NewID(), uuid.New()
	running, _ := r.add(company, sub, "host")
	running = append(running, fill(r, company, sub)...)
	for len(running) > 0 {
		running = append(running[1:], r.end(running[0], time.Millisecond, false)...)
	}
	for !r.measure(100 * time.Millisecond) {
		r.clock = r.clock.Add(100 * time.Millisecond)
	}
	r.queues[webhook.SubscriptionKey{Company: company, ID: sub}].rate = 1000
	<-r.awake
	r.from.checking.Add(100)
	more := r.backpressure(r.job(company, sub))
	require.NotNil(t, more)
	<-r.awake
	r.from.checking.Add(-100)
	r.measure(100 * time.Millisecond)
	<-more
	require.Nil(t, r.backpressure(r.job(company, sub)))
}

// fill adds jobs of a receiver until its queue is full, and returns those that start.
func fill(r *testScheduler, company tenant.ID, sub uuid.UUID) (all []*job) {
	for {
		run, full := r.add(company, sub, "host")
		all = append(all, run...)
		if full {
			return all
		}
	}
}

// Larger limits let waiting jobs run at once, whichever of them they wait for; smaller ones let jobs end first.
func TestSchedulerTakesNewLimits(t *testing.T) {
	t.Parallel()
	large := QueueConfig{PerReceiver: 3, PerHost: 3, PerCompany: 4, Total: 5}
	for name, row := range map[string]struct {
		small QueueConfig
		begun int
	}{
		"receiver": {QueueConfig{PerReceiver: 1, PerHost: 3, PerCompany: 4, Total: 5}, 2},
		"host":     {QueueConfig{PerReceiver: 3, PerHost: 1, PerCompany: 4, Total: 5}, 2},
		"company":  {QueueConfig{PerReceiver: 3, PerHost: 3, PerCompany: 1, Total: 5}, 2},
		"total":    {QueueConfig{PerReceiver: 3, PerHost: 3, PerCompany: 4, Total: 1}, 1},
		"all":      {QueueConfig{PerReceiver: 1, PerHost: 1, PerCompany: 1, Total: 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestScheduler(row.small)
			var running []*job
			companies, subs := make([]tenant.ID, 2), make([]uuid.UUID, 2)
			for i := range subs { // both are known to be fast
				companies[i], subs[i] = tenant.NewID(), uuid.New()
				first, _ := r.add(companies[i], subs[i], subs[i].String())
				r.end(first[0], time.Millisecond, false)
			}
			for i, sub := range subs {
				for range 10 {
					run, full := r.add(companies[i], sub, sub.String())
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
