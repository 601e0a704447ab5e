package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/services/dev/receiver"
	"github.com/tradegrid/tradegrid/tests/role"
	"github.com/tradegrid/tradegrid/topics"
)

// counted checks that each record tells how many requests the receiver has seen of its delivery.
func (r *kit) counted(api *client, name string, records []record) {
	r.t.Helper()
	byID := map[string][]receiver.Delivery{}
	for _, got := range r.arrivals(name) {
		for _, d := range got {
			byID[d.ID] = append(byID[d.ID], d)
		}
	}
	for _, d := range records {
		got := byID[d.ID]
		require.Len(r.t, got, d.Attempt, "requests of delivery %s", d.ID)
		require.LessOrEqual(r.t, d.Attempt, 7)
		require.Len(r.t, api.record(d.ID).Attempts, d.Attempt)
		for i, g := range got {
			require.Equal(r.t, i+1, g.Attempt, "attempts count up")
			require.Equal(r.t, d.EventID, g.EventID)
		}
	}
}

func TestReceiverComesBack(t *testing.T) {
	t.Parallel()
	const n = 6
	r := newKit(t)
	api := r.platform()
	subscription := api.subscribe("shop", "order.created")
	require.NoError(t, r.hooks.SetBehaviour("shop", receiver.Behaviour{Mode: receiver.ModeClose, Times: 2 * n}))
	ids := api.place(api.product(), n)

	r.counted(api, "shop", api.settled(subscription, n, "success"))
	require.Len(t, r.deliveries("shop"), 2*n+n, "what the receiver did not take, and each event once more")
	for _, id := range ids {
		got := r.arrivals("shop")[id]
		require.Equal(t, "200", got[len(got)-1].Outcome)
	}
}

// The seventh failure is the last: the delivery is failed, its record goes to the dead letters, and it can be sent again.
func TestSevenFailures(t *testing.T) {
	t.Parallel()
	r := newKit(t)
	api := r.platform()
	subscription := api.subscribe("shop", "order.created")
	require.NoError(t, r.hooks.SetBehaviour("shop", receiver.Behaviour{Mode: receiver.ModeStatus, Status: http.StatusServiceUnavailable}))
	id := api.order(api.product()).ID

	failed := api.settled(subscription, 1, "failed")
	require.Equal(t, 7, failed[0].Attempt)
	require.Nil(t, failed[0].NextAttemptAt)
	r.counted(api, "shop", failed)
	dead := r.topic(topics.DeliveriesDead)
	dead.until(func(records []*kgo.Record) bool { return len(records) > 0 }, "the delivery is among the dead letters")
	require.Len(t, dead.seen, 1)
	require.Equal(t, subscription, string(dead.seen[0].Key))
	require.Equal(t, string(r.bytesOf(failed[0].ID)), string(dead.seen[0].Value), "with its bytes")
	require.Contains(t, dead.seen[0].Headers, kgo.RecordHeader{Key: "delivery_id", Value: []byte(failed[0].ID)})

	require.NoError(t, r.hooks.SetBehaviour("shop", receiver.Behaviour{}))
	var again record
	api.call(http.MethodPost, "/webhooks/deliveries/"+failed[0].ID+"/redeliver", nil, &again)
	require.NotEqual(t, failed[0].ID, again.ID)
	require.Equal(t, failed[0].ID, *again.RedeliveryOfID)
	role.Eventually(t, func() bool { return api.record(again.ID).Status == "success" }, "the redelivery arrives")
	got := r.arrivals("shop")[id]
	require.Len(t, got, 8)
	require.Equal(t, again.ID, got[7].ID)
	require.Equal(t, 1, got[7].Attempt)
	require.Equal(t, string(r.bytesOf(failed[0].ID)), string(r.bytesOf(again.ID)), "the same bytes")
	require.Equal(t, "failed", api.record(failed[0].ID).Status, "the old record stays as it was")
}

// Ten failures in a row let the receiver rest, and waiting uses up no attempts.
func TestCircuitStaysOpen(t *testing.T) {
	t.Parallel()
	const (
		n    = 12
		rest = 2 * time.Second
	)
	r := newKit(t)
	api := r.client(r.role(nil, "api"))
	r.role(nil, "relay")
	r.role(nil, "dispatcher", "--breaker-failures=10", "--breaker-open="+rest.String(), "--receiver-in-flight=1")
	subscription := api.subscribe("shop", "order.created")
	require.NoError(t, r.hooks.SetBehaviour("shop", receiver.Behaviour{Mode: receiver.ModeStatus, Status: 500, Times: 10}))
	api.place(api.product(), n)

	r.counted(api, "shop", api.settled(subscription, n, "success"))
	all := r.deliveries("shop")
	require.Len(t, all, 10+n, "ten failures, then each event arrives with one more request")
	for i, d := range all {
		require.Equal(t, i >= 10, d.Outcome == "200", "request %d", i+1)
	}
	require.GreaterOrEqual(t, all[10].ReceivedAt.Sub(all[9].ReceivedAt), rest*9/10, "no request while the circuit is open")
}
