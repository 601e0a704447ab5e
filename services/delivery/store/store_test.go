package store

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// All companies with subscriptions are read, page after page.
func TestSelectSubscribers(t *testing.T) {
	t.Parallel()
	d, company := dbtest.Open(t), tenant.NewID()
	company[15] |= 1
	before := uuid.UUID(company)
	before[15] &^= 1 // another company in between is as likely as a collision
	_, err := d.Exec(t.Context(), `INSERT INTO webhook_companies (company_id, changes) VALUES ($1, 1)`, company)
	require.NoError(t, err)
	ids, err := SelectSubscribers(t.Context(), d, before, 1)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{uuid.UUID(company)}, ids)
	ids, err = SelectSubscribers(t.Context(), d, uuid.UUID(company), 1)
	require.NoError(t, err)
	require.NotContains(t, ids, uuid.UUID(company))
}

// A delivery whose turn comes before its event is in the log has the body that the outbox has.
func TestBodiesAreFoundOnTheirWayToTheLog(t *testing.T) {
	t.Parallel()
	d, company, now := dbtest.Open(t), tenant.NewID(), time.Now().UTC()
	eventID, body := uuid.Must(uuid.NewV7()), []byte(`{"event":"order.created"}`)
	open := make([]*OpenDelivery, 2)
	for i, of := range []uuid.UUID{eventID, uuid.Must(uuid.NewV7())} {
		v := &OpenDelivery{DeliveryKey: DeliveryKey{Subscription: webhook.SubscriptionKey{Company: company, ID: uuid.New()}, ID: uuid.New()}, EventID: of}
		_, err := d.Exec(t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at)
VALUES ($1, $2, $3, $4, 'order.created', 0, 0, $5, false, $5, $5)`, company, v.Subscription.ID, v.ID, of, now)
		require.NoError(t, err)
		open[i] = v
	}
	require.NoError(t, d.RunTx(t.Context(), "test.append", func(ctx context.Context, tx *db.Tx) error {
		return outbox.Append(ctx, tx, company, outbox.Message{
			ID: eventID, Name: "order.created", AggType: "order", AggID: uuid.New(), Version: 1, Pos: now.UnixMicro(), Payload: body, CreatedAt: now,
		})
	}))
	found, err := SelectBodies(t.Context(), d, open)
	require.NoError(t, err)
	require.Equal(t, map[uuid.UUID]Body{open[0].ID: {Text: body}}, found, "an event that is nowhere has none")
}
