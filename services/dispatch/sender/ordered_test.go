package sender

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/webhook"
	"github.com/tradegrid/tradegrid/services/dispatch/dispatchtest"
	"github.com/tradegrid/tradegrid/services/dispatch/store"
)

// orderedMessages are deliveries of changes of one record to an ordered subscription, with their rows.
func orderedMessages(k *kit, sub uuid.UUID, n int) []*webhook.Message {
	k.T.Helper()
	k.Set(sub, "ordered = true")
	messages, record := k.Messages(sub, n), uuid.New()
	for i, m := range messages {
		m.Entity = record
		k.Exec(`UPDATE deliveries SET entity_id = $3, entity_version = $4, payload = $5 WHERE company_id = $1 AND id = $2`, k.Company, m.DeliveryID, record, i+1, m.Body)
	}
	return messages
}

// The sender itself sends what waited for a delivery that is over; no sweeper runs here.
func TestSenderPassesTheTurnOfARecord(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.OpenNew(t), nil)
	k.ForwardDelayed()
	var mu sync.Mutex
	failures := 2
	var order []string
	second, look := "", make(chan struct{})
	receiver := dispatchtest.NewReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(webhook.HeaderDeliveryID) == second {
			<-look
		}
		mu.Lock()
		defer mu.Unlock()
		if failures > 0 {
			failures--
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		order = append(order, r.Header.Get(webhook.HeaderDeliveryID))
	})
	sub, _ := k.Subscribe(receiver.URL)
	messages := orderedMessages(k, sub, 5)
	second = messages[1].DeliveryID.String()
	k.Send(messages...)
	k.Eventually(func() bool {
		return k.Row(messages[1].DeliveryID).Next != nil && k.InState(sub, webhook.StateSuccess) == 1
	}, "its row says that it is on its way, so the sweeper leaves it alone")
	close(look)
	k.Eventually(func() bool { return k.InState(sub, webhook.StateSuccess) == 5 }, "all arrive")
	mu.Lock()
	defer mu.Unlock()
	for i, m := range messages {
		require.Equal(t, m.DeliveryID.String(), order[i])
	}
	for _, m := range messages[1:] {
		require.EqualValues(t, 1, k.Row(m.DeliveryID).Attempt, "to wait uses no attempt")
	}
}

// A delivery that was skipped is not sent any more, also when its retry was on its way.
func TestSkippedDeliveryIsNotSent(t *testing.T) {
	t.Parallel()
	k := newKit(t, dbtest.OpenNew(t), nil)
	receiver := dispatchtest.NewReceiver(t, dispatchtest.Status(http.StatusBadGateway))
	sub, _ := k.Subscribe(receiver.URL)
	m := orderedMessages(k, sub, 1)[0]
	k.Send(m)
	k.Eventually(func() bool { return k.Row(m.DeliveryID).Attempt == 1 }, "the first attempt fails")
	require.NoError(t, k.DB.RunTx(t.Context(), "test.skip", func(_ context.Context, tx *db.Tx) error {
		store.Deliveries{}.Skip(tx, webhook.SubscriptionKey{Company: k.Company, ID: sub}, m.DeliveryID, tx.Now())
		return nil
	}))
	again := *m
	again.Attempt = 2
	after := k.Messages(sub, 1)[0]
	k.Send(&again, after)
	k.Eventually(func() bool { return k.Row(after.DeliveryID).Attempt == 1 }, "what comes behind it is sent")
	for _, r := range receiver.Requests()[1:] {
		require.NotEqual(t, m.DeliveryID.String(), r.ID)
	}
	require.Equal(t, webhook.StateFailed, k.Row(m.DeliveryID).State)
}
