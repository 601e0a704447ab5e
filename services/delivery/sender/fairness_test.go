package sender

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// load is a number of receivers of one company on the host that all share, and how they answer.
type load struct {
	receivers int
	every     time.Duration // between two deliveries of one receiver
	took      func(at time.Duration) time.Duration

	waits   []time.Duration // of the deliveries that began
	overdue int             // deliveries that waited too long
	begun   map[uuid.UUID]int
}

func always(d time.Duration) func(time.Duration) time.Duration {
	return func(time.Duration) time.Duration { return d }
}

// simulate plays the loads against one scheduler in steps of 5 ms of a clock of its own.
func simulate(t *testing.T, lasts time.Duration, loads ...*load) {
	t.Helper()
	const step = 5 * time.Millisecond
	r := newTestScheduler(QueueConfig{})
	began := r.clock
	type running struct {
		*job
		load *load
		ends time.Time
	}
	var under []running
	owner := map[tenant.ID]*load{}
	start := func(jobs []*job) {
		for _, j := range jobs {
			l := owner[j.msg.Company]
			l.waits = append(l.waits, r.clock.Sub(j.queuedAt))
			l.begun[j.msg.SubscriptionID]++
			j.started = r.clock
			under = append(under, running{j, l, r.clock.Add(l.took(r.clock.Sub(began)))})
		}
	}
	subs := make([][]uuid.UUID, len(loads))
	companies := make([]tenant.ID, len(loads))
	for i, l := range loads {
		companies[i], l.begun = tenant.NewID(), map[uuid.UUID]int{}
		owner[companies[i]] = l
		for range l.receivers {
			subs[i] = append(subs[i], uuid.New())
		}
	}
	for at := time.Duration(0); at < lasts; at += step {
		r.clock = began.Add(at)
		for n := 0; n < len(under); n++ {
			if v := under[n]; !v.ends.After(r.clock) {
				under = slices.Delete(under, n, n+1)
				start(r.end(v.job, v.ends.Sub(v.started), false))
				n--
			}
		}
		for i, l := range loads {
			if at%l.every != 0 {
				continue
			}
			for _, sub := range subs[i] {
				require.Nil(t, r.backpressure(r.job(companies[i], sub)), "work for all is held up at %v", at)
				run, full := r.add(companies[i], sub, "shared.example")
				if full {
					l.overdue++
				}
				start(run)
			}
		}
		if at%(100*time.Millisecond) == 0 {
			r.measure(100 * time.Millisecond)
			r.markSlow(r.clock.Add(-webhook.SlowAfter))
			for _, j := range r.overdue(time.Time{}) {
				owner[j.msg.Company].overdue++
			}
		}
	}
}

func (l *load) percentile(p int) time.Duration {
	slices.Sort(l.waits)
	return l.waits[len(l.waits)*p/100]
}

// One company's receivers that succeed slowly share a host with another company's, from the first delivery on or all at
// once later: the other company does not notice, and the slow ones are served, each of them.
func TestSlowReceiversLeaveSlotsToOtherCompanies(t *testing.T) {
	t.Parallel()
	for name, took := range map[string]func(time.Duration) time.Duration{
		"slow from the start": always(9 * time.Second),
		"slow after a while": func(at time.Duration) time.Duration {
			if at < 20*time.Second {
				return 5 * time.Millisecond
			}
			return 9 * time.Second
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &load{receivers: 19, every: 200 * time.Millisecond, took: took}
			b := &load{receivers: 10, every: 50 * time.Millisecond, took: always(5 * time.Millisecond)}
			simulate(t, 2*time.Minute, a, b)
			require.Zero(t, b.overdue)
			require.Len(t, b.waits, 10*20*120)
			require.LessOrEqual(t, b.percentile(99), 10*time.Millisecond)
			require.Len(t, a.begun, 19, "every slow receiver is served")
			for sub, n := range a.begun {
				require.GreaterOrEqual(t, n, 2, sub)
			}
		})
	}
}

// Several slow companies share what is left to slow receivers.
func TestSlowCompaniesShareAlike(t *testing.T) {
	t.Parallel()
	many := &load{receivers: 19, every: time.Second, took: always(9 * time.Second)}
	one := &load{receivers: 1, every: time.Second, took: always(9 * time.Second)}
	fast := &load{receivers: 5, every: 100 * time.Millisecond, took: always(5 * time.Millisecond)}
	simulate(t, 5*time.Minute, many, one, fast)
	require.LessOrEqual(t, fast.percentile(99), 10*time.Millisecond)
	require.Zero(t, fast.overdue)
	require.Greater(t, len(one.waits)*3, len(many.waits), "one receiver of a company is not one of twenty")
	require.NotEmpty(t, many.waits)
}

// What a slow receiver cannot take comes back at the pace at which it takes, and only as much as comes up soon.
func TestPutOffToTheTurnAtASlowReceiver(t *testing.T) {
	t.Parallel()
	r := newTestScheduler(QueueConfig{})
	company, sub := tenant.NewID(), uuid.New()
	run, _ := r.add(company, sub, "host")
	q := run[0].queue
	wait, ok := r.postpone(q, 10)
	require.True(t, ok)
	require.Zero(t, wait, "nothing is known of it: the shortest line will do")

	r.clock = r.clock.Add(9 * time.Second)
	r.end(run[0], 9*time.Second, false)
	var waits []time.Duration
	for {
		wait, ok := r.postpone(q, 100)
		if !ok {
			break
		}
		waits = append(waits, wait)
	}
	require.Equal(t, []time.Duration{9 * time.Second, 18 * time.Second, 27 * time.Second, 36 * time.Second, 45 * time.Second, 54 * time.Second}, waits)
	r.clock = r.clock.Add(10 * time.Second)
	wait, ok = r.postpone(q, 100)
	require.True(t, ok)
	require.Equal(t, 53*time.Second, wait, "behind the others")
	for n := range 5 {
		_, full := r.add(company, sub, "host")
		require.False(t, full, "%d", n)
	}
	for range 3 {
		r.add(company, sub, "host")
	}
	_, full := r.add(company, sub, "host")
	require.True(t, full, "a queue of a slow receiver is no longer than its requests at a time")
}

// After a start no receiver is known. Those of a shared host that hang must not hold all of its slots until their first attempts
// time out.
func TestNewReceiversThatHangLeaveSlotsAtTheirHost(t *testing.T) {
	t.Parallel()
	var loads []*load
	for range 10 {
		loads = append(loads, &load{receivers: 1, every: 100 * time.Millisecond, took: always(10 * time.Second)})
	}
	healthy := &load{receivers: 10, every: 100 * time.Millisecond, took: always(5 * time.Millisecond)}
	simulate(t, 11*time.Second, append(loads, healthy)...)
	require.Zero(t, healthy.overdue)
	require.Len(t, healthy.begun, 10)
	require.LessOrEqual(t, healthy.percentile(50), 5*time.Millisecond)
	require.LessOrEqual(t, healthy.percentile(99), 100*time.Millisecond)
}
