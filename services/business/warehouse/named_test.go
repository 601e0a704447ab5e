package warehouse_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAdjustmentsByName(t *testing.T) {
	t.Parallel()
	s := open(t)
	nail := s.product("Nail", "sku", "N-1", "barcode", "4006381333931")
	shirt := s.product("Shirt", "sku", "SH")
	variant := s.Do(t, "POST", "/catalog/products/"+shirt+"/variants", map[string]any{"sku": "SH-L", "barcode": "123"}).OK(201)["id"]
	old := s.product("Old", "sku", "OLD", "barcode", "456")
	s.Do(t, "DELETE", "/catalog/products/"+old, nil).OK(200)
	item := func(fields ...any) map[string]any {
		body := map[string]any{"warehouseId": s.main, "targetQty": 5, "reason": "count"}
		for i := 0; i < len(fields); i += 2 {
			body[fields[i].(string)] = fields[i+1]
		}
		return map[string]any{"op": "create", "body": body}
	}
	got := s.Do(t, "POST", "/warehouse/stocks/adjust/batch", map[string]any{"items": []any{
		item("sku", " n-1 "), item("barcode", "4006381333931", "targetQty", 6), item("sku", "SH-L"), item("barcode", "123", "targetQty", 7), item("sku", "OLD"),
		item("sku", "SH"), item("sku", "none"), item("barcode", "456"), item("sku", "N-1", "barcode", "123"), item("sku", "N-1", "productId", nail),
		item("barcode", "123", "variantId", variant), item(), item("productId", nail, "targetQty", 8),
	}}).OK(200)["results"].([]any)
	var status []string
	for _, r := range got {
		r := r.(map[string]any)
		text := fmt.Sprint(r["status"])
		if code, failed := r["code"]; failed {
			text += fmt.Sprint(" ", code)
		}
		if errs, ok := r["errors"].([]any); ok {
			text += fmt.Sprint(" ", errs[0].(map[string]any)["field"], " ", errs[0].(map[string]any)["code"])
		}
		status = append(status, text)
	}
	require.Equal(t, []string{
		"201", "201", "201", "201", "201", "409 PRODUCT_VARIANT_REQUIRED", "404 PRODUCT_NOT_FOUND", "404 PRODUCT_NOT_FOUND", "400 VALIDATION_ERROR body.barcode CONFLICT",
		"400 VALIDATION_ERROR body.sku CONFLICT", "400 VALIDATION_ERROR body.barcode CONFLICT", "400 VALIDATION_ERROR body.productId REQUIRED", "201",
	}, status)
	require.Equal(t, "sku", got[6].(map[string]any)["meta"].(map[string]any)["field"])
	levels := map[string]string{}
	for _, st := range s.list("/warehouse/stocks") {
		levels[fmt.Sprint(st["productSku"], " ", st["variantSku"])] = fmt.Sprint(st["qty"])
	}
	require.Equal(t, map[string]string{"N-1 <nil>": "8", "SH SH-L": "7", "OLD <nil>": "5"}, levels)
	one := s.Do(t, "POST", "/warehouse/stocks/adjust", map[string]any{"sku": "N-1", "warehouseId": s.main, "targetQty": 9, "reason": "count"}).OK(201)
	require.Equal(t, []any{nail, 9.0}, []any{one["productId"], one["qty"]})
	require.Len(t, s.events("stock.movement.created"), 7)
}
