package orders_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A batch assigns orders and moves them, each by the rules of a single move; one that cannot be moved leaves the others alone, and is
// not assigned either.
func TestManyOrdersAreMovedAndAssigned(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	place := func() string {
		return s.Do(t, "POST", "/orders", `{"items":[{"kind":"custom","name":"Bell","unitPrice":900}]}`).OK(201)["id"].(string)
	}
	fresh, other, over := place(), place(), place()
	s.Do(t, "POST", "/orders/"+over+"/status/cancelled", `{}`).OK(200)
	got := s.Do(t, "POST", "/orders/changes/batch", fmt.Sprintf(`{"items":[
		{"body":{"orderId":%q,"status":"confirmed","assignedToId":%q}},
		{"body":{"orderId":%q,"status":"cancelled","reason":"out of stock"}},
		{"body":{"orderId":%q,"status":"ready","assignedToId":%q}},
		{"body":{"orderId":%q,"status":"ready"}},
		{"body":{"orderId":%q}},
		{"body":{"orderId":%q,"status":"lost"}}]}`, fresh, s.bob, other, over, s.bob, uuid.NewString(), fresh, fresh)).OK(200)
	var statuses []any
	for _, r := range got["results"].([]any) {
		statuses = append(statuses, r.(map[string]any)["status"])
	}
	require.Equal(t, []any{200.0, 200.0, 409.0, 404.0, 400.0, 400.0}, statuses)
	read := func(id string) []any {
		o := s.Do(t, "GET", "/orders/"+id, nil).OK(200)
		return []any{o["status"], o["assignedToId"], o["cancelReason"]}
	}
	require.Equal(t, []any{"confirmed", s.bob.String(), nil}, read(fresh))
	require.Equal(t, []any{"cancelled", nil, "out of stock"}, read(other))
	require.Equal(t, []any{"cancelled", nil, nil}, read(over))

	s.Do(t, "POST", "/orders/changes/batch", fmt.Sprintf(`{"items":[{"body":{"orderId":%q,"assignedToId":"null"}}]}`, fresh)).OK(http.StatusOK)
	require.Equal(t, []any{"confirmed", nil, nil}, read(fresh))
}
