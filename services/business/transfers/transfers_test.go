package transfers_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	st "github.com/tradegrid/tradegrid/services/business/stockdoc/stockdoctest"
	"github.com/tradegrid/tradegrid/services/business/transfers"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type object = map[string]any

type kit struct{ *st.Kit }

func open(t testing.TB, edit ...func(*access.Principal)) *kit {
	t.Helper()
	d, n := dbtest.Open(t), st.NewShop()
	stock := warehouse.New(warehouse.Config{DB: d, Products: n, Users: n, Branches: st.Branches{}})
	s := transfers.New(transfers.Config{DB: d, Sources: st.Sources(n, stock)})
	return &kit{st.Open(t, d, stock, "/warehouse/transfers", []func(*httpapi.API){s.Register}, edit...)}
}

// body is the body of a transfer of 3 nails from the depot to the annex.
func (s *kit) body(pairs ...any) object {
	return st.With(object{"toWarehouseId": s.Annex, "items": st.Items(object{"productId": st.Nail, "qty": 3})}, pairs...)
}

func (s *kit) line(t object, i int) object { return t["lines"].([]any)[i].(object) }

func TestLifeOfATransfer(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.Adjust(s.Depot, st.Nail, 10)
	s.Adjust(s.Depot, st.Shirt, 4, "variantId", st.Large)
	made := s.Create(s.body("note", " tour ", "items", st.Items(
		object{"productId": st.Nail, "qty": 3.5, "note": "box"}, object{"productId": st.Shirt, "variantId": st.Large, "qty": 2}, object{"productId": st.Nail, "qty": 1},
	)))
	draft := made.OK(201)
	id := draft["id"]
	require.True(t, strings.HasSuffix(made.Header.Get("Location"), "/warehouse/transfers/"+id.(string)))
	for field, want := range map[string]any{
		"number": 1.0, "status": "draft", "warehouseId": s.Depot.String(), "warehouseName": "Depot", "toWarehouseId": s.Annex.String(), "toWarehouseName": "Annex",
		"note": "tour", "totalQty": 6.5, "receivedQty": nil, "linesCount": 3.0, "sentAt": nil, "receivedAt": nil, "cancelledAt": nil,
		"createdById": s.Principal.Actor.String(), "version": 1.0,
	} {
		require.Contains(t, draft, field)
		require.Equal(t, want, draft[field], field)
	}
	for field, want := range map[string]any{
		"productId": st.Shirt.String(), "productName": "Shirt", "variantId": st.Large.String(), "variantSku": "T-1-L", "unit": "pcs", "qty": 2.0, "receivedQty": nil, "sortOrder": 1.0,
	} {
		require.Equal(t, want, s.line(draft, 1)[field], field)
	}
	require.Equal(t, draft, s.Get(id))
	require.Equal(t, []object{draft}, s.Events("warehouse.transfer.created"))
	require.Equal(t, "10", s.Qty(s.Depot, st.Nail), "a draft moves nothing")

	sent := s.Command(id, "send", nil).OK(200)
	require.Equal(t, []any{"sent", 2.0}, []any{sent["status"], sent["version"]})
	require.NotNil(t, sent["sentAt"])
	require.Equal(t, []string{"5.5", "2", "0"}, []string{s.Qty(s.Depot, st.Nail), s.Qty(s.Depot, st.Shirt, st.Large), s.Qty(s.Annex, st.Nail)}, "the goods are on the way")
	onTheWay := s.Do(t, "GET", s.Path+"?status=sent", nil).OK(200)["items"].([]any)
	require.Len(t, onTheWay, 1)
	require.Equal(t, 6.5, onTheWay[0].(object)["totalQty"])

	received := s.Command(id, "receive", object{"items": st.Items(object{"lineId": s.line(sent, 0)["id"], "qty": 3}, object{"lineId": s.line(sent, 1)["id"], "qty": 2.5})}).OK(200)
	require.Equal(t, []any{"received", 6.5, 6.5}, []any{received["status"], received["totalQty"], received["receivedQty"]})
	require.Equal(t, []any{3.0, 2.5, 1.0}, []any{s.line(received, 0)["receivedQty"], s.line(received, 1)["receivedQty"], s.line(received, 2)["receivedQty"]})
	require.Equal(t, []string{"5.5", "4", "2.5"}, []string{s.Qty(s.Depot, st.Nail), s.Qty(s.Annex, st.Nail), s.Qty(s.Annex, st.Shirt, st.Large)})
	require.Equal(t, received, s.Get(id))
	require.Equal(t, []object{sent}, s.Events("warehouse.transfer.sent"))
	require.Equal(t, []object{received}, s.Events("warehouse.transfer.received"))
	moved := s.Events("stock.movement.created")[2:]
	require.Len(t, moved, 4)
	for i, m := range moved {
		require.Equal(t, []any{[]string{"transfer_out", "transfer_out", "transfer_in", "transfer_in"}[i], "stock_transfer", id, 1.0}, []any{m["type"], m["documentType"], m["documentId"], m["documentNumber"]})
	}
	fault := s.Command(id, "cancel", nil).Fault(409, "TRANSFER_STATUS_TRANSITION_INVALID")
	require.Equal(t, object{"from": "received", "to": "cancelled", "allowed": []any{}}, fault["meta"])
	s.Consistent()
}

func TestCancelledTransfers(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.Adjust(s.Depot, st.Nail, 10)
	draft := s.Create(s.body()).OK(201)
	require.Equal(t, "cancelled", s.Command(draft["id"], "cancel", nil).OK(200)["status"])
	s.Command(draft["id"], "send", nil).Fault(409, "TRANSFER_STATUS_TRANSITION_INVALID")
	s.Command(draft["id"], "receive", nil).Fault(409, "TRANSFER_STATUS_TRANSITION_INVALID")

	id := s.Create(s.body()).OK(201)["id"]
	s.Command(id, "receive", nil).Fault(409, "TRANSFER_STATUS_TRANSITION_INVALID")
	s.Command(id, "send", nil).OK(200)
	s.Command(id, "send", nil).Fault(409, "TRANSFER_STATUS_TRANSITION_INVALID")
	s.Command(id, "cancel", nil, apitest.Header{"If-Match", `"1"`}).Fault(412, "PRECONDITION_FAILED")
	back := s.Command(id, "cancel", nil, apitest.Header{"If-Match", `"2"`}).OK(200)
	require.NotNil(t, back["cancelledAt"])
	require.Equal(t, []string{"10", "0"}, []string{s.Qty(s.Depot, st.Nail), s.Qty(s.Annex, st.Nail)})
	require.Equal(t, "transfer_cancel", s.Events("stock.movement.created")[2]["type"])
	require.Len(t, s.Events("warehouse.transfer.cancelled"), 2)
	s.Consistent()
}

// A draft can change as a whole, what was sent only by what identifies it.
func TestChangesOfTransfers(t *testing.T) {
	t.Parallel()
	s := open(t)
	draft := s.Create(s.body()).OK(201)
	id := draft["id"]
	require.Equal(t, draft, s.Change(id, s.body()).OK(200), "the same is no change")
	third := s.AddDepot("Third")
	changed := s.Change(id, s.body("warehouseId", third, "items", st.Items(object{"productId": st.Wood, "qty": 2}), "note", "n")).OK(200)
	require.Equal(t, []any{"Third", 2.0, 2.0, "n", "Wood"}, []any{changed["warehouseName"], changed["totalQty"], changed["version"], changed["note"], s.line(changed, 0)["productName"]})
	require.ElementsMatch(t, []any{"warehouseId", "warehouseName", "totalQty", "note", "lines"}, s.Events("warehouse.transfer.updated")[0]["changedFields"])
	s.Command(id, "send", nil).OK(200)
	require.Equal(t, "m", s.Change(id, object{"note": "m", "externalId": "T-1", "items": st.Items(object{"productId": st.Wood, "qty": 2})}).OK(200)["note"])
	for _, body := range []object{{"warehouseId": s.Depot}, {"toWarehouseId": s.Depot}, {"items": st.Items(object{"productId": st.Wood, "qty": 3})}} {
		require.Equal(t, object{"status": "sent"}, s.Change(id, body).Fault(409, "TRANSFER_NOT_DRAFT")["meta"])
	}
	require.Equal(t, "-2", s.Qty(third, st.Wood))
}

// Lines name products as scanners do, and what is told twice is refused as such.
func TestNamedLines(t *testing.T) {
	t.Parallel()
	s := open(t)
	made := s.Create(s.body("items", st.Items(object{"sku": "N-1", "qty": 2}), "source", "wms", "externalId", "1")).OK(201)
	require.Equal(t, st.Nail.String(), s.line(made, 0)["productId"])
	require.Equal(t, made, s.Change(made["id"], object{"items": st.Items(object{"sku": "N-1", "qty": 2})}).OK(200))
	require.Equal(t, object{"field": "items[0].sku", "id": "none"}, s.Create(s.body("items", st.Items(object{"sku": "none", "qty": 1}))).Fault(404, "PRODUCT_NOT_FOUND")["meta"])
	require.Equal(t, map[string]string{"items[0].productId": "REQUIRED", "items[1].barcode": "CONFLICT"},
		s.Create(s.body("items", st.Items(object{"qty": 1}, object{"sku": "N-1", "barcode": "1", "qty": 1}))).Fields())
	taken := s.Create(s.body("items", st.Items(object{"productId": uuid.NewString(), "qty": 2}), "source", "wms", "externalId", "1")).Fault(409, "TRANSFER_EXTERNAL_ID_TAKEN")
	require.Equal(t, made["id"], taken["meta"].(object)["id"])
}

func TestBadTransfers(t *testing.T) {
	t.Parallel()
	s := open(t, func(p *access.Principal) { p.Settings.StockPolicy = access.StockBlock })
	missing := uuid.NewString()
	for code, pairs := range map[string][]any{
		"WAREHOUSE_NOT_FOUND warehouseId":              {"warehouseId", missing},
		"WAREHOUSE_NOT_FOUND toWarehouseId":            {"toWarehouseId", missing},
		"PRODUCT_NOT_FOUND items[0].productId":         {"items", st.Items(object{"productId": missing, "qty": 1})},
		"PRODUCT_VARIANT_NOT_FOUND items[0].variantId": {"items", st.Items(object{"productId": st.Shirt, "variantId": missing, "qty": 1})},
	} {
		code, field, _ := strings.Cut(code, " ")
		require.Equal(t, object{"field": field, "id": missing}, s.Create(s.body(pairs...)).Fault(404, code)["meta"])
	}
	s.Create(s.body("items", st.Items(object{"productId": st.Shirt, "qty": 1}))).Fault(409, "PRODUCT_VARIANT_REQUIRED")
	fault := s.Create(s.body("items", st.Items(object{"productId": st.Advice, "qty": 1}))).Fault(409, "STOCK_ACCOUNTING_DISABLED")
	require.Equal(t, object{"field": "items[0].productId", "productId": st.Advice.String()}, fault["meta"])
	require.Equal(t, map[string]string{"toWarehouseId": "CONFLICT"}, s.Create(s.body("toWarehouseId", s.Depot)).Fields())
	require.Equal(t, map[string]string{"toWarehouseId": "REQUIRED", "items": "REQUIRED"}, s.Create(object{}).Fields())
	require.Contains(t, s.Create(s.body("items", st.Items(object{"productId": st.Nail, "qty": 0}))).Fields(), "items[0].qty")

	s.Adjust(s.Depot, st.Nail, 2)
	sent := s.Create(s.body()).OK(201)
	require.Equal(t, 1.0, sent["number"], "what is not stored takes no number")
	s.Command(sent["id"], "send", nil).Fault(409, "STOCK_INSUFFICIENT")
	require.Equal(t, "draft", s.Get(sent["id"])["status"])
	s.Adjust(s.Depot, st.Nail, 1)
	s.Command(sent["id"], "send", nil).OK(200)
	line := s.line(sent, 0)["id"]
	s.Command(sent["id"], "receive", object{"items": st.Items(object{"lineId": missing, "qty": 1})}).Fault(404, "TRANSFER_LINE_NOT_FOUND")
	require.Equal(t, map[string]string{"items[1].lineId": "CONFLICT"},
		s.Command(sent["id"], "receive", object{"items": st.Items(object{"lineId": line, "qty": 1}, object{"lineId": line, "qty": 1})}).Fields())
	require.Contains(t, s.Command(sent["id"], "receive", object{"items": st.Items(object{"lineId": line, "qty": -1})}).Fields(), "items[0].qty")
	s.Command(uuid.NewString(), "send", nil).Fault(404, "TRANSFER_NOT_FOUND")
}

// A transfer whose warehouses are gone can still end: nothing arrived.
func TestWarehousesOfTransfersCanGo(t *testing.T) {
	t.Parallel()
	s := open(t)
	third := s.AddDepot("Third")
	ids := []any{s.Create(s.body("warehouseId", third)).OK(201)["id"], s.Create(s.body("warehouseId", third)).OK(201)["id"]}
	s.Adjust(third, st.Nail, 3)
	s.Command(ids[0], "send", nil).OK(200)
	for _, gone := range []uuid.UUID{third, s.Annex} {
		s.Do(t, "DELETE", "/warehouse/warehouses/"+gone.String(), nil).OK(204)
	}
	s.Command(ids[1], "send", nil).Fault(409, "WAREHOUSE_DELETED")
	s.Command(ids[1], "cancel", nil).OK(200)
	s.Command(ids[0], "cancel", nil).Fault(409, "WAREHOUSE_DELETED")
	s.Command(ids[0], "receive", nil).Fault(409, "WAREHOUSE_DELETED")
	line := s.line(s.Get(ids[0]), 0)["id"]
	require.Equal(t, 0.0, s.Command(ids[0], "receive", object{"items": st.Items(object{"lineId": line, "qty": 0})}).OK(200)["receivedQty"])
	s.Consistent()
}

func TestLists(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.Create(s.body("note", "Weekend", "source", "erp", "externalId", "T-1")).OK(201)
	s.Lists([]string{
		"sort=createdAt", "sort=number&order=desc", "sort=totalQty", "status=draft,sent", "number=1", "search=weekEND", "search=1", "source=erp&externalId=T-1",
		"warehouseId=" + s.Depot.String(), "toWarehouseId=" + s.Annex.String(),
	}, []string{"status=received", "number=2", "search=monday", "warehouseId=" + s.Annex.String(), "toWarehouseId=" + s.Depot.String()})
}
