package sender

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// What a replay sends leaves a slot and half of the queue to the rest, and is overtaken by it.
func TestReplaysGiveWay(t *testing.T) {
	t.Parallel()
	r := newTestScheduler(QueueConfig{PerReceiver: 3})
	company, sub := tenant.NewID(), uuid.New()
	add := func(yields bool) (j *job, run []*job, full bool) {
		j = r.job(company, sub)
		j.msg.Yields = yields
		run, created, full := r.enqueue(j)
		if created {
			opened, _ := r.ready(j.queue, "a", 0, nil)
			run = append(run, opened...)
		}
		return j, run, full
	}
	first, run, _ := add(true)
	require.Equal(t, []*job{first}, run)
	queue := first.queue
	queue.average = time.Millisecond
	second, run, _ := add(true)
	require.Equal(t, []*job{second}, run)
	third, run, _ := add(true)
	require.Empty(t, run, "the last slot stays free")
	live, run, _ := add(false)
	require.Equal(t, []*job{live}, run)
	next, run, _ := add(false)
	require.Empty(t, run)
	after, _, _ := add(false)
	require.Equal(t, []*job{next, after, third}, queue.jobs, "before what gives way, in their order")

	require.Equal(t, []*job{next}, r.end(first, time.Millisecond, false))
	require.Equal(t, []*job{after}, r.end(second, time.Millisecond, false))
	require.Empty(t, r.end(live, time.Millisecond, false))
	require.Equal(t, []*job{third}, r.end(next, time.Millisecond, false))
	require.Empty(t, r.end(after, time.Millisecond, false))
	require.Empty(t, r.end(third, time.Millisecond, false))
	require.Zero(t, queue.bytes)
	require.Zero(t, queue.yielding)
	require.Empty(t, r.backlog)

	// Where it fills its half of the queue, the rest still finds room; what has waited too long leaves wherever it stands.
	queue.failures = 1 // a queue of slowQueue
	queue.used = 3     // as if others ran
	for range slowQueue / 2 {
		_, _, full := add(true)
		require.False(t, full)
	}
	_, _, full := add(true)
	require.True(t, full)
	r.clock = r.clock.Add(maxQueued + time.Second)
	young, _, full := add(false)
	require.False(t, full)
	require.Len(t, r.overdue(time.Time{}), slowQueue/2)
	require.Equal(t, []*job{young}, queue.jobs)
	require.Zero(t, queue.yielding)
	require.EqualValues(t, len(young.msg.Body), queue.bytes)

	gone, _, _ := add(true)
	require.Equal(t, []*job{young, gone}, r.take(func(*job) bool { return true }))
	require.Zero(t, queue.yielding)
	require.Zero(t, queue.bytes)
}

// What gives way starts one after the other, with the gaps that it asks for. Nothing else waits for them.
func TestReplaysAreSpread(t *testing.T) {
	t.Parallel()
	const gap = 10 * time.Millisecond
	p := newPaced(0)
	p.follow(p.queue(), "host", 0)
	replayed := func() (run []*job) {
		j := p.job(p.company, p.sub)
		j.msg.Yields, j.msg.Gap = true, gap
		run, _, full := p.enqueue(j)
		require.False(t, full)
		return run
	}
	first := replayed()
	require.Len(t, first, 1)
	for range 4 {
		require.Empty(t, replayed())
	}
	require.Empty(t, p.end(first[0], time.Millisecond, false), "a slot is no reason to start early")
	require.Empty(t, p.pass(gap-time.Millisecond))
	live, _ := p.add(1)
	require.Len(t, live, 1, "the others do not wait")
	require.False(t, live[0].msg.Yields)
	require.Empty(t, p.end(live[0], time.Millisecond, false))
	second := p.pass(time.Millisecond)
	require.Len(t, second, 1)
	require.Len(t, p.end(second[0], 0, false), 1, "it made no request: the next need not wait")
	require.Len(t, p.pass(3*gap), 2)
	require.Empty(t, p.due)
}

// A live delivery that comes before what gives way sets an earlier timer. However often that happens, the old timers do not start
// new ones for ever.
func TestTimersDoNotPileUp(t *testing.T) {
	t.Parallel()
	p := newPaced(10 * time.Millisecond)
	p.later = func(_ *receiverQueue, wait time.Duration) {
		p.due = append(p.due, p.clock.Add(wait))
		slices.SortFunc(p.due, time.Time.Compare)
	}
	finish := func(running []*job) {
		for len(running) > 0 {
			running = append(running[1:], p.end(running[0], time.Millisecond, false)...)
		}
	}
	for range 20 {
		j := p.job(p.company, p.sub)
		j.msg.Yields, j.msg.Gap = true, 100*time.Millisecond
		run, _, _ := p.enqueue(j)
		finish(run)
	}
	for range 20 {
		finish(p.pass(15 * time.Millisecond)) // the next of the first kind is due in 100 ms
		for range 2 {
			run, _ := p.add(1) // the second of them waits for the pace of the receiver
			finish(run)
		}
	}
	require.NotEmpty(t, p.queue().jobs)
	require.LessOrEqual(t, len(p.due), 2)
}
