package receipts_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

func TestReceipt(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.n.Users[s.Principal.Actor] = "Ann"
	order := uuid.NewString()
	made := s.post("supplierId", s.mill, "purchaseOrderId", order, "date", "2026-02-03T10:00:00+02:00", "note", " first ", "items", s.items(
		object{"productId": s.nail, "qty": 2.5, "note": "rusty"}, object{"productId": s.shirt, "variantId": s.large, "qty": 2, "unitCost": 333}, object{"productId": s.nail, "qty": 1.25, "unitCost": 0},
	))
	r := made.OK(201)
	require.Equal(t, "/api/external/v1/warehouse/receipts/"+r["id"].(string), made.Header.Get("Location"))
	for field, want := range map[string]any{
		"number": 1.0, "status": "posted", "date": "2026-02-03T08:00:00.000Z", "warehouseId": s.depot.String(), "warehouseName": "Depot", "supplierId": s.mill, "supplierName": "North Mill",
		"purchaseOrderId": order, "note": "first", "totalQty": 5.75, "totalAmount": 684.0, "createdById": s.Principal.Actor.String(), "createdByName": "Ann", "cancelledAt": nil, "version": 1.0,
		"companyId": s.Principal.Company.String(),
	} {
		require.Contains(t, r, field)
		require.Equal(t, want, r[field], field)
	}
	lines := r["lines"].([]any)
	for i, want := range []object{
		{"productId": s.nail.String(), "productName": "Nail", "productSku": "N-1", "variantId": nil, "variantSku": nil, "variantAttributes": nil, "unit": "pcs", "qty": 2.5, "unitCost": 7.0, "amount": 18.0, "note": "rusty", "sortOrder": 0.0},
		{"productId": s.shirt.String(), "variantId": s.large.String(), "variantSku": "T-1-L", "variantAttributes": object{"Size": "L"}, "unitCost": 333.0, "amount": 666.0, "note": nil, "sortOrder": 1.0},
		{"productId": s.nail.String(), "qty": 1.25, "unitCost": 0.0, "amount": 0.0, "sortOrder": 2.0},
	} {
		for field, v := range want {
			require.Contains(t, lines[i], field)
			require.Equal(t, v, lines[i].(object)[field], field)
		}
	}
	require.Equal(t, r, s.Do(t, "GET", "/warehouse/receipts/"+r["id"].(string), nil).OK(200))
	require.Equal(t, []string{"3.75", "2"}, []string{s.qty(t, s.nail), s.qty(t, s.shirt, s.large)})

	created := s.events("warehouse.receipt.created")
	require.Equal(t, []object{r}, created)
	moved := s.events("stock.movement.created")
	require.Len(t, moved, 2, "lines of one product are one movement")
	for _, m := range moved {
		require.Equal(t, []any{"receipt", "receipt", r["id"], 1.0, nil}, []any{m["type"], m["documentType"], m["documentId"], m["documentNumber"], m["reason"]})
	}
	require.Equal(t, 2.0, s.post().OK(201)["number"])
	require.Nil(t, s.events("warehouse.receipt.created")[1]["supplierName"])
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s := open(t)
	r := s.post("supplierId", s.mill, "items", s.items(object{"productId": s.nail, "qty": 3}, object{"productId": s.wood, "qty": 1.5})).OK(201)
	s.cancel(r["id"], apitest.Header{"If-Match", `"7"`}).Fault(412, "PRECONDITION_FAILED")
	c := s.cancel(r["id"], apitest.Header{"If-Match", `"1"`}).OK(200)
	require.Equal(t, []any{"cancelled", 2.0}, []any{c["status"], c["version"]})
	require.NotNil(t, c["cancelledAt"])
	require.Equal(t, c, s.Do(t, "GET", "/warehouse/receipts/"+r["id"].(string), nil).OK(200))
	for field, want := range r {
		if !slices.Contains([]string{"status", "version", "updatedAt", "cancelledAt"}, field) {
			require.Equal(t, want, c[field], field)
		}
	}
	require.Equal(t, []string{"0", "0"}, []string{s.qty(t, s.nail), s.qty(t, s.wood)})
	require.Equal(t, []object{c}, s.events("warehouse.receipt.cancelled"))
	moved := s.events("stock.movement.created")
	require.Len(t, moved, 4)
	for _, m := range moved[2:] {
		require.Equal(t, []any{"receipt_cancel", r["id"], 1.0, 0.0}, []any{m["type"], m["documentId"], m["documentNumber"], m["qtyAfter"]})
	}
	s.cancel(r["id"]).Fault(409, "RECEIPT_ALREADY_CANCELLED")
	s.cancel(uuid.NewString()).Fault(404, "RECEIPT_NOT_FOUND")
	require.Len(t, s.events("stock.movement.created"), 4)
	require.Len(t, s.events("warehouse.receipt.cancelled"), 1)
	require.Equal(t, 2.0, s.post().OK(201)["number"], "a cancelled receipt keeps its number")
}

func TestConsumedGoodsKeepTheReceipt(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{access.StockAllowNegative, access.StockBlock} {
		s := open(t, func(p *access.Principal) { p.Settings.StockPolicy = policy })
		r := s.post("items", s.items(object{"productId": s.nail, "qty": 2}, object{"productId": s.wood, "qty": 5}, object{"productId": s.nail, "qty": 3})).OK(201)
		s.adjust(s.nail, 4)
		fault := s.cancel(r["id"]).Fault(409, "RECEIPT_STOCK_CONSUMED")
		require.Equal(t, object{"lines": []any{object{"productId": s.nail.String(), "variantId": nil, "qty": 4.0, "required": 5.0}}}, fault["meta"])
		require.Equal(t, []string{"4", "5"}, []string{s.qty(t, s.nail), s.qty(t, s.wood)}, "a refused cancellation changes nothing")
		require.Equal(t, "posted", s.Do(t, "GET", "/warehouse/receipts/"+r["id"].(string), nil).OK(200)["status"])
		require.Empty(t, s.events("warehouse.receipt.cancelled"))
		s.adjust(s.nail, 5)
		require.NoError(t, s.d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
			s.stock.Reserve(tx, access.Caller{Principal: s.Principal}, []trade.StockDelta{{Warehouse: s.depot, StockKey: trade.StockKey{Product: s.nail}, Reserved: money.Units(2)}})
			return nil
		}))
		s.cancel(r["id"]).OK(200) // the physical quantity alone decides
	}
}

func TestDeletedWarehouse(t *testing.T) {
	t.Parallel()
	s := open(t)
	first := s.depot
	s.depot = s.newDepot("Annex", false)
	r := s.post().OK(201)
	s.adjust(s.nail, 0)
	s.Do(t, "DELETE", "/warehouse/warehouses/"+s.depot.String(), nil).OK(204)
	require.Equal(t, object{"warehouseId": s.depot.String()}, s.cancel(r["id"]).Fault(409, "WAREHOUSE_DELETED")["meta"])
	require.Equal(t, "Annex", s.Do(t, "GET", "/warehouse/receipts/"+r["id"].(string), nil).OK(200)["warehouseName"])
	s.post().Fault(404, "WAREHOUSE_NOT_FOUND")
	s.depot = first
	require.Equal(t, 2.0, s.post().OK(201)["number"])
}

func TestSupplierCanGo(t *testing.T) {
	t.Parallel()
	s := open(t)
	r := s.post("supplierId", s.mill).OK(201)
	s.Do(t, "DELETE", "/warehouse/suppliers/"+s.mill, nil).OK(204)
	require.Equal(t, r, s.Do(t, "GET", "/warehouse/receipts/"+r["id"].(string), nil).OK(200))
	require.Equal(t, "North Mill", s.cancel(r["id"]).OK(200)["supplierName"])
	s.post("supplierId", s.mill).Fault(404, "SUPPLIER_NOT_FOUND")
}

func TestWhatMovesStock(t *testing.T) {
	t.Parallel()
	s := open(t)
	r := s.post("items", s.items(object{"productId": s.set, "qty": 3}, object{"productId": s.advice, "qty": 1}, object{"productId": s.old, "qty": 1}, object{"productId": s.nail, "qty": 1})).OK(201)
	require.Equal(t, []string{"7.5", "13", "0", "1", "0"}, []string{s.qty(t, s.wood), s.qty(t, s.nail), s.qty(t, s.set), s.qty(t, s.old), s.qty(t, s.advice)})
	require.Equal(t, 6.0, r["totalQty"])
	require.Len(t, s.events("stock.movement.created"), 3)
	s.cancel(r["id"]).OK(200)
	require.Equal(t, []string{"0", "0"}, []string{s.qty(t, s.wood), s.qty(t, s.nail)})
	only := s.post("items", s.items(object{"productId": s.advice, "qty": 1})).OK(201)
	s.cancel(only["id"]).OK(200)
	require.Len(t, s.events("stock.movement.created"), 6, "a product without stock moves nothing")
}

func TestBadReceipts(t *testing.T) {
	t.Parallel()
	s := open(t)
	missing := uuid.NewString()
	for code, pairs := range map[string][]any{
		"WAREHOUSE_NOT_FOUND warehouseId":                  {"warehouseId", missing},
		"SUPPLIER_NOT_FOUND supplierId":                    {"supplierId", missing},
		"PRODUCT_NOT_FOUND items[1].productId":             {"items", s.items(object{"productId": s.nail, "qty": 1}, object{"productId": missing, "qty": 1})},
		"PRODUCT_VARIANT_NOT_FOUND items[0].variantId":     {"items", s.items(object{"productId": s.shirt, "variantId": missing, "qty": 1})},
		"PRODUCT_VARIANT_NOT_FOUND items[0].variantId and": {"items", s.items(object{"productId": s.nail, "variantId": missing, "qty": 1})},
	} {
		code, field, _ := strings.Cut(strings.TrimSuffix(code, " and"), " ")
		require.Equal(t, object{"field": field, "id": missing}, s.post(pairs...).Fault(404, code)["meta"])
	}
	fault := s.post("items", s.items(object{"productId": s.shirt, "qty": 1})).Fault(409, "PRODUCT_VARIANT_REQUIRED")
	require.Equal(t, object{"field": "items[0].variantId", "productId": s.shirt.String()}, fault["meta"])
	other := open(t)
	s.post("warehouseId", other.depot).Fault(404, "WAREHOUSE_NOT_FOUND")
	s.post("supplierId", other.mill).Fault(404, "SUPPLIER_NOT_FOUND")
	mine := s.post().OK(201)["id"]
	other.cancel(mine).Fault(404, "RECEIPT_NOT_FOUND")
	other.Do(t, "GET", "/warehouse/receipts/"+mine.(string), nil).Fault(404, "RECEIPT_NOT_FOUND")

	require.Equal(t, map[string]string{"warehouseId": "REQUIRED", "items": "REQUIRED"}, s.Do(t, "POST", "/warehouse/receipts", `{}`).Fields())
	many := make([]any, 501)
	for i := range many {
		many[i] = object{"productId": s.nail, "qty": 1}
	}
	for field, pairs := range map[string][]any{
		"items": {"items", []any{}}, "items ": {"items", many},
		"items[0].qty":        {"items", s.items(object{"productId": s.nail, "qty": 0})},
		"items[0].qty ":       {"items", s.items(object{"productId": s.nail, "qty": -1})},
		"items[0].qty  ":      {"items", s.items(object{"productId": s.nail, "qty": 1.0005})},
		"items[0].qty   ":     {"items", s.items(object{"productId": s.nail, "qty": 1_000_001})},
		"items[0].qty    ":    {"items", s.items(object{"productId": s.nail})},
		"items[0].productId":  {"items", s.items(object{"qty": 1})},
		"items[0].productId ": {"items", s.items(object{"productId": "x", "qty": 1})},
		"items[0].unitCost":   {"items", s.items(object{"productId": s.nail, "qty": 1, "unitCost": -1})},
		"items[0].unitCost ":  {"items", s.items(object{"productId": s.nail, "qty": 1, "unitCost": 1.5})},
		"items[0].note":       {"items", s.items(object{"productId": s.nail, "qty": 1, "note": strings.Repeat("x", 4001)})},
		"supplierId":          {"supplierId", "x"}, "purchaseOrderId": {"purchaseOrderId", "x"}, "date": {"date", "yesterday"}, "note": {"note", 5},
	} {
		require.Contains(t, s.post(pairs...).Fields(), strings.TrimRight(field, " "), field)
	}
	s.post("items", s.items(object{"productId": s.nail, "qty": 1_000_000, "unitCost": money.MaxAmount})).Fault(400, "VALIDATION_ERROR")
	s.post("items", s.items(object{"productId": s.nail, "qty": 1, "unitCost": money.MaxAmount}, object{"productId": s.nail, "qty": 1, "unitCost": 1})).Fault(400, "VALIDATION_ERROR")
	require.Equal(t, 2.0, s.post().OK(201)["number"], "what is not stored takes no number")
	require.Equal(t, "6", s.qty(t, s.nail))
}

func TestDates(t *testing.T) {
	t.Parallel()
	s := open(t)
	now := time.Now()
	require.Equal(t, map[string]string{"date": "MAX"}, s.post("date", now.Add(24*time.Hour+time.Minute).Format(time.RFC3339)).Fields())
	s.post("date", now.Add(24*time.Hour-time.Minute).Format(time.RFC3339)).OK(201)
	s.post("date", "1999-01-01T00:00:00Z").OK(201)
	r := s.post("date", nil).OK(201)
	require.Equal(t, r["createdAt"], r["date"])
}
