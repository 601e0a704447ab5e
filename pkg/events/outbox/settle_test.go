package outbox

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/topics"
)

// still is a relay that owns all buckets and does nothing by itself; what it does at its points is counted.
func (g *testKit) still(hits map[failpoint.Point]*atomic.Int32, change ...func(*Relay)) *Relay {
	g.t.Helper()
	r := g.relay("a", append(change, func(r *Relay) {
		before := r.cfg.inject
		r.cfg.inject = func(ctx context.Context, h failpoint.Hit) error {
			if n := hits[h.Point]; n != nil {
				n.Add(1)
			}
			return before.AtTry(ctx, h.Point, h.Of, h.Try)
		}
	})...)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.parts {
		p.held, p.until, p.partitions = true, time.Now().Add(time.Hour), 1
	}
	return r
}

// turn publishes a batch of one bucket.
func (g *testKit) turn(r *Relay, p *part) {
	g.t.Helper()
	r.mu.Lock()
	r.enqueue(p)
	group := r.next(time.Now())
	r.running++
	r.mu.Unlock()
	require.Equal(g.t, []*part{p}, group)
	r.work(g.t.Context(), group)
	r.workers.Wait() // what a broker acknowledges late
}

// Rows of many batches leave the outbox in one transaction; until then no batch publishes them again, and rows that were committed
// late, in front of them, are found.
func TestPublishedRowsAreSettledTogether(t *testing.T) {
	t.Parallel()
	g := setup(t)
	began, c, record, late := time.Now().Truncate(time.Microsecond), company(), uuid.New(), uuid.New()
	var settled atomic.Int32
	r := g.still(map[failpoint.Point]*atomic.Int32{afterDelete: &settled})
	p := r.parts[Bucket(c)]
	messages, want := history(record, 1, 5)
	for _, m := range messages {
		g.append(c, m)
		g.turn(r, p)
	}
	g.append(c, message(late, 1, messages[0].Pos-1000))
	g.turn(r, p)
	look, err := r.probe(t.Context())
	require.NoError(t, err)
	require.Zero(t, look)
	require.False(t, p.queued, "a poll does not find them either")
	require.Equal(t, 6, g.count("outbox"))
	require.Empty(t, g.logged(c))
	acknowledged := time.Now()
	r.settleRest(t.Context())
	require.EqualValues(t, 1, settled.Load())
	require.Zero(t, g.count("outbox"))
	origin, err := OriginOf(t.Context(), g.db, c, messages[0].ID)
	require.NoError(t, err)
	require.WithinRange(t, *origin.PublishedAt, began, acknowledged, "when Kafka had it, not when it was logged")
	require.Equal(t, append(want, "1"), g.logged(c))
	first, repeats := versions(g.records(topics.Events), record)
	require.Equal(t, want, first)
	require.Zero(t, repeats)
	require.Zero(t, r.unsettled+r.unsettledBytes)
}

// What cannot be settled is published again, and what was published after it with it, so that the log is in order.
func TestRowsThatCannotBeSettledArePublishedAgainInOrder(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]bool{"while its next batch is in flight": true, "between batches": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := setup(t)
			c, record := company(), uuid.New()
			messages, want := history(record, 1, 3)
			var r *Relay
			var failures atomic.Int32
			fail := func(ctx context.Context) error {
				if failures.Add(1) == 1 {
					return errors.New("the database is gone")
				}
				return nil
			}
			r = g.still(nil, func(r *Relay) { r.cfg.inject = failpoint.On(points{beforeSettle: fail}) })
			p := r.parts[Bucket(c)]
			g.append(c, messages[0])
			g.turn(r, p)
			g.append(c, messages[1])
			if busy {
				r.cfg.inject = failpoint.On(points{beforeSettle: fail, afterAck: func(ctx context.Context) error {
					if failures.Load() == 0 {
						p.low = math.MaxInt64
						r.settleNow(ctx, r.parts[:])
					}
					return nil
				}})
				g.turn(r, p)
			} else {
				g.turn(r, p)
				p.low = math.MaxInt64 // scans have moved on
				r.settleNow(t.Context(), r.parts[:])
			}
			require.Zero(t, r.unsettled+r.unsettledBytes)
			require.Positive(t, p.failures)
			require.Empty(t, g.logged(c))
			g.append(c, messages[2])
			p.notBefore = time.Time{}
			g.turn(r, p)
			r.settleRest(t.Context())
			require.Equal(t, want, g.logged(c))
			first, repeats := versions(g.records(topics.Events), record)
			require.Equal(t, want, first)
			require.Equal(t, 2, repeats)
			require.Zero(t, p.failures)
			require.Zero(t, g.count("outbox"))
		})
	}
}

// A transaction of which nobody knows whether it was committed is repeated, and logs nothing twice.
func TestSettlingWithoutAnAnswerIsRepeated(t *testing.T) {
	t.Parallel()
	g := setup(t)
	var lost atomic.Int32
	faulty, err := db.Open(t.Context(), db.Config{URL: g.db.Pool().Config().ConnString(), MaxConns: 8, Inject: func(_ context.Context, h failpoint.Hit) error {
		if h.Point == db.AfterCommit && h.Of == "outbox.settle" && lost.Add(1) == 1 {
			return io.ErrUnexpectedEOF
		}
		return nil
	}})
	require.NoError(t, err)
	t.Cleanup(faulty.Close)
	c, record := company(), uuid.New()
	messages, want := history(record, 1, 10)
	g.append(c, messages...)
	k := *g
	k.db = faulty
	k.run(k.relay("a"))
	g.drained()
	require.Equal(t, want, g.logged(c))
	_, repeats := versions(g.records(topics.Events), record)
	require.Zero(t, repeats)
	require.Positive(t, lost.Load())
}

// A relay that stops, or hands over a bucket, leaves nothing that its successor would publish again.
func TestBucketsAreSettledBeforeTheyAreLeft(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(g *testKit, r *Relay){
		"stop": func(g *testKit, r *Relay) {
			ctx, cancel := context.WithCancel(g.t.Context())
			cancel()
			require.NoError(g.t, r.Run(ctx))
		},
		"hand-over": func(g *testKit, r *Relay) {
			_, err := g.db.Exec(g.t.Context(), "INSERT INTO relay_members (node, expires_at) SELECT gen_random_uuid()::TEXT, now() + INTERVAL '1 hour' FROM generate_series(1, 255)")
			require.NoError(g.t, err)
			require.NoError(g.t, r.leasePass(g.t.Context(), false, false))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := setup(t)
			c := company()
			for Bucket(c) == 0 {
				c = company() // the one bucket that is kept
			}
			r := g.still(nil)
			require.NoError(t, r.leasePass(t.Context(), true, false))
			p := r.parts[Bucket(c)]
			p.paused = false
			g.append(c, message(uuid.New(), 1, nowMicro()))
			p.partitions = 1
			g.turn(r, p)
			require.Equal(t, 1, g.count("outbox"))
			leave(g, r)
			require.Zero(t, g.count("outbox"))
			require.False(t, p.held)
			require.Equal(t, []string{"1"}, g.logged(c))
		})
	}
}

// A bucket with many rows that are not settled is not read on, and a batch that makes them many does not leave them waiting.
func TestUnsettledRowsAreBounded(t *testing.T) {
	t.Parallel()
	g := setup(t)
	c, record := company(), uuid.New()
	messages, _ := history(record, 1, settleRows+1)
	g.append(c, messages...)
	r := g.still(nil, func(r *Relay) { r.cfg.BatchSize = settleRows })
	p := r.parts[Bucket(c)]
	p.limit = settleRows - 1
	g.turn(r, p)
	require.Equal(t, settleRows-1, r.unsettled)
	require.Equal(t, settleRows+1, g.count("outbox"))
	r.ready, p.queued, p.again = nil, false, false
	p.published.rows++
	r.enqueue(p)
	require.False(t, p.queued)
	require.True(t, p.again)
	p.published.rows--
	g.turn(r, p)
	require.Zero(t, r.unsettled)
	require.Zero(t, g.count("outbox"))
	require.True(t, p.settled())
}

// An event that receivers may have and the log has not yet is found by its id.
func TestEventsAreFoundOnTheirWayToTheLog(t *testing.T) {
	t.Parallel()
	g := setup(t)
	c := company()
	m := message(uuid.New(), 1, nowMicro())
	g.append(c, m)
	entry, err := LogEvent(t.Context(), g.db, c, m.ID)
	require.NoError(t, err)
	require.Equal(t, m.Payload, entry.Body)
	require.EqualValues(t, NotLoggedYet, entry.Seq)
	require.True(t, m.CreatedAt.Equal(entry.OccurredAt))
	origin, err := OriginOf(t.Context(), g.db, c, m.ID)
	require.NoError(t, err)
	require.Nil(t, origin.PublishedAt)
	_, err = LogEvent(t.Context(), g.db, company(), m.ID)
	require.ErrorIs(t, err, ErrNotLogged, "of another company")
	_, err = OriginOf(t.Context(), g.db, c, uuid.Must(uuid.NewV7()))
	require.ErrorIs(t, err, ErrNotLogged)
}

// Rows that another relay has settled count as published twice.
func TestRepeatsAreCounted(t *testing.T) { //nolint:paralleltest // the counter is the process's
	g := setup(t)
	c := company()
	r := g.still(nil)
	g.append(c, message(uuid.New(), 1, nowMicro()))
	g.turn(r, r.parts[Bucket(c)])
	_, err := g.db.Exec(t.Context(), "DELETE FROM outbox")
	require.NoError(t, err)
	var before, after dto.Metric
	require.NoError(t, repeated.Write(&before))
	r.settleRest(t.Context())
	require.NoError(t, repeated.Write(&after))
	require.InDelta(t, before.Counter.GetValue()+1, after.Counter.GetValue(), 0)
	require.Empty(t, g.logged(c), "only who deletes a row logs it")
}

// A batch of large rows takes few of each bucket, none is started while a relay holds too much, and all are published in order.
func TestWhatARelayHoldsIsBoundedByBytes(t *testing.T) {
	t.Parallel()
	g := setup(t)
	const each, size = 6, 512 << 10
	records := map[*part]chaosRecord{}
	r := g.still(nil)
	var want []string
	for len(records) < 3 {
		c, record := company(), uuid.New()
		if _, ok := records[r.parts[Bucket(c)]]; ok {
			continue
		}
		records[r.parts[Bucket(c)]] = chaosRecord{c, record}
		var messages []Message
		messages, want = history(record, 1, each)
		for i := range messages {
			messages[i].Payload = make([]byte, size)
			_, _ = rand.Read(messages[i].Payload)
		}
		g.append(c, messages...)
	}
	r.mu.Lock()
	for p := range records {
		r.enqueue(p)
	}
	group := r.next(time.Now())
	r.mu.Unlock()
	views, err := r.scan(t.Context(), group)
	require.NoError(t, err)
	for _, v := range views {
		require.Len(t, v.rows, 2)
		require.True(t, v.full())
		require.Less(t, v.bytes, batchBytes/3+2*size+10_000)
		r.advance(v, &batch{})
		require.Equal(t, 1, v.p.limit, "what a bucket with a backlog may have")
		require.True(t, v.p.backlog)
	}
	require.Equal(t, views[0].bytes+views[1].bytes+views[2].bytes, r.holds())
	group[0].bytes = heldBytes
	group[1].busy = false
	r.enqueue(group[1])
	require.Zero(t, r.launch(t.Context()))
	require.Len(t, r.ready, 1)
	for _, p := range group[:2] {
		p.busy, p.bytes = p == group[1], 0
		r.finish(t.Context(), p, true, nil)
	}
	r.finish(t.Context(), group[2], true, nil)
	for p, of := range records {
		for range each {
			r.ready, p.queued = nil, false
			g.turn(r, p)
		}
		require.Zero(t, p.bytes)
		r.settleRest(t.Context())
		require.Equal(t, want, g.logged(of.company))
	}
	require.Zero(t, r.holds())
	require.Zero(t, g.count("outbox"))
}
