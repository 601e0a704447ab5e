package servicecatalog_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBatchOfServices(t *testing.T) {
	t.Parallel()
	k := setup(t)
	first := k.create(object{"sku": "A-1"}).OK(201)
	k.post("/catalog/products", object{"name": "p", "price": 1, "sku": "P"})
	got := k.Do(t, "POST", "/catalog/services/batch", object{"items": []object{
		{"op": "upsert", "sku": "a-1", "body": object{"price": 2}},
		{"op": "upsert", "sku": "A-2", "body": object{"name": "Second", "price": 3}},
		{"op": "create", "body": object{"name": "Third", "price": 4}},
		{"op": "create", "body": object{"name": "Fourth", "price": 4, "sku": "A-2"}},
		{"op": "update", "id": first["id"], "body": object{"name": "1st", "costItems": []any{object{"label": "x", "amount": 3}}}},
		{"op": "update", "id": noID, "body": object{"name": "x"}},
		{"op": "upsert", "sku": "p", "body": object{"name": "taken by a product", "price": 1}},
	}}).OK(200)["results"].([]any)
	var status []any
	for _, r := range got {
		status = append(status, r.(object)["status"])
	}
	require.Equal(t, "[200 201 201 409 200 404 409]", fmt.Sprint(status))
	now := k.Do(t, "GET", path(first), nil).OK(200)
	require.Equal(t, []any{"A-1", "1st", 2.0, 3.0}, []any{now["sku"], now["name"], now["price"], now["totalCost"]})
	require.Len(t, k.events(), 5)
}
