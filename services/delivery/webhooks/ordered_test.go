package webhooks_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/topics"
)

// An ordered subscription shows the records that it holds, each with the delivery that the others wait for, until that is skipped.
func TestHeldRecords(t *testing.T) {
	t.Parallel()
	r := setup(t)
	made := r.Do(t, "POST", subscriptions, map[string]any{"url": hook, "events": []string{"order.*"}, "ordered": true}).OK(201)
	require.Equal(t, true, made["ordered"])
	sub := made["id"].(string)
	plain := r.subscribe()
	require.Equal(t, false, r.Do(t, "GET", subscriptions+"/"+plain, nil).OK(200)["ordered"])
	at := time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond)
	entity, other := uuid.New(), uuid.New()
	open := func(of string, record uuid.UUID, version int64, state int16, waits any) string {
		t.Helper()
		event, _ := r.log("order.created", record, at)
		id := r.delivery(of, event, "order.created", state, at.Add(time.Duration(version)*time.Second))
		_, err := r.db.Exec(t.Context(), `UPDATE deliveries SET entity_id = $3, entity_version = $4, waiting_for = $5,
completed_at = CASE WHEN state < 2 THEN NULL ELSE now() END WHERE company_id = $1 AND id = $2`, r.company(), id, record, version, waits)
		require.NoError(t, err)
		return id.String()
	}
	held := func() []any { return r.Do(t, "GET", subscriptions+"/"+sub+"/held", nil).OK(200)["items"].([]any) }
	require.Empty(t, held())
	third := open(sub, entity, 3, 0, "record")
	first := open(sub, entity, 1, 0, "retry")
	open(sub, entity, 2, 0, "record")
	over := open(sub, other, 1, 2, nil)
	open(sub, other, 2, 0, "retry")
	plainOpen := open(plain, entity, 1, 0, "retry")

	got := held()
	require.Len(t, got, 1, "a record of which one delivery is open holds nothing")
	one := got[0].(map[string]any)
	require.Equal(t, entity.String(), one["entityId"])
	require.InDelta(t, 2, one["waiting"], 0)
	require.Equal(t, first, one["delivery"].(map[string]any)["id"])
	require.Equal(t, "retry", one["delivery"].(map[string]any)["waitingFor"])
	require.Equal(t, "record", r.Do(t, "GET", "/webhooks/deliveries/"+third, nil).OK(200)["waitingFor"])

	require.Equal(t, "WEBHOOK_NOT_ORDERED", r.Do(t, "POST", "/webhooks/deliveries/"+plainOpen+"/skip", nil).OK(409)["code"])
	require.Equal(t, "WEBHOOK_DELIVERY_OVER", r.Do(t, "POST", "/webhooks/deliveries/"+over+"/skip", nil).OK(409)["code"])
	require.Equal(t, 403, r.as("webhooks:read").Do(t, "POST", "/webhooks/deliveries/"+first+"/skip", nil).Status)
	before := len(r.published(topics.Subscriptions))
	skipped := r.Do(t, "POST", "/webhooks/deliveries/"+first+"/skip", nil).OK(200)
	require.Equal(t, "failed", skipped["status"])
	require.Equal(t, "skipped", skipped["errorMessage"])
	require.Nil(t, skipped["waitingFor"])
	require.Len(t, r.published(topics.Subscriptions), before+1, "the sweeper hears of it")
	explained := r.explain(sub, uuid.MustParse(skipped["eventId"].(string)))
	require.Equal(t, []any{"failed", "skipped"}, []any{explained["outcome"], explained["reason"]})
	require.Equal(t, "WEBHOOK_DELIVERY_OVER", r.Do(t, "POST", "/webhooks/deliveries/"+first+"/skip", nil).OK(409)["code"])
	require.InDelta(t, 1, held()[0].(map[string]any)["waiting"], 0)
	require.Equal(t, 412, r.Do(t, "PATCH", subscriptions+"/"+sub, `{"ordered":false}`, apitest.Header{"If-Match", `"99"`}).Status)
	require.Len(t, held(), 1)
	require.Equal(t, false, r.Do(t, "PATCH", subscriptions+"/"+sub, `{"ordered":false}`).OK(200)["ordered"])
	require.Empty(t, held(), "nothing waits any more")
	require.NotEqual(t, "record", r.Do(t, "GET", "/webhooks/deliveries/"+third, nil).OK(200)["waitingFor"])
}
