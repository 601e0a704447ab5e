package catalog_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

func TestBatchOfProducts(t *testing.T) {
	t.Parallel()
	c := setup(t)
	first := create(t, c, object{"name": "First", "price": 1, "sku": "A-1"}).OK(201)
	key := uuid.NewString()
	body := object{"items": []object{
		{"op": "upsert", "sku": "a-1", "body": object{"price": 2}},
		{"op": "upsert", "sku": "A-2", "body": object{"name": "Second", "price": 3}},
		{"op": "create", "body": object{"name": "Third", "price": 4}},
		{"op": "create", "body": object{"name": "Fourth", "price": 4, "sku": "A-2"}},
		{"op": "update", "id": first["id"], "body": object{"name": "1st"}},
		{"op": "update", "id": uuid.NewString(), "body": object{"name": "x"}},
		{"op": "create", "body": object{"name": "Fifth", "price": 4, "costComponents": []object{{"label": "x"}}}},
	}}
	got := c.Do(t, "POST", "/catalog/products/batch", body, apitest.Header{"X-Idempotency-Key", key}).OK(200)["results"].([]any)
	var status []any
	for _, r := range got {
		status = append(status, r.(object)["status"])
	}
	require.Equal(t, "[200 201 201 409 200 404 400]", fmt.Sprint(status))
	taken := got[3].(object)
	require.Equal(t, "SKU_TAKEN", taken["code"])
	require.Equal(t, got[1].(object)["id"], taken["meta"].(object)["id"])
	require.Equal(t, "body.costComponents[0].amount", got[6].(object)["errors"].([]any)[0].(object)["field"])
	one := c.Do(t, "GET", "/catalog/products/"+first["id"].(string), nil).OK(200)
	require.Equal(t, "1st A-1", fmt.Sprint(one["name"], " ", one["sku"]), "an upsert leaves the case of a stored SKU")
	require.ElementsMatch(t, []string{"product.created", "product.updated", "product.created", "product.created", "product.updated"}, events(t, c).Names())

	again := c.Do(t, "POST", "/catalog/products/batch", body, apitest.Header{"X-Idempotency-Key", key}).OK(200)["results"]
	require.Equal(t, got, again)
	require.Len(t, events(t, c), 5, "a replay changes nothing")
}

func TestUpsertsOfOneSKURace(t *testing.T) {
	t.Parallel()
	c := setup(t)
	status := make([]any, racers)
	together(racers, func(i int) {
		body := object{"items": []object{{"op": "upsert", "sku": []string{"One", "ONE"}[i%2], "body": object{"name": "n", "price": i}}}}
		status[i] = c.Do(t, "POST", "/catalog/products/batch", body).OK(200)["results"].([]any)[0].(object)["status"]
	})
	made := 0
	for _, s := range status {
		if fmt.Sprint(s) == "201" {
			made++
		} else {
			require.Equal(t, "200", fmt.Sprint(s))
		}
	}
	require.Equal(t, 1, made)
	require.EqualValues(t, 1, c.Do(t, "GET", "/catalog/products", nil).OK(200)["total"])
}

func results(t *testing.T, c *apitest.Client, path string, items ...object) (all []object) {
	t.Helper()
	for _, r := range c.Do(t, "POST", path, object{"items": items}).OK(200)["results"].([]any) {
		all = append(all, r.(object))
	}
	return all
}

func statusOf(results []object) string {
	var all []any
	for _, r := range results {
		all = append(all, r["status"])
	}
	return fmt.Sprint(all)
}

func TestBatchOfVariants(t *testing.T) {
	t.Parallel()
	c := setup(t)
	s := newShirt(t, c)
	other := create(t, c, object{"name": "Mug", "price": 500, "sku": "MUG", "source": "shop", "externalId": "m"}).OK(201)["id"]
	of := func(size int) []object { return []object{{"attributeId": s.size, "optionId": s.sizes[size]}} }
	made := results(t, c, "/catalog/variants/batch",
		object{"op": "create", "body": object{"productId": s.id, "sku": "SH-S", "attributes": of(0)}},
		object{"op": "upsert", "sku": "SH-M", "body": object{"productSku": "sh", "attributes": of(1)}},
		object{"op": "upsert", "source": "shop", "externalId": "1", "body": object{"productSource": "shop", "productExternalId": "m", "name": "Blue"}},
		object{"op": "create", "body": object{"productId": s.id, "attributes": of(0)}},
		object{"op": "create", "body": object{"attributes": of(2)}},
		object{"op": "create", "body": object{"productSku": "none"}},
		object{"op": "create", "body": object{"productId": s.id, "productSku": "SH"}},
		object{"op": "upsert", "sku": "SH-M", "body": object{"price": 700}},
		object{"op": "update", "sku": "sh-s", "body": object{"productId": other, "price": 1}},
		object{"op": "delete", "source": "shop", "externalId": "1"},
	)
	require.Equal(t, "[201 201 201 409 400 404 400 200 400 200]", statusOf(made))
	require.Equal(t, []any{"PRODUCT_VARIANT_EXISTS", "productSku"}, []any{made[3]["code"], made[5]["meta"].(object)["field"]})
	require.Equal(t, "body.productId", made[4]["errors"].([]any)[0].(object)["field"])
	require.Equal(t, "body.productId", made[8]["errors"].([]any)[0].(object)["field"])
	var got []string
	for _, v := range listVariants(t, c, s.id, "") {
		got = append(got, fmt.Sprint(v["sku"], v["effectivePrice"]))
	}
	require.Equal(t, []string{"SH-S1000", "SH-M700"}, got)
	require.Equal(t, "hidden", listVariants(t, c, other, "")[0]["status"])
	require.EqualValues(t, 2, s.read(t, "")["variantsCount"])
	require.EqualValues(t, 4, s.read(t, "")["version"], "each change counts, as if it had been made alone")
}

// A sync that sends a deleted product again is told that it is still hidden, and how to show it.
func TestUpsertOfAHiddenProductSaysSo(t *testing.T) {
	t.Parallel()
	c := setup(t)
	const path = "/catalog/products/by-external-id/shop/7"
	body := object{"name": "Bell", "price": 900, "sku": "BELL"}
	made := c.Do(t, "PUT", path, body)
	id := made.OK(201)["id"].(string)
	require.Empty(t, made.Header.Get("X-Record-Hidden"))
	c.Do(t, "DELETE", "/catalog/products/"+id, nil).OK(200)

	again := c.Do(t, "PUT", path, body)
	require.Equal(t, "hidden", again.OK(200)["status"])
	require.Equal(t, "true", again.Header.Get("X-Record-Hidden"))
	hidden := func(item object) any {
		return c.Do(t, "POST", "/catalog/products/batch", object{"items": []object{item}}).OK(200)["results"].([]any)[0].(object)["hidden"]
	}
	require.Equal(t, true, hidden(object{"op": "upsert", "sku": "BELL", "body": body}))
	require.Equal(t, true, hidden(object{"op": "upsert", "source": "shop", "externalId": "7", "body": body}))
	body["status"] = "active"
	require.Nil(t, hidden(object{"op": "upsert", "sku": "BELL", "body": body}))
	shown := c.Do(t, "PUT", path, body)
	require.Equal(t, "active", shown.OK(200)["status"])
	require.Empty(t, shown.Header.Get("X-Record-Hidden"))
}
