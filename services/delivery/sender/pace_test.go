package sender

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// paced is a scheduler with a receiver queue that has a pace, and timers that its clock ends.
type paced struct {
	*testScheduler
	company tenant.ID
	sub     uuid.UUID
	due     []time.Time // of the timers
}

func newPaced(pace time.Duration) *paced {
	p := &paced{testScheduler: newTestScheduler(QueueConfig{}), company: tenant.NewID(), sub: uuid.New()}
	p.later = func(_ *receiverQueue, wait time.Duration) { p.due = append(p.due, p.clock.Add(wait)) }
	first := p.job(p.company, p.sub)
	p.enqueue(first)
	run, _ := p.ready(first.queue, "host", pace, nil)
	p.end(run[0], time.Millisecond, false)
	return p
}

func (p *paced) queue() *receiverQueue {
	return p.queues[webhook.SubscriptionKey{Company: p.company, ID: p.sub}]
}

// pass lets time pass and returns the jobs that start.
func (p *paced) pass(d time.Duration) (run []*job) {
	end := p.clock.Add(d)
	for len(p.due) > 0 && !p.due[0].After(end) {
		p.clock = p.due[0]
		p.due = p.due[1:]
		run = append(run, p.resume(p.queue())...)
	}
	p.clock = end
	return run
}

func (p *paced) add(n int) (run []*job, refused int) {
	for range n {
		more, full := p.testScheduler.add(p.company, p.sub, "host")
		if run = append(run, more...); full {
			refused++
		}
	}
	return run, refused
}

// A receiver queue with a pace starts one job after the other, as often as it may, whether they end early or late.
func TestPaceOfAReceiverQueue(t *testing.T) {
	t.Parallel()
	for _, took := range []time.Duration{time.Millisecond, 150 * time.Millisecond, 350 * time.Millisecond} {
		p := newPaced(100 * time.Millisecond)
		began := p.clock
		run, refused := p.add(30)
		require.Empty(t, run, "the time of the next has not come")
		require.Zero(t, refused)
		var starts []time.Time
		var running []*job
		for range 30 * 20 { // steps of 5 ms
			for _, j := range p.pass(5 * time.Millisecond) {
				running = append(running, j)
				starts = append(starts, j.begun)
			}
			for len(running) > 0 && p.clock.Sub(running[0].begun) >= took {
				require.Empty(t, p.end(running[0], took, false), "a slot is no reason to start early")
				running = running[1:]
			}
		}
		require.Len(t, starts, 30)
		for i, at := range starts {
			require.Equal(t, time.Duration(i+1)*100*time.Millisecond, at.Sub(began), "%v", took)
		}
	}
}

// What is beyond the pace is refused or given back with the reason, holds up neither the partition nor others, and is
// postponed until its turn.
func TestBeyondThePace(t *testing.T) {
	t.Parallel()
	p := newPaced(time.Second)
	_, refused := p.add(10)
	require.Equal(t, 6, refused, "no more is queued than starts within the longest wait")
	require.Nil(t, p.backpressure(p.job(p.company, p.sub)), "the partition goes on")
	j := p.job(p.company, p.sub)
	_, _, full := p.enqueue(j)
	require.True(t, full)
	require.Equal(t, webhook.WaitsForRate, j.waited)
	for range 20 {
		other, full := p.testScheduler.add(tenant.NewID(), uuid.New(), "other")
		require.Len(t, other, 1, "others start at once")
		require.False(t, full)
		p.end(other[0], time.Millisecond, false)
		other, _ = p.testScheduler.add(p.company, uuid.New(), "host")
		require.Len(t, other, 1, "also the company's own at the same host")
		p.end(other[0], time.Millisecond, false)
	}
	allowed := p.allowed
	p.pass(time.Second)
	p.add(1)
	require.Equal(t, allowed, p.allowed, "its queue is not what all receivers share")

	for i := range 60 {
		wait, ok := p.postpone(p.queue(), maxPostponed)
		require.True(t, ok)
		require.Equal(t, time.Duration(i+1)*time.Second, wait)
	}
	_, ok := p.postpone(p.queue(), maxPostponed)
	require.False(t, ok, "the database keeps the rest")

	p.due = nil
	p.clock = p.clock.Add(maxQueued + time.Second)
	out := p.overdue(time.Time{})
	require.NotEmpty(t, out)
	for _, j := range out {
		require.Equal(t, webhook.WaitsForRate, j.waited)
	}
}

// What makes no request, such as a delivery that has expired, does not count. A changed pace applies from the next job on.
func TestPaceCountsRequests(t *testing.T) {
	t.Parallel()
	p := newPaced(time.Second)
	p.add(4)
	run := p.pass(time.Second)
	for range 3 {
		require.Len(t, run, 1)
		run = p.end(run[0], 0, false)
	}
	require.Len(t, run, 1)
	require.Empty(t, p.end(run[0], time.Millisecond, false))

	p.add(3)
	p.follow(p.queue(), "host", 10*time.Millisecond)
	require.Len(t, p.pass(time.Second), 1, "the timer of the old pace")
	require.Len(t, p.pass(20*time.Millisecond), 2)
	p.follow(p.queue(), "host", 0)
	run, _ = p.add(1)
	require.Len(t, run, 1)
	require.Empty(t, p.due)
}

// A receiver gets as many requests a second as its subscription wants, and nothing fails by that. Others are not held up,
// also when they share its host and its partition.
func TestSenderKeepsTheRateOfASubscription(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), func(c *Config) { c.Retry.maxPostponements = 1_000_000 }) // no sweeper here
	k.ForwardDelayed()
	const perSecond, n, others = 4, 24, 200
	var mu sync.Mutex
	var at []time.Time // of the requests of the subscription
	limited := ""
	h := dispatchtest.NewReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get(webhook.HeaderWebhookID) == limited {
			at = append(at, time.Now())
		}
	})
	sub, _ := k.Subscribe(h.URL)
	limited = sub.String()
	k.Set(sub, `max_per_second = $3`, perSecond)
	neighbor, _ := k.Subscribe(h.URL)
	far, _ := k.Subscribe(dispatchtest.NewReceiver(t, dispatchtest.Status(200)).URL)
	messages := k.Messages(sub, n)
	k.Send(messages[0])
	k.AwaitState(messages[0].DeliveryID, webhook.StateSuccess) // from now on the sender knows the rate
	k.Send(messages[1:]...)
	k.Send(append(k.Messages(neighbor, others), k.Messages(far, others)...)...)
	k.Eventually(func() bool {
		return k.InState(neighbor, webhook.StateSuccess) == others && k.InState(far, webhook.StateSuccess) == others
	}, "the others arrive")
	require.Less(t, k.InState(sub, webhook.StateSuccess), n)
	k.Eventually(func() bool { return k.Deliveries(`waiting_for = 'rate'`) > 0 }, "what does not fit says why")
	k.Eventually(func() bool { return k.InState(sub, webhook.StateSuccess) == n }, "all arrive")
	require.Zero(t, k.Deliveries(`attempt <> 1`), "none failed")
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, at, n)
	require.Greater(t, at[n-1].Sub(at[0]), (n-1)*time.Second/perSecond-time.Second, "the first may arrive late, by what this machine takes")
}
