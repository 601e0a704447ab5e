package sender

import (
	"math/rand/v2"
	"net/http"
	"strconv"
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

// Deliveries of a record that wait for their turn leave with the others: when they have waited too long, and when their
// partition goes. Nobody keeps the turn of a job that has left.
func TestTurnsPassOnWhateverLeaves(t *testing.T) {
	t.Parallel()
	r := newTestScheduler(QueueConfig{})
	company, sub, record := tenant.NewID(), uuid.New(), uuid.New()
	other := &assignment{}
	add := func(entity uuid.UUID, from *assignment) (j *job, run []*job) {
		j = r.job(company, sub)
		j.msg.Entity, j.from = entity, from
		run, created, full := r.enqueue(j)
		require.False(t, full)
		if created {
			opened, _ := r.ready(j.queue, "a", 0, nil)
			run = append(run, opened...)
		}
		return j, run
	}
	first, run := add(record, r.from)
	require.Equal(t, []*job{first}, run)
	r.queues[first.key()].average = time.Millisecond // it may have several requests
	second, run := add(record, other)
	require.Empty(t, run)
	third, run := add(record, r.from)
	require.Empty(t, run)
	free, run := add(uuid.New(), r.from)
	require.Equal(t, []*job{free}, run, "another record does not wait")
	queue := first.queue
	require.Equal(t, 2, queue.waiting())
	require.Equal(t, int64(16), queue.bytes)

	require.Equal(t, []*job{second}, r.take(func(j *job) bool { return j.from == other }))
	require.Equal(t, []*job{third}, r.end(first, time.Millisecond, false))
	fourth, run := add(record, r.from)
	require.Empty(t, run)
	r.clock = r.clock.Add(maxQueued + time.Second)
	fifth, run := add(record, r.from)
	require.Empty(t, run)
	require.Equal(t, []*job{fourth}, r.overdue(time.Time{}))
	require.Equal(t, webhook.WaitsForTurn, fourth.waited)
	require.Equal(t, []*job{fifth}, r.end(third, time.Millisecond, false))
	require.Empty(t, r.end(free, time.Millisecond, false))
	require.Empty(t, r.end(fifth, time.Millisecond, false))
	require.Empty(t, queue.turns)
	require.Zero(t, queue.bytes)
	require.Empty(t, r.backlog)

	// One that has its turn and waits for a slot passes it on when it leaves.
	a, run := add(record, r.from)
	require.Equal(t, []*job{a}, run)
	b, _ := add(record, other)
	c, _ := add(record, r.from)
	queue.average = 0 // only one at a time
	blocker, run := add(uuid.New(), r.from)
	require.Empty(t, run)
	queue.used++ // as if another one ran
	require.Empty(t, r.end(a, 0, false))
	require.Equal(t, []*job{b, blocker}, queue.jobs)
	require.Equal(t, []*job{b}, r.take(func(j *job) bool { return j.from == other }))
	require.Equal(t, []*job{c, blocker}, queue.jobs)
}

// arrivals are the first requests of the deliveries of changes of one record.
type arrivals struct {
	mu      sync.Mutex
	numbers map[string]int // of the changes, by delivery
	order   []int          // in which they arrived
	seen    map[string]bool
}

// newArrivals starts a receiver that notes what arrives, and answers 200 after a while.
func newArrivals(t testing.TB, after func() time.Duration) (*arrivals, *dispatchtest.Receiver) {
	a := &arrivals{numbers: map[string]int{}, seen: map[string]bool{}}
	return a, dispatchtest.NewReceiver(t, func(_ http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(webhook.HeaderDeliveryID)
		a.mu.Lock()
		if !a.seen[id] {
			a.seen[id] = true
			a.order = append(a.order, a.numbers[id])
		}
		a.mu.Unlock()
		time.Sleep(after())
	})
}

// changes are messages about so many changes of one record; those that are not named do not say of which.
func (a *arrivals) changes(k *dispatchtest.Kit, sub uuid.UUID, n int, named bool) []*webhook.Message {
	messages, record := k.Messages(sub, n), uuid.New()
	for i, m := range messages {
		if named {
			m.Entity = record
		}
		a.numbers[m.DeliveryID.String()] = i
	}
	return messages
}

func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.order)
}

// overtaken counts the deliveries that arrived after one of a later change.
func (a *arrivals) overtaken() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	latest := -1
	for _, v := range a.order {
		if v < latest {
			n++
		}
		latest = max(latest, v)
	}
	return n
}

// A receiver whose answers take different times gets the changes of a record in order, as long as none fails.
func TestChangesOfARecordAreNotOvertaken(t *testing.T) {
	t.Parallel()
	const n = 400
	for _, named := range []bool{true, false} {
		t.Run(strconv.FormatBool(named), func(t *testing.T) {
			t.Parallel()
			k := newKit(t, dbtest.OpenNew(t), nil)
			a, receiver := newArrivals(t, func() time.Duration { return time.Duration(rand.IntN(3000)) * time.Microsecond })
			sub, _ := k.Subscribe(receiver.URL)
			k.Send(a.changes(k.Kit, sub, n, named)...)
			k.Eventually(func() bool { return k.InState(sub, webhook.StateSuccess) == n }, "all arrive")
			require.Equal(t, n, a.count())
			if named {
				require.Zero(t, a.overtaken())
			} else {
				require.Positive(t, a.overtaken(), "without the id of the record, deliveries overtake each other: otherwise this test shows nothing")
			}
		})
	}
}
