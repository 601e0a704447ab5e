package dispatch_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/compress"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/dispatchtest"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
	"github.com/tradegrid/tradegrid/services/delivery/sender"
	"github.com/tradegrid/tradegrid/services/delivery/store"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/topics"
)

// A person sends a delivery through the open circuit of its receiver: one request goes out, however often the person clicks and the
// record comes, and the record that waited on a delay topic finds the attempt made. The answer 200 closes the circuit.
func TestSendNowReachesTheReceiverOnce(t *testing.T) {
	t.Parallel()
	k := dispatchtest.New(t, dbtest.OpenNew(t))
	delayed := k.Collect(delayTopics()...)
	receiver := dispatchtest.NewReceiver(t, dispatchtest.Status(http.StatusInternalServerError))
	sub, _ := k.Subscribe(receiver.URL)
	k.Run(sender.New(sender.Config{
		Client:  k.Kafka,
		Retry:   sender.RetryConfig{MaxAttempts: dispatchtest.Policy().MaxAttempts, Jitter: -1, MaxWait: time.Hour},
		Results: sender.ResultsConfig{Linger: 5 * time.Millisecond},
		Egress:  egress.Config{Settings: egress.Settings{AllowInsecure: true, Timeout: 2 * time.Second}, AllowPrivate: true},
		Breaker: sender.BreakerConfig{Failures: 2, Open: time.Hour, MaxOpen: time.Hour},
	}, k.DB, k.Client, sender.NewReceiverCache(k.DB, time.Second, k.Keys, slog.New(slog.DiscardHandler))).Run)
	messages := k.Messages(sub, 2)
	k.Exec(`UPDATE deliveries SET payload = $2 WHERE company_id = $1`, k.Company, messages[0].Body)
	k.Send(messages...)
	opens := func() int {
		return k.Query(`SELECT breaker_opens FROM webhook_subscriptions WHERE company_id = $1 AND id = $2`, k.Company, sub)
	}
	k.Eventually(func() bool { return opens() == 1 && k.Deliveries("attempt = 1 AND waiting_for = 'retry'") == 2 }, "circuit open")
	scheduled := k.Await(delayed, 2)

	api := webhooks.New(webhooks.Config{DB: k.DB, Registry: dispatchtest.Registry(), Policy: dispatchtest.Policy(), Deliveries: store.Deliveries{}, Keys: k.Keys})
	by := access.Caller{Principal: &access.Principal{Company: k.Company, Scopes: access.Scopes{"*:read", "*:write"}}}
	ask := func(do func(context.Context, *db.Tx, access.Caller, uuid.UUID) (webhooks.DeliveryRecord, error), id uuid.UUID) (d webhooks.DeliveryRecord) {
		t.Helper()
		require.NoError(t, k.DB.RunTx(t.Context(), "test.ask", func(ctx context.Context, tx *db.Tx) (err error) {
			d, err = do(ctx, tx, by, id)
			return err
		}, db.ReadCommitted()))
		return d
	}
	first := messages[0].DeliveryID
	ask(api.SendNow, first)
	ask(api.SendNow, first)
	require.Equal(t, 1, relay(t, k), "the second click found it on its way")
	k.Eventually(func() bool { return k.Row(first).Attempt == 2 && k.Row(first).Next.After(time.Now()) }, "attempt 2 failed")
	require.Equal(t, 1, opens(), "the failure makes no cooldown longer")

	receiver.Answer(dispatchtest.Status(http.StatusOK))
	require.Equal(t, first, ask(api.Probe, sub).ID)
	require.Equal(t, 1, relay(t, k))
	require.EqualValues(t, 3, k.AwaitState(first, webhook.StateSuccess).Attempt)
	k.Eventually(func() bool { return opens() == 0 }, "circuit closed")

	for _, rec := range scheduled { // attempt 2 of both, as the delay topics hand them on
		k.Produce(&kgo.Record{Topic: topics.Deliveries, Key: rec.Key, Value: rec.Value, Headers: rec.Headers})
	}
	k.AwaitState(messages[1].DeliveryID, webhook.StateSuccess)
	var got []int
	for _, req := range receiver.Requests() {
		if req.ID == first.String() {
			got = append(got, req.Attempt)
		}
	}
	require.Equal(t, []int{1, 2, 3}, got, "each attempt once")
}

func delayTopics() (names []string) {
	for _, tier := range topics.DelayTiers() {
		names = append(names, tier.Topic)
	}
	return names
}

// relay publishes what waits in the outbox for the senders, each record twice, and returns how many there were.
func relay(t *testing.T, k *dispatchtest.Kit) int {
	t.Helper()
	rows, err := k.DB.Query(t.Context(), `SELECT key, payload FROM outbox WHERE bucket = $1 AND company_id = $2 AND topic = $3`, outbox.Bucket(k.Company), k.Company, topics.Deliveries)
	require.NoError(t, err)
	var records []*kgo.Record
	for rows.Next() {
		var key string
		var packed []byte
		require.NoError(t, rows.Scan(&key, &packed))
		payload, err := compress.Open(packed)
		require.NoError(t, err)
		for range 2 {
			records = append(records, &kgo.Record{Topic: topics.Deliveries, Key: []byte(key), Value: payload, Headers: []kgo.RecordHeader{{Key: "companyid", Value: []byte(k.Company.String())}}})
		}
	}
	require.NoError(t, rows.Err())
	k.Produce(records...)
	k.Exec(`DELETE FROM outbox WHERE company_id = $1`, k.Company)
	return len(records) / 2
}
