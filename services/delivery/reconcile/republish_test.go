package reconcile

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// newLoss is an audit with a database of its own, because a relay publishes everything that a database has.
func newLoss(t *testing.T) *audit {
	t.Helper()
	return auditOf(t, dbtest.OpenNew(t))
}

func (a *audit) relay() (stop func()) {
	a.T.Helper()
	client, err := outbox.NewClient(a.Kafka)
	require.NoError(a.T, err)
	a.T.Cleanup(client.Close)
	r, err := outbox.NewRelay(a.DB, client, outbox.RelayConfig{EventRetention: dispatchtest.Policy().EventRetention})
	require.NoError(a.T, err)
	return a.Run(r.Run)
}

// loseTopics deletes all topics, with the offsets of the group, and creates them again.
func (a *audit) loseTopics() {
	a.T.Helper()
	all := topics.Local()
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
	}
	_, err := a.admin.DeleteTopics(a.T.Context(), names...)
	require.NoError(a.T, err)
	require.EventuallyWithT(a.T, func(c *assert.CollectT) { // brokers of a cluster hear of topics one after the other
		_, err := kafka.Apply(a.T.Context(), a.admin, all, 1)
		assert.NoError(c, err)
	}, time.Minute, 20*time.Millisecond)
}

// truncate removes all records of the topic of events.
func (a *audit) truncate() {
	a.T.Helper()
	ends, err := a.admin.ListEndOffsets(a.T.Context(), topics.Events)
	require.NoError(a.T, err)
	_, err = a.admin.DeleteRecords(a.T.Context(), ends.Offsets())
	require.NoError(a.T, err)
}

func (a *audit) events(n int) (all []dispatchtest.Event) {
	for range n {
		all = append(all, a.Event("order.created"))
	}
	return all
}

// delivered waits until each event has its delivery; the reconciler makes steps meanwhile.
func (a *audit) delivered(events ...dispatchtest.Event) {
	a.T.Helper()
	var err error
	require.Eventually(a.T, func() bool {
		if err = a.Step(context.Background()); err != nil {
			return false
		}
		for _, e := range events {
			if a.Query(`SELECT count(*) FROM deliveries WHERE company_id = $1 AND id = $2`, a.Company, webhook.DeliveryID(e.ID, a.sub, 0)) == 0 {
				return false
			}
		}
		return true
	}, time.Minute, 20*time.Millisecond, "all have a delivery: %v", &err)
}

// later moves the clock of the reconciler behind the time in which the log may still get events of the lost topic.
func (a *audit) later() { a.now = func() time.Time { return time.Now().Add(2 * settleDeadline) } }

// Events that Kafka loses before the routers have them are published again from the event log: no hand is needed, nothing is
// doubled, and the log does not grow.
func TestLostEventsArePublishedAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(a *audit){
		"all topics are lost":                 (*audit).loseTopics,
		"the topic was truncated":             (*audit).truncate,
		"all are lost twice":                  func(a *audit) { a.loseTopics(); require.NoError(a.T, a.Step(a.T.Context())); a.loseTopics() },
		"another owner has just taken over":   func(a *audit) { a.Reset(); a.loseTopics() },
		"it is lost while it is put right":    func(a *audit) { a.loseTopics(); a.await(true); a.loseTopics() },
		"the subscription was changed lately": func(a *audit) { a.Set(a.sub, "updated_at = $3", time.Now()); a.loseTopics() },
		"the new topic has as many records":   func(a *audit) { a.loseTopics(); a.raise(a.events(10)...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newLoss(t)
			stop := a.router()
			before := a.events(3)
			a.raise(before...)
			a.delivered(before...)
			a.compared()
			stop()
			lost := a.events(7)
			a.raise(lost[:3]...)
			a.log(uuid.Must(uuid.NewV7()), "order.created", []byte{7, 7}) // a later release reads it
			a.raise(lost[3:]...)
			lose(a)
			require.NoError(t, a.Step(t.Context()))
			require.GreaterOrEqual(t, a.republication.events, 7)
			for _, e := range before {
				require.Zero(t, a.Query(`SELECT count(*) FROM outbox WHERE bucket = $1 AND id = $2`, outbox.Bucket(a.Company), e.ID), "what has its delivery is not published again")
			}
			require.GreaterOrEqual(t, len(a.missing), 7, "the metric shows them until they have deliveries")

			a.relay()
			a.router()
			a.delivered(append(before, lost...)...)
			logged := a.Query(`SELECT count(*) FROM events WHERE company_id = $1`, a.Company)
			require.Equal(t, logged-1, a.Deliveries("true"))
			require.Equal(t, logged, a.Query(`SELECT n FROM event_log_heads WHERE bucket = $1`, outbox.Bucket(a.Company)))
			a.later()
			a.Eventually(func() bool {
				require.NoError(t, a.Step(t.Context()))
				return a.progress.lostAt == nil && a.until == nil
			}, "the loss is put right")
			require.Empty(t, a.missing)
			require.EqualValues(t, logged, a.progress.heads[outbox.Bucket(a.Company)])
		})
	}
}

// await makes a step after which the republication is done, or not.
func (a *audit) await(done bool) {
	a.T.Helper()
	require.NoError(a.T, a.Step(a.T.Context()))
	require.NotNil(a.T, a.republication)
	require.Equal(a.T, done, a.republication.done)
}

// While nothing is lost, the reconciler publishes nothing and stores only what has changed.
func TestProgressIsStoredWhenItChanges(t *testing.T) {
	t.Parallel()
	a := newAudit(t)
	a.router()
	step := func() progress {
		a.compared()
		stored, err := selectProgress(t.Context(), a.DB, a.group)
		require.NoError(t, err)
		return *stored
	}
	a.raise(a.Event("order.created"))
	first := step()
	again := a.Event("order.created")
	a.raise(again)
	a.delivered(again)
	second := step()
	require.True(t, second.updated.After(first.updated))
	require.Equal(t, first.topicID, second.topicID)
	require.NotEqual(t, first.offsets, second.offsets)
	require.NotEqual(t, uuid.Nil, second.topicID)
	require.Nil(t, a.progress.lostAt)
	require.Zero(t, a.Query(`SELECT count(*) FROM outbox WHERE company_id = $1`, a.Company))
}

// More partitions lose nothing.
func TestMorePartitionsAreNoLoss(t *testing.T) {
	t.Parallel()
	a := newAudit(t)
	a.router()
	e := a.Event("order.created")
	a.raise(e)
	a.delivered(e)
	a.compared()
	ends, err := a.admin.ListEndOffsets(t.Context(), topics.Events)
	require.NoError(t, err)
	more := len(ends[topics.Events]) + 3
	_, err = a.admin.UpdatePartitions(t.Context(), more, topics.Events)
	require.NoError(t, err)
	a.Eventually(func() bool {
		require.NoError(t, a.Step(t.Context()))
		require.Nil(t, a.progress.lostAt)
		return len(a.progress.offsets) == more
	}, "the progress has the new partitions")
}

// What is told apart as a loss.
func TestLoss(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	p := progress{topicID: id, offsets: []int64{5, 10}}
	for name, row := range map[string]struct {
		topic topicState
		lost  bool
	}{
		"nothing":                            {topicState{id: id, starts: []int64{5, 0}, ends: []int64{5, 12}}, false},
		"a new partition":                    {topicState{id: id, starts: []int64{0, 0, 0}, ends: []int64{9, 12, 1}}, false},
		"another topic":                      {topicState{id: uuid.New(), starts: []int64{0, 0}, ends: []int64{5, 10}}, true},
		"removed before it was processed":    {topicState{id: id, starts: []int64{0, 11}, ends: []int64{5, 12}}, true},
		"a new leader without the last ones": {topicState{id: id, starts: []int64{0, 0}, ends: []int64{4, 12}}, true},
		"fewer partitions":                   {topicState{id: id, starts: []int64{0}, ends: []int64{5}}, true},
	} {
		require.Equal(t, row.lost, p.loss(row.topic) != "", name)
	}
}

// Comparisons pause, because they go over all subscribers; the topic is looked at in each step.
func TestLossIsFoundBetweenComparisons(t *testing.T) {
	t.Parallel()
	a := newAudit(t)
	a.router()
	e := a.Event("order.created")
	a.raise(e)
	a.delivered(e)
	a.compared()
	a.cfg.every = time.Hour
	before := a.progress.heads
	a.raise(a.Event("order.created"))
	require.NoError(t, a.Step(t.Context()))
	require.Nil(t, a.until)
	require.Equal(t, before, a.progress.heads)
	a.loseTopics()
	require.NoError(t, a.Step(t.Context()))
	require.NotNil(t, a.progress.lostAt)
}
