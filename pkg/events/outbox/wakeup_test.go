package outbox

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
)

// A relay that hardly polls publishes at once what it is woken for.
func TestRowsOfAWakeupNeedNoPoll(t *testing.T) {
	t.Parallel()
	g := setup(t)
	r := g.relay("a", func(r *Relay) { r.cfg.tickMin, r.cfg.TickMax = time.Hour, time.Hour })
	g.db.Listen(r.Wake)
	g.run(r)
	require.Eventually(t, func() bool { return r.Owned() == Buckets }, eventually, time.Millisecond)
	g.append(company(), message(uuid.New(), 1, nowMicro()))
	g.drained()
}

// Buckets that became ready together are completed in one transaction, and a bucket that fails delays no other.
func TestBucketsShareABatch(t *testing.T) {
	t.Parallel()
	g := setup(t)
	companies, passes := make(map[int32]bool), 0
	for len(companies) < 20 {
		c := company()
		if companies[Bucket(c)] {
			continue
		}
		companies[Bucket(c)] = true
		g.append(c, message(uuid.New(), 1, nowMicro()), message(uuid.New(), 2, nowMicro()+1))
	}
	r := g.relay("a", func(r *Relay) { r.cfg.Parallel = 1 })
	r.mu.Lock()
	for b := range companies {
		r.parts[b].held, r.parts[b].until, r.parts[b].partitions = true, time.Now().Add(time.Hour), 1
		r.enqueue(r.parts[b])
	}
	for len(r.ready) > 0 {
		group := r.next(time.Now())
		passes++
		r.mu.Unlock()
		r.work(t.Context(), group)
		r.mu.Lock()
		r.running = 0
	}
	r.mu.Unlock()
	require.Equal(t, 1, passes)
	r.workers.Wait() // what a broker acknowledges late
	r.settleRest(t.Context())
	require.Zero(t, g.count("outbox"))
	require.Equal(t, 2*len(companies), g.count("events"))
}

// A batch takes few buckets that have a backlog and reads each as far as it would alone; the others share what one batch has.
func TestBatchTakesFewBucketsWithABacklog(t *testing.T) {
	t.Parallel()
	g := setup(t)
	const size, each = 20, 30
	companies, first := make(map[int32]bool), nowMicro()
	for len(companies) < 3*groupRows {
		c := company()
		if companies[Bucket(c)] {
			continue
		}
		companies[Bucket(c)] = true
		for i := range int64(each) {
			g.append(c, message(uuid.New(), 1, first+i))
		}
	}
	r := g.relay("a", func(r *Relay) { r.cfg.Parallel, r.cfg.BatchSize = 1, size })
	next := func() (group []*part) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for b := range companies {
			p := r.parts[b]
			p.held, p.until, p.limit, p.busy = true, time.Now().Add(time.Hour), size, false
			r.enqueue(p)
		}
		group = r.next(time.Now())
		for _, p := range r.ready {
			p.queued = false
		}
		r.ready = nil
		return group
	}
	group := next()
	require.Len(t, group, 3*groupRows, "nobody knows of a backlog yet")
	views, err := r.scan(t.Context(), group)
	require.NoError(t, err)
	for _, v := range views {
		require.Len(t, v.rows, size/3)
		r.advance(v, &batch{})
	}
	group = next()
	require.Len(t, group, groupRows)
	views, err = r.scan(t.Context(), group)
	require.NoError(t, err)
	for i, v := range views {
		require.Len(t, v.rows, size)
		v.rows = v.rows[:size-i%2]
		r.advance(v, &batch{})
	}
	for i, p := range group {
		require.Equal(t, i%2 == 0, p.backlog, "a scan that found less than it might has read the whole bucket")
	}
	for _, p := range group[2:] {
		p.backlog = false
	}
	group[0].backlog, group[1].backlog = true, true
	for b := range companies {
		if p := r.parts[b]; !slices.Contains(group, p) {
			p.backlog = false
		}
	}
	group = next()
	require.Len(t, group, 3*groupRows)
	views, err = r.scan(t.Context(), group)
	require.NoError(t, err)
	for i, p := range group {
		if p.backlog {
			require.Len(t, views[i].rows, size)
		} else {
			require.Len(t, views[i].rows, size/3, "the others share what one batch has")
		}
	}
}

// Polling gets fast only if rows come without wake-ups.
func TestPollingIsTheNetBelowWakeups(t *testing.T) {
	t.Parallel()
	r, err := NewRelay(nil, nil, RelayConfig{EventRetention: 30 * day})
	require.NoError(t, err)
	now := time.Now()
	p := r.parts[7]
	p.held = true
	r.suspect(p, now)
	require.Zero(t, r.missed(now.Add(suspectFor)), "its wake-up may still come")
	r.Wake(7)
	require.Zero(t, r.missed(now.Add(2*suspectFor)), "it came")
	r.suspect(p, p.wokenAt.Add(wakeupLasts))
	require.Zero(t, r.missed(now.Add(time.Hour)), "the last wake-up was shortly before")
	r.suspect(p, p.wokenAt.Add(wakeupLasts+1))
	require.Equal(t, 1, r.missed(now.Add(time.Hour)))
	require.Zero(t, r.missed(now.Add(time.Hour)), "counted once")
	r.Wake(-1)
	r.Wake(Buckets)
}

func TestWakeupsReachOtherProcesses(t *testing.T) {
	t.Parallel()
	g := setup(t)
	client, err := NewClient(kafka.Config{Brokers: g.brokers})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	var mu sync.Mutex
	got := map[int32]bool{}
	running.Go(func() {
		_ = ConsumeWakeups(ctx, kafka.Config{Brokers: g.brokers}, func(b int32) {
			mu.Lock()
			defer mu.Unlock()
			got[b] = true
		})
	})
	n := NewWakeups(client, slog.New(slog.DiscardHandler))
	running.Go(func() { _ = n.Run(ctx) })
	want := map[int32]bool{0: true, 63: true, 64: true, 200: true, 255: true}
	require.Eventually(t, func() bool {
		for b := range want { // the consumer starts at the end of the topic, at some time
			n.Wake(b)
		}
		mu.Lock()
		defer mu.Unlock()
		return len(got) == len(want)
	}, eventually, 10*time.Millisecond)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, want, got)
}
