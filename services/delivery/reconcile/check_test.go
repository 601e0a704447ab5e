package reconcile

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// Each pair of an event and a subscription counts once, and what is missing is named.
func TestCheckAccountsForEveryPair(t *testing.T) {
	t.Parallel()
	a := newAudit(t)
	other := a.Subscription()
	a.Set(other, "updated_at = $3, events = ARRAY['product.*']", time.Now().Add(-time.Hour))
	began := time.Now().UTC()
	events := make([]dispatchtest.Event, 450) // more than a page
	for i := range events {
		events[i] = a.Event("order.created")
	}
	stop := a.router()
	a.raise(events...)
	a.Eventually(func() bool { return a.Deliveries("true") == len(events) }, "all are routed")
	stop()
	fresh := a.Subscription() // made since, for all events
	in := Interval{From: began, To: time.Now(), Company: &a.Company}
	check := func() (b Balance, missing []Missing) {
		t.Helper()
		b, err := a.Check(t.Context(), in, func(m Missing) error {
			missing = append(missing, m)
			return nil
		})
		require.NoError(t, err)
		return b, missing
	}
	n := int64(len(events))
	b, missing := check()
	require.Equal(t, Balance{Companies: 1, Events: n, Open: n, NotWanted: n, Changed: n}, b)
	require.True(t, b.Even())
	require.Empty(t, missing)

	a.Exec(`DELETE FROM webhook_subscriptions WHERE company_id = $1 AND id = $2`, a.Company, fresh)
	row := func(e dispatchtest.Event) uuid.UUID { return webhook.DeliveryID(e.ID, a.sub, 0) }
	for i, state := range []webhook.State{webhook.StateSuccess, webhook.StateSuccess, webhook.StateFailed, webhook.StateDelivering} {
		a.Exec(`UPDATE deliveries SET state = $3 WHERE company_id = $1 AND id = $2`, a.Company, row(events[i]), state)
	}
	for _, lost := range []int{4, 300} {
		a.Exec(`DELETE FROM deliveries WHERE company_id = $1 AND id = $2`, a.Company, row(events[lost]))
	}
	b, missing = check()
	require.Equal(t, Balance{Companies: 1, Events: n, Delivered: 2, Failed: 1, Open: n - 5, NotWanted: n, Missing: 2}, b)
	require.False(t, b.Even())
	require.Len(t, missing, 2)
	require.Equal(t, []any{a.Company, a.sub, events[4].ID, "order.created"}, []any{missing[0].CompanyID, missing[0].SubscriptionID, missing[0].EventID, missing[0].Event})
	require.Equal(t, events[300].ID, missing[1].EventID)

	all := in
	all.Company = nil
	a.companies = func(_ context.Context, after uuid.UUID) ([]uuid.UUID, error) {
		if after == uuid.Nil {
			return []uuid.UUID{uuid.UUID(a.Company)}, nil
		}
		return nil, nil
	}
	again, err := a.Check(t.Context(), all, func(Missing) error { return nil })
	require.NoError(t, err)
	require.Equal(t, b.Missing, again.Missing)

	a.Exec(`INSERT INTO outbox (bucket, pos, id, company_id, topic, key, event, agg_type, agg_id, agg_version, payload, traceparent, tracestate, created_at)
VALUES ($2, 1, $3, $1, $4, 'k', 'order.created', 'order', $3, 1, '', '', '', $5)`,
		a.Company, outbox.Bucket(a.Company), uuid.New(), topics.Events, time.Now())
	in.To = time.Now()
	b, _ = check()
	require.Equal(t, int64(1), b.Unpublished)
	require.False(t, b.Even())
	in.From = time.Now().Add(time.Second)
	in.To = in.From.Add(time.Hour)
	b, _ = check()
	require.Equal(t, Balance{Companies: 1}, b)
}
