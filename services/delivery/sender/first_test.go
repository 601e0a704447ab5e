package sender

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// following are messages whose rows are not written yet.
func (k *kit) following(sub uuid.UUID, n int) []*webhook.Message {
	k.T.Helper()
	messages := k.Messages(sub, n)
	for _, m := range messages {
		m.RowFollows = true
		k.Exec(`DELETE FROM deliveries WHERE company_id = $1 AND subscription_id = $2 AND id = $3`, m.Company, m.SubscriptionID, m.DeliveryID)
	}
	return messages
}

// written has the router write the row of a message, as it does a moment after the record.
func (k *kit) written(m *webhook.Message) {
	k.T.Helper()
	require.NoError(k.T, store.InsertFollowing(k.T.Context(), k.DB, []*store.FollowingRow{{
		DeliveryKey: store.DeliveryKey{Subscription: webhook.SubscriptionKey{Company: m.Company, ID: m.SubscriptionID}, ID: m.DeliveryID},
		NewRow:      store.NewRow{EventID: m.EventID, Event: m.Event, Expires: m.ExpiresAt, Created: time.Now().UTC()},
	}}))
}

// Whatever the first result is, it brings the row with it, and the one that the router writes later changes nothing.
func TestFirstResultWritesTheRow(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil) // nobody forwards what waits
	h := dispatchtest.NewReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	up, _ := k.Subscribe(h.URL)
	down, _ := k.Subscribe(h.URL + "/down")
	paused, _ := k.Subscribe(h.URL)
	k.Set(paused, "status = 'paused'")
	gone := uuid.New()
	const columns = `state = $3 AND attempt = $4 AND event = 'order.created' AND event_id = $5 AND NOT is_test AND redelivery_no = 0 AND entity_id IS NULL
 AND created_at > now() - INTERVAL '1 minute' AND expires_at > now() + INTERVAL '21 hours' AND `
	for _, row := range []struct {
		sub     uuid.UUID
		state   webhook.State
		attempt int
		rest    string
	}{
		{up, webhook.StateSuccess, 1, `http_code = 200 AND error IS NULL AND next_attempt_at IS NULL AND duration_ms IS NOT NULL AND completed_at IS NOT NULL`},
		{down, webhook.StatePending, 1, `http_code = 500 AND error IS NOT NULL AND next_attempt_at > now() - INTERVAL '1 minute' AND waiting_for = 'retry' AND completed_at IS NULL`},
		{paused, webhook.StatePending, 0, `http_code IS NULL AND next_attempt_at IS NULL AND duration_ms IS NULL AND waiting_for = 'paused' AND completed_at IS NULL`},
		{gone, webhook.StateFailed, 0, `http_code IS NULL AND next_attempt_at IS NULL AND error = 'subscription deleted' AND completed_at IS NOT NULL`},
	} {
		for _, writtenFirst := range []bool{false, true} {
			m := k.following(row.sub, 1)[0]
			if writtenFirst {
				k.written(m)
			}
			k.Send(m)
			found := func() int {
				return k.Query(`SELECT count(*) FROM deliveries WHERE company_id = $1 AND id = $2 AND `+columns+row.rest, m.Company, m.DeliveryID, row.state, row.attempt, m.EventID)
			}
			k.Eventually(func() bool { return found() == 1 }, row.rest)
			k.written(m)
			require.Equal(t, 1, found(), "%s %v", row.rest, writtenFirst)
		}
	}
}

// A message that is read twice, by processes that do not know of each other, changes nothing that is over or further.
func TestFirstResultLeavesWhatIsFurther(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.Open(t))
	sub := k.Subscription()
	m := k.Messages(sub, 3)
	k.Exec(`UPDATE deliveries SET state = 2, attempt = 1 WHERE company_id = $1 AND id = $2`, k.Company, m[0].DeliveryID)
	k.Exec(`UPDATE deliveries SET attempt = 3 WHERE company_id = $1 AND id = ANY($2)`, k.Company, []uuid.UUID{m[1].DeliveryID, m[2].DeliveryID})
	at := time.Now().UTC().Truncate(time.Microsecond)
	first := func(m *webhook.Message, state webhook.State) {
		t.Helper()
		r := newResults(ResultsConfig{}, k.DB, quickConfig(k.Kafka).Log, time.Now)
		require.NoError(t, r.writeOnce(t.Context(), []*result{{Result: store.Result{
			DeliveryKey: store.DeliveryKey{Subscription: webhook.SubscriptionKey{Company: m.Company, ID: sub}, ID: m.DeliveryID},
			New:         &store.NewRow{EventID: m.EventID, Event: m.Event, Expires: m.ExpiresAt, Created: at},
			State:       state, Attempt: 1, Tried: true, Started: at, Took: time.Millisecond,
		}}}, nil))
	}
	first(m[0], webhook.StatePending)
	first(m[1], webhook.StatePending)
	first(m[2], webhook.StateSuccess)
	require.Equal(t, webhook.StateSuccess, k.Row(m[0].DeliveryID).State)
	require.EqualValues(t, 3, k.Row(m[1].DeliveryID).Attempt)
	last := k.Row(m[2].DeliveryID) // it has arrived, whatever others have stored
	require.Equal(t, webhook.StateSuccess, last.State)
	require.EqualValues(t, 3, last.Attempt)
}

// A retry that was answered before the result of the attempt before it is stored brings the row, which that result leaves as it is.
func TestResultsOfRetriesMayComeFirst(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.Open(t), nil) // nobody forwards what waits
	h := dispatchtest.NewReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	sub, _ := k.Subscribe(h.URL)
	retries := k.Collect("webhook.delay.5s")
	m := k.following(sub, 1)[0]
	k.Send(m)
	retry := k.Decode(k.Await(retries, 1)[0])
	require.Equal(t, 2, retry.Attempt)
	require.True(t, retry.RowFollows)
	k.Eventually(func() bool { return k.Deliveries("attempt = 1") == 1 }, "the first result")
	k.Exec(`DELETE FROM deliveries WHERE company_id = $1 AND id = $2`, m.Company, m.DeliveryID)

	at := time.Now().UTC().Truncate(time.Microsecond)
	write := func(attempt int16, state webhook.State, next *time.Time) {
		t.Helper()
		r := newResults(ResultsConfig{}, k.DB, quickConfig(k.Kafka).Log, time.Now)
		j := &job{msg: retry, rec: &kafka.Record{Record: &kgo.Record{Timestamp: at}}}
		require.NoError(t, r.writeOnce(t.Context(), []*result{{Result: store.Result{
			DeliveryKey: j.deliveryKey(), New: j.newRow(), State: state, Attempt: attempt, Most: attempt - 1, Next: next, Tried: true, Started: at, Took: time.Millisecond,
		}}}, nil))
	}
	write(2, webhook.StatePending, &at)
	write(1, webhook.StatePending, &at)
	require.EqualValues(t, 2, k.Row(m.DeliveryID).Attempt)
	write(3, webhook.StateSuccess, nil)
	write(2, webhook.StatePending, &at)
	now := k.Row(m.DeliveryID)
	require.Equal(t, webhook.StateSuccess, now.State)
	require.EqualValues(t, 3, now.Attempt)
	require.Equal(t, 1, k.Query(`SELECT count(*) FROM deliveries WHERE company_id = $1 AND id = $2 AND created_at BETWEEN now() - INTERVAL '1 minute' AND $3`, m.Company, m.DeliveryID, at))
}
