package router

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/kit/failpoint"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/topics"
)

// unread makes the record of an event one that was committed and published after the router had its partition.
func unread(t *testing.T, e dispatchtest.Event) *kgo.Record {
	t.Helper()
	r := e.Record(t)
	r.Timestamp = time.Now().Add(time.Minute)
	dispatchtest.SetHeader(r, "committed_at", strconv.FormatInt(r.Timestamp.UnixMicro(), 10))
	return r
}

// transactions counts those of a database by their name, and makes those of one name fail while it is on.
type transactions struct {
	fails            string
	on               atomic.Bool
	early, following atomic.Int32
}

func (c *transactions) inject(_ context.Context, h failpoint.Hit) error {
	if h.Point != db.AtBegin {
		return nil
	}
	switch h.Of {
	case "router.deliveries":
		c.early.Add(1)
	case "router.following":
		c.following.Add(1)
	}
	if c.on.Load() && h.Of == c.fails {
		return &pgconn.PgError{Severity: "FATAL", Code: "53300", Message: "outage"}
	}
	return nil
}

// disturbed is a kit whose router writes through the transactions.
func disturbed(t *testing.T, c *transactions) *dispatchtest.Kit {
	t.Helper()
	d, err := db.Open(t.Context(), db.Config{URL: dbtest.URL(t), MaxConns: 4, Inject: c.inject})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return dispatchtest.New(t, d)
}

// committed is how many records of the events the routers have let go of.
func committed(k *dispatchtest.Kit) (n int64) {
	k.T.Helper()
	offsets, err := kadm.NewClient(k.Client).FetchOffsets(context.Background(), topics.Routers)
	require.NoError(k.T, err)
	offsets.Each(func(o kadm.OffsetResponse) { n += o.At })
	return n
}

// The rows of what nobody can have sent before follow the records, and the events are not done before.
func TestRowsFollowTheirRecords(t *testing.T) {
	t.Parallel()
	c := &transactions{fails: "router.following"}
	c.on.Store(true)
	k := disturbed(t, c)
	sub := k.Subscription()
	sent := k.Collect(topics.Deliveries)
	runRouter(k, nil)
	k.Produce(unread(t, k.Event("order.created")))
	m := k.Decode(k.Await(sent, 1)[0])
	require.True(t, m.RowFollows)
	k.Eventually(func() bool { return c.following.Load() > 1 }, "the row is tried again")
	require.Zero(t, k.Deliveries("true"))
	require.Zero(t, committed(k))

	c.on.Store(false)
	k.Eventually(func() bool { return committed(k) == 1 }, "done")
	require.Equal(t, 1, k.Deliveries("subscription_id = '"+sub.String()+"' AND event_id = '"+m.EventID.String()+"' AND id = '"+m.DeliveryID.String()+
		"' AND state = 0 AND attempt = 0 AND next_attempt_at IS NOT NULL AND event = 'order.created' AND expires_at > now() + INTERVAL '21 hours'"))
	require.Zero(t, c.early.Load())
}

// Rows of held deliveries, of ordered subscriptions, and of what may have been sent before, come first.
func TestRowsComeFirstWhereOthersReadThem(t *testing.T) {
	t.Parallel()
	c := &transactions{}
	k := disturbed(t, c)
	paused, ordered := k.Subscription(), k.Subscription()
	k.Set(paused, "status = 'paused'")
	k.Set(ordered, "ordered = true")
	sent := k.Collect(topics.Deliveries)
	runRouter(k, nil)
	k.Produce(unread(t, k.Event("order.created")))
	require.False(t, k.Decode(k.Await(sent, 1)[0]).RowFollows)
	require.Equal(t, 1, k.Deliveries("entity_id IS NOT NULL"))
	require.Equal(t, 1, k.Deliveries("next_attempt_at IS NULL"))

	again := unread(t, k.Event("order.created")) // by a relay that took the bucket over
	dispatchtest.SetHeader(again, "committed_at", strconv.FormatInt(again.Timestamp.Add(-3*time.Second).UnixMicro(), 10))
	k.Produce(k.Event("order.created").Record(t), again)
	for _, r := range k.Await(sent, 3) {
		require.False(t, k.Decode(r).RowFollows)
	}
	require.Equal(t, 6, k.Deliveries("true"))
	require.Zero(t, c.following.Load())
}

// A relay may publish an event twice at once. The second is recognised although the row of the first is not there yet.
func TestRouterRecognisesRepeatsWhoseRowsFollow(t *testing.T) {
	t.Parallel()
	c := &transactions{fails: "router.following"}
	c.on.Store(true)
	k := disturbed(t, c)
	k.Subscription()
	sent := k.Collect(topics.Deliveries)
	runRouter(k, nil)
	e := k.Event("order.created")
	k.Produce(unread(t, e), unread(t, e)) // in one batch
	k.Await(sent, 1)
	k.Produce(unread(t, e), unread(t, k.Event("order.created")))
	require.Len(t, k.Await(sent, 2), 2)
	c.on.Store(false)
	k.Eventually(func() bool { return committed(k) == 4 }, "done")
	require.Len(t, sent(), 2)
	require.Equal(t, 2, k.Deliveries("true"))
}

// A router that dies between a record and its row leaves the event to the next one, which sends again what no sender has
// dealt with, and nothing else.
func TestRouterDeathBeforeRowsFollowLosesNothing(t *testing.T) {
	t.Parallel()
	const events = 20
	c := &transactions{fails: "router.following"}
	c.on.Store(true)
	k := disturbed(t, c)
	sub := k.Subscription()
	sent := k.Collect(topics.Deliveries)
	stop := runRouter(k, nil)
	for range events {
		k.Produce(unread(t, k.Event("order.created")))
	}
	first := k.Await(sent, events)
	k.Eventually(func() bool { return c.following.Load() > 0 }, "tried")
	stop()
	require.Zero(t, k.Deliveries("true"))
	arrived := k.Decode(first[0]) // a sender has stored its result meanwhile
	k.Exec(`INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at)
VALUES ($1, $2, $3, $4, 'order.created', 2, 1, now(), false, now(), now())`, k.Company, sub, arrived.DeliveryID, arrived.EventID)

	runRouter(k, func(r *Router) { r.first = func(*incoming) bool { return false } }) // the outage lasts, but no row of these follows
	k.Eventually(func() bool { return committed(k) == events }, "done")
	require.Equal(t, events, k.Deliveries("true"))
	times := map[uuid.UUID]int{}
	for _, r := range k.Await(sent, 2*events-1) {
		times[k.Decode(r).DeliveryID]++
	}
	require.Len(t, times, events)
	require.Equal(t, 1, times[arrived.DeliveryID])
	require.Equal(t, 2*events-1, len(sent()))
}

// While the database does not take rows, only so many deliveries are sent without.
func TestRouterWaitsForRowsThatFollow(t *testing.T) {
	t.Parallel()
	f := newFollowing(nil, nil, 0)
	require.NoError(t, f.room())
	f.rows = maxFollowing
	require.ErrorContains(t, f.room(), "10000 deliveries")
	f.written(1)
	require.NoError(t, f.room())
}

func TestRouterRemembersWhatItSentForAWhile(t *testing.T) {
	t.Parallel()
	f := newFollowing(nil, nil, 0)
	now := time.Now()
	id := addOne(f, now)
	for _, later := range []time.Duration{0, recently, recently + 1} {
		addOne(f, now.Add(later))
		require.True(t, f.has(id), later)
	}
	addOne(f, now.Add(2*recently+3))
	require.False(t, f.has(id))
}

// addOne adds a delivery.
func addOne(f *following, now time.Time) uuid.UUID {
	row := &store.FollowingRow{DeliveryKey: store.DeliveryKey{ID: uuid.New()}}
	f.add(&sent{rows: []*store.FollowingRow{row}}, now)
	return row.ID
}
