package webhooks_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A delivery that waits is sent now, once: a second request finds it on its way. What no request can hurry is refused.
func TestSendNow(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.subscribe()
	at := time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond)
	waits := func(minute int, attempts int, waitingFor string) string {
		t.Helper()
		event, _ := r.log("order.created", uuid.New(), at.Add(time.Duration(minute)*time.Minute))
		id := r.delivery(sub, event, "order.created", 0, at)
		_, err := r.db.Exec(t.Context(), `UPDATE deliveries SET attempt = $3, waiting_for = $4, next_attempt_at = $5 WHERE company_id = $1 AND id = $2`,
			r.company(), id, attempts, waitingFor, time.Now().Add(time.Hour))
		require.NoError(t, err)
		return id.String()
	}
	probe := func() string {
		t.Helper()
		return r.Do(t, "POST", subscriptions+"/"+sub+"/probe", nil).OK(202)["id"].(string)
	}
	r.Do(t, "POST", subscriptions+"/"+sub+"/probe", nil).Fault(409, "WEBHOOK_NOTHING_WAITS")
	last, turn := waits(0, 6, "receiver_down"), waits(1, 0, "record")
	oldest, newer := waits(2, 2, "circuit_open"), waits(3, 1, "retry")

	send := "/webhooks/deliveries/" + newer + "/send-now"
	require.Equal(t, 403, r.as("webhooks:read").Do(t, "POST", send, nil).Status)
	require.Equal(t, 403, r.as("webhooks:write").Do(t, "POST", send, nil).Status, "the receiver gets what this token may not read")
	require.Empty(t, r.messages())
	sent := r.Do(t, "POST", send, nil).OK(202)
	require.Equal(t, []any{"pending", "sender"}, []any{sent["status"], sent["waitingFor"]})
	require.Equal(t, sent, r.Do(t, "POST", send, nil).OK(202), "it is on its way")
	require.Len(t, r.messages(), 1)
	m := r.messages()[0]
	require.Equal(t, newer, m.DeliveryID.String())
	require.Equal(t, []any{2, 1, true}, []any{m.Attempt, m.Postponements, m.Asked})
	require.Contains(t, string(m.Body), `"order.created"`)

	require.Equal(t, oldest, probe(), "not the one whose last attempt it would be, and not the one that has no turn")
	require.Equal(t, oldest, probe())
	require.Len(t, r.messages(), 2)
	require.Equal(t, 3, r.messages()[1].Attempt)

	r.Do(t, "POST", "/webhooks/deliveries/"+turn+"/send-now", nil).Fault(409, "WEBHOOK_DELIVERY_BLOCKED")
	event, _ := r.log("order.created", uuid.New(), at)
	over := r.delivery(sub, event, "order.created", 2, at)
	r.Do(t, "POST", "/webhooks/deliveries/"+over.String()+"/send-now", nil).Fault(409, "WEBHOOK_DELIVERY_OVER")
	r.Do(t, "PATCH", subscriptions+"/"+sub, `{"isActive":false}`).OK(200)
	refused := r.Do(t, "POST", "/webhooks/deliveries/"+last+"/send-now", nil).Fault(409, "WEBHOOK_DELIVERY_BLOCKED")
	require.Equal(t, map[string]any{"waitingFor": "paused"}, refused["meta"])
	r.Do(t, "POST", subscriptions+"/"+sub+"/probe", nil).Fault(409, "WEBHOOK_DELIVERY_BLOCKED")
	require.Len(t, r.messages(), 2)
}
