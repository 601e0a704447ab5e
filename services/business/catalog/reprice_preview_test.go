package catalog_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A preview tells the prices that the job then stores, and stores none; it fails as the job would.
func TestPreviewOfNewPrices(t *testing.T) {
	t.Parallel()
	k := repricing(t)
	k.fill(120)
	before := k.prices()
	body := `{"filter":{},"rule":{"type":"percent","value":7.5,"roundTo":5}}`
	preview := k.Do(t, "POST", bulkPrice+"/preview", body).OK(200)
	require.EqualValues(t, 120, preview["count"])
	items, _ := preview["items"].([]any)
	require.Len(t, items, 100)
	require.Equal(t, before, k.prices())

	k.work(k.db, 30*time.Second)
	k.ended(k.Do(t, "POST", bulkPrice, body))
	stored := k.prices()
	for _, item := range items {
		p := item.(map[string]any)
		sku := p["sku"].(string)
		require.EqualValues(t, before[sku].price, p["oldPrice"], sku)
		require.EqualValues(t, stored[sku].price, p["newPrice"], sku)
		require.NotEmpty(t, p["name"])
	}

	id := k.product(`{"sku":"A","name":"Bell","price":1000}`)
	of := fmt.Sprintf(`{"filter":{"ids":["%s","%s"]},"rule":{"type":"amount","value":-%%d}}`, id, uuid.New())
	preview = k.Do(t, "POST", bulkPrice+"/preview", fmt.Sprintf(of, 400)).OK(200)
	require.EqualValues(t, 1, preview["count"])
	require.Equal(t, []any{map[string]any{"id": id, "sku": "A", "name": "Bell", "oldPrice": 1000.0, "newPrice": 600.0}}, preview["items"])
	require.Contains(t, string(k.Do(t, "POST", bulkPrice+"/preview", fmt.Sprintf(of, 1001)).Body), "rule.value")
	k.Do(t, "POST", bulkPrice+"/preview", `{"filter":{"categoryId":"`+uuid.NewString()+`"},"rule":{"type":"set","value":1}}`).Fault(404, "CATEGORY_NOT_FOUND")
	empty := k.Do(t, "POST", bulkPrice+"/preview", `{"filter":{"brand":"none"},"rule":{"type":"set","value":1}}`).OK(200)
	require.Equal(t, map[string]any{"count": 0.0, "items": []any{}}, empty)
}
