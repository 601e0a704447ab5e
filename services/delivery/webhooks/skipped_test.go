package webhooks_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// What a subscription did not get is listed with the reason of its time, page by page, and not what it got or may still get.
func TestSkippedEvents(t *testing.T) {
	t.Parallel()
	r := setup(t)
	now := time.Now().UTC()
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	r.logAs("order.created", "system", uuid.New(), note{Status: "early"}, at(-60)) // before the subscription
	sub := r.Do(t, "POST", subscriptions, `{"url":"`+hook+`","events":["order.*"],"filter":{"data.status":"paid"}}`).OK(201)["id"].(string)
	filtered, _ := r.logAs("order.created", "system", uuid.New(), note{Status: "new"}, at(1))
	other, _ := r.logAs("product.created", "system", uuid.New(), note{}, at(2))
	paid, _ := r.logAs("order.created", "system", uuid.New(), note{Status: "paid"}, at(3))
	r.delivery(sub, paid, "order.created", 2, at(3))
	r.logAs("order.created", "system", uuid.New(), note{Status: "paid"}, at(4)) // on its way to the subscription
	late, _ := r.logAs("order.updated", "system", uuid.New(), note{Status: "new"}, at(5))

	path := subscriptions + "/" + sub + "/skipped"
	page := r.Do(t, "GET", path, nil).OK(200)
	require.Equal(t, []any{false, nil}, []any{page["hasMore"], page["nextCursor"]})
	var ids []string
	for _, e := range page["items"].([]any) {
		ids = append(ids, e.(map[string]any)["eventId"].(string))
	}
	require.Equal(t, []string{late.String(), other.String(), filtered.String()}, ids)
	last := page["items"].([]any)[2].(map[string]any)
	require.Equal(t, "filtered", last["outcome"])
	require.Equal(t, map[string]any{"key": "data.status", "wanted": "paid", "found": "new", "missing": false}, last["filter"])
	require.Equal(t, "not_subscribed", page["items"].([]any)[1].(map[string]any)["outcome"])

	var walked []string
	for query := "?limit=1"; query != ""; {
		page := r.Do(t, "GET", path+query, nil).OK(200)
		for _, e := range page["items"].([]any) {
			walked = append(walked, e.(map[string]any)["eventId"].(string))
		}
		query = ""
		if next, ok := page["nextCursor"].(string); ok {
			query = "?limit=1&cursor=" + next
		}
	}
	require.Equal(t, ids, walked)
	require.Len(t, r.Do(t, "GET", path+"?outcome=not_subscribed", nil).OK(200)["items"], 1)
	got := r.as("webhooks:read", "catalog:read").Do(t, "GET", path, nil).OK(200)["items"].([]any)
	require.Len(t, got, 1, "what the token may not read is left out")
	require.Equal(t, map[string]string{"cursor": "FORMAT"}, r.Do(t, "GET", path+"?cursor=x", nil).Fields())
}
