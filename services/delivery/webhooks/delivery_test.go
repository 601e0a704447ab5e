package webhooks_test

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

func TestTestMessage(t *testing.T) {
	t.Parallel()
	r := setup(t, func(c *webhooks.Config) { c.Policy.DeliveryTTL = time.Hour })
	id := r.subscribe()
	path := subscriptions + "/" + id + "/test"
	first := r.Do(t, "POST", path, nil).OK(202)["deliveryId"].(string)
	second := r.Do(t, "POST", path, `{"event":"order.created"}`).OK(202)["deliveryId"].(string)
	require.Equal(t, map[string]string{"event": "ENUM"}, r.Do(t, "POST", path, `{"event":"order.*"}`).Fields())
	require.Equal(t, map[string]string{"event": "LENGTH"}, r.Do(t, "POST", path, `{"event":""}`).Fields())
	r.Do(t, "POST", subscriptions+"/"+uuid.NewString()+"/test", nil).Fault(404, "WEBHOOK_SUBSCRIPTION_NOT_FOUND")

	messages := r.messages()
	require.Len(t, messages, 2)
	for i, want := range []struct{ id, event string }{{first, "webhook.test"}, {second, "order.created"}} {
		m := messages[i]
		require.Equal(t, want.id, m.DeliveryID.String())
		require.Equal(t, webhook.DeliveryID(m.EventID, m.SubscriptionID, 0), m.DeliveryID)
		require.Equal(t, []any{want.event, true, 1, id}, []any{m.Event, m.IsTest, m.Attempt, m.SubscriptionID.String()})
		require.WithinDuration(t, time.Now().Add(time.Hour), m.ExpiresAt, time.Minute)
		require.Regexp(t, fmt.Sprintf(`^{"event":"%s","companyId":"%s","occurredAt":"[^"]+Z","actorId":"%s","data":{"test":true},"eventId":"%s"}$`,
			want.event, r.company(), r.Principal.Actor, m.EventID), string(m.Body))

		got := r.Do(t, "GET", "/webhooks/deliveries/"+want.id, nil)
		d := got.OK(200)
		require.Equal(t, []any{"pending", float64(0), float64(7), true, nil}, []any{d["status"], d["attempt"], d["maxAttempts"], d["isTest"], d["redeliveryOfId"]})
		require.Contains(t, string(got.Body), `"payload":`+string(m.Body))
		require.Equal(t, []any{}, d["attempts"])
	}
}

func TestRedeliverSendsTheSameBytes(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.subscribe()
	old := time.Now().UTC().Add(-48 * time.Hour).Truncate(time.Microsecond)
	eventID, frozen := r.log("order.created", uuid.New(), old)
	first := r.delivery(sub, eventID, "order.created", 3, old)
	path := "/webhooks/deliveries/"

	const parallel = 6
	made := make(chan string, parallel)
	var all sync.WaitGroup
	for range parallel {
		all.Go(func() { made <- r.Do(t, "POST", path+first.String()+"/redeliver", nil).OK(201)["id"].(string) })
	}
	all.Wait()
	close(made)
	ids := map[string]bool{}
	for id := range made {
		ids[id] = true
	}
	for n := 1; n <= parallel; n++ {
		require.Contains(t, ids, webhook.DeliveryID(eventID, uuid.MustParse(sub), n).String(), "redelivery %d", n)
	}
	last := webhook.DeliveryID(eventID, uuid.MustParse(sub), parallel).String()
	again := r.Do(t, "POST", path+last+"/redeliver", nil).OK(201)
	require.Equal(t, webhook.DeliveryID(eventID, uuid.MustParse(sub), parallel+1).String(), again["id"])
	require.Equal(t, last, again["redeliveryOfId"])
	require.Equal(t, "pending", again["status"])

	messages := r.messages()
	require.Len(t, messages, parallel+1)
	for _, m := range messages {
		require.Equal(t, string(frozen), string(m.Body))
		require.Equal(t, []any{eventID, "order.created", false}, []any{m.EventID, m.Event, m.IsTest})
		require.True(t, m.ExpiresAt.After(time.Now().Add(21*time.Hour)), "a redelivery has a life of its own")
	}
	history := r.Do(t, "GET", subscriptions+"/"+sub+"/deliveries", nil).OK(200)["items"].([]any)
	require.Len(t, history, parallel+2)
	require.Equal(t, first.String(), history[len(history)-1].(map[string]any)["id"])

	r.Do(t, "POST", path+uuid.NewString()+"/redeliver", nil).Fault(404, "WEBHOOK_DELIVERY_NOT_FOUND")
	gone := r.delivery(sub, uuid.Must(uuid.NewV7()), "order.created", 3, old)
	r.Do(t, "POST", path+gone.String()+"/redeliver", nil).Fault(404, "EVENT_NOT_FOUND")
}

func TestRedeliverTestMessage(t *testing.T) {
	t.Parallel()
	r := setup(t)
	id := r.Do(t, "POST", subscriptions+"/"+r.subscribe()+"/test", nil).OK(202)["deliveryId"].(string)
	again := r.Do(t, "POST", "/webhooks/deliveries/"+id+"/redeliver", nil).OK(201)
	require.Equal(t, true, again["isTest"])
	third := r.Do(t, "POST", "/webhooks/deliveries/"+again["id"].(string)+"/redeliver", nil).OK(201)
	require.Equal(t, true, third["isTest"])
	messages := r.messages()
	require.Len(t, messages, 3)
	for _, m := range messages {
		require.Equal(t, string(messages[0].Body), string(m.Body))
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.subscribe()
	path := subscriptions + "/" + sub + "/deliveries"
	start := time.Now().UTC().Add(-time.Hour).Truncate(time.Microsecond)
	ids := make([]string, 0, 104)
	for i := range 104 {
		// Only the first three failed.
		state := int16(2)
		if i < 3 {
			state = 3
		}
		at := start.Add(time.Duration(i) * time.Second)
		ids = append(ids, r.delivery(sub, eventIDAt(at), "order.created", state, at).String())
	}
	read := func(query string) (got []string) {
		page := r.Do(t, "GET", path+query, nil).OK(200)
		for _, item := range page["items"].([]any) {
			got = append(got, item.(map[string]any)["id"].(string))
		}
		require.Equal(t, float64(len(got)), page["total"])
		return got
	}
	latest := read("")
	require.Len(t, latest, 100)
	require.Equal(t, ids[103], latest[0])
	require.Equal(t, ids[4], latest[99])
	require.Equal(t, []string{ids[2], ids[1], ids[0]}, read("?status=failed"))
	require.Empty(t, read("?status=pending"))
	require.Len(t, read("?status=success"), 100)
	require.Equal(t, map[string]string{"status": "ENUM"}, r.Do(t, "GET", path+"?status=lost", nil).Fields())

	again := r.Do(t, "POST", subscriptions+"/"+sub+"/test", nil).OK(202)["deliveryId"].(string)
	require.Equal(t, []string{again}, read("?status=pending"))
	require.Equal(t, again, read("")[0])
}

func TestDeliveryDetail(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.subscribe()
	now := time.Now().UTC().Truncate(time.Millisecond)
	eventID, frozen := r.log("order.created", uuid.New(), now)
	id := r.delivery(sub, eventID, "order.created", 3, now)
	_, err := r.db.Exec(t.Context(), `UPDATE deliveries SET attempt = 2, http_code = 500, response_body = $3, error = 'the receiver answered 500', duration_ms = 12
WHERE company_id = $1 AND id = $2`, r.company(), id, []byte("bad \xff byte"))
	require.NoError(t, err)
	for seq, code := range []int{502, 500} {
		_, err := r.db.Exec(t.Context(), `INSERT INTO delivery_attempts (company_id, subscription_id, ring, seq, delivery_id, attempt, http_code, duration_ms, started_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 12, $8)`, r.company(), sub, seq, seq, id, seq+1, code, now)
		require.NoError(t, err)
	}
	got := r.Do(t, "GET", "/webhooks/deliveries/"+id.String(), nil)
	d := got.OK(200)
	require.Equal(t, []any{"failed", float64(2), float64(500), "bad \uFFFD byte", "the receiver answered 500", float64(12)},
		[]any{d["status"], d["attempt"], d["httpCode"], d["responseBody"], d["errorMessage"], d["durationMs"]})
	require.Contains(t, string(got.Body), `"payload":`+string(frozen))
	for i, code := range []float64{502, 500} {
		require.Equal(t, map[string]any{
			"attempt": float64(i + 1), "httpCode": code, "errorMessage": nil, "durationMs": float64(12), "startedAt": now.Format("2006-01-02T15:04:05.000Z"),
		}, d["attempts"].([]any)[i], strconv.Itoa(i))
	}
}

// A success is described by the row of its delivery alone.
func TestDeliveryDetailOfASuccess(t *testing.T) {
	t.Parallel()
	r := setup(t)
	sub := r.subscribe()
	done := time.Now().UTC().Truncate(time.Millisecond)
	eventID, _ := r.log("order.created", uuid.New(), done)
	id := r.delivery(sub, eventID, "order.created", 2, done)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := r.db.Exec(t.Context(), sql, append([]any{r.company(), sub, id}, args...)...)
		require.NoError(t, err)
	}
	exec(`UPDATE deliveries SET attempt = 2, http_code = 204, duration_ms = 1500, completed_at = $4 WHERE company_id = $1 AND subscription_id = $2 AND id = $3`, done)
	const insert = `INSERT INTO delivery_attempts (company_id, subscription_id, delivery_id, ring, seq, attempt, http_code, error, duration_ms, started_at)
VALUES ($1, $2, $3, $4::INT2, $4::INT2, $4::INT2, $5, $6, 12, $7)`
	exec(insert, 1, 500, "the receiver answered 500", done.Add(-time.Minute))
	const layout = "2006-01-02T15:04:05.000Z"
	failed := map[string]any{
		"attempt": float64(1), "httpCode": float64(500), "errorMessage": "the receiver answered 500", "durationMs": float64(12),
		"startedAt": done.Add(-time.Minute).Format(layout),
	}
	require.Equal(t, []any{failed, map[string]any{
		"attempt": float64(2), "httpCode": float64(204), "errorMessage": nil, "durationMs": float64(1500),
		"startedAt": done.Add(-1500 * time.Millisecond).Format(layout),
	}}, r.Do(t, "GET", "/webhooks/deliveries/"+id.String(), nil).OK(200)["attempts"])
}

// The deliveries of a subscription that was deleted can still be read, those of another company never.
func TestDeliveryIsFoundByItsID(t *testing.T) {
	t.Parallel()
	r := setup(t)
	now := time.Now().UTC()
	var ids []string
	for i := range 4 {
		sub := r.Do(t, "POST", subscriptions, map[string]any{"url": hook + strconv.Itoa(i), "events": []string{"*"}}).OK(201)["id"].(string)
		ids = append(ids, r.delivery(sub, eventIDAt(now), "order.created", 2, now).String())
		if len(ids)%2 == 0 {
			require.Equal(t, 204, r.Do(t, "DELETE", subscriptions+"/"+sub, nil).Status)
		}
	}
	for _, id := range ids {
		require.Equal(t, id, r.Do(t, "GET", "/webhooks/deliveries/"+id, nil).OK(200)["id"])
	}
	r.Do(t, "GET", "/webhooks/deliveries/"+uuid.NewString(), nil).Fault(404, "WEBHOOK_DELIVERY_NOT_FOUND")
	other := setup(t)
	other.subscribe()
	other.Do(t, "GET", "/webhooks/deliveries/"+ids[0], nil).Fault(404, "WEBHOOK_DELIVERY_NOT_FOUND")
}

// eventIDAt is an event id of a moment.
func eventIDAt(at time.Time) uuid.UUID {
	id := uuid.Must(uuid.NewV7())
	for i, ms := 0, at.UnixMilli(); i < 6; i++ {
		id[i] = byte(ms >> (40 - 8*i))
	}
	return id
}
