package webhooks_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

func TestRedeliverFailedSendsEachFailureOnce(t *testing.T) {
	t.Parallel()
	r := setup(t)
	s := webhooks.New(webhooks.Config{DB: r.db, Registry: registry(), Policy: policy(), Deliveries: store.Deliveries{}})
	subscription := r.subscribe()
	sub := uuid.MustParse(subscription)
	now := time.Now().UTC().Truncate(time.Microsecond)
	failed := func(ended time.Time) uuid.UUID {
		event, _ := r.log("order.created", uuid.New(), now)
		id := r.delivery(subscription, event, "order.created", 3, now)
		_, err := r.db.Exec(t.Context(), `UPDATE deliveries SET completed_at = $3 WHERE company_id = $1 AND id = $2`, r.company(), id, ended)
		require.NoError(t, err)
		return id
	}
	want := []uuid.UUID{failed(now), failed(now), failed(now)}
	failed(now.Add(-2 * time.Hour)) // before the outage
	bySomeone := failed(now)
	r.Do(t, "POST", "/webhooks/deliveries/"+bySomeone.String()+"/redeliver", nil).OK(201)
	before := len(r.messages())

	all := func() (made int) {
		last := uuid.Nil
		for last != uuid.Max {
			var n int
			var err error
			last, n, err = s.RedeliverFailed(t.Context(), r.company(), sub, now.Add(-time.Hour), last, 2)
			require.NoError(t, err)
			require.LessOrEqual(t, n, 2)
			made += n
		}
		return made
	}
	require.Equal(t, 3, all())
	var again []uuid.UUID
	for _, m := range r.messages()[before:] {
		require.Equal(t, 1, m.Attempt)
		require.Equal(t, webhook.DeliveryID(m.EventID, sub, 1), m.DeliveryID)
		got := r.Do(t, "GET", "/webhooks/deliveries/"+m.DeliveryID.String(), nil).OK(200)
		again = append(again, uuid.MustParse(got["redeliveryOfId"].(string)))
	}
	require.ElementsMatch(t, want, again)

	// When those fail, too, nothing follows: it would never end.
	_, err := r.db.Exec(t.Context(), `UPDATE deliveries SET state = 3, completed_at = $2 WHERE company_id = $1`, r.company(), now)
	require.NoError(t, err)
	require.Equal(t, 1, all(), "only what failed before the outage and counts as failed in it now")
	require.Zero(t, all())

	last, made, err := s.RedeliverFailed(t.Context(), r.company(), uuid.New(), now, uuid.Nil, 2)
	require.NoError(t, err)
	require.Equal(t, []any{uuid.Max, 0}, []any{last, made}, "the subscription is gone")
}

func TestAutoRedeliverIsOnByDefault(t *testing.T) {
	t.Parallel()
	r := setup(t)
	path := subscriptions + "/" + r.subscribe()
	require.Equal(t, true, r.Do(t, "GET", path, nil).OK(200)["autoRedeliver"])
	require.Equal(t, false, r.Do(t, "PATCH", path, `{"autoRedeliver":false}`).OK(200)["autoRedeliver"])
}
