package returns_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/returns"
	st "github.com/tradegrid/tradegrid/services/business/stockdoc/stockdoctest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type object = map[string]any

func open(t testing.TB, edit ...func(*access.Principal)) *st.Kit {
	t.Helper()
	d, n := dbtest.Open(t), st.NewShop()
	stock := warehouse.New(warehouse.Config{DB: d, Products: n, Users: n, Branches: st.Branches{}})
	s := returns.New(returns.Config{DB: d, Sources: st.Sources(n, stock), Receipts: reference.None})
	return st.Open(t, d, stock, "/warehouse/supplier-returns", []func(*httpapi.API){s.Register}, edit...)
}

// body is the body of a return to a supplier of 3 nails, changed by pairs of field and value.
func body(pairs ...any) object {
	return st.With(object{"supplierId": st.Mill, "reason": "wrong size", "items": st.Items(object{"productId": st.Nail, "qty": 3})}, pairs...)
}

func TestLifeOfAReturn(t *testing.T) {
	t.Parallel()
	s := open(t)
	r := s.Create(body("warehouseId", s.Annex, "note", "wet", "items", st.Items(
		object{"productId": st.Nail, "qty": 2.5}, object{"productId": st.Shirt, "variantId": st.Large, "qty": 2, "unitCost": 333, "note": "torn"},
	))).OK(201)
	for field, want := range map[string]any{
		"number": 1.0, "status": "posted", "reason": "wrong size", "supplierId": st.Mill.String(), "supplierName": "North Mill", "receiptId": nil, "warehouseName": "Annex", "note": "wet", "totalQty": 4.5, "totalAmount": 684.0, "linesCount": 2.0, "cancelledAt": nil,
	} {
		require.Contains(t, r, field)
		require.Equal(t, want, r[field], field)
	}
	require.Equal(t, r, s.Get(r["id"]))
	require.Equal(t, []object{r}, s.Events("warehouse.supplier_return.created"))
	require.Equal(t, []string{"-2.5", "-2"}, []string{s.Qty(s.Annex, st.Nail), s.Qty(s.Annex, st.Shirt, st.Large)})
	moved := s.Events("stock.movement.created")
	require.Len(t, moved, 2)
	for _, m := range moved {
		require.Equal(t, []any{"supplier_return", "supplier_return", r["id"], 1.0, "wrong size"}, []any{m["type"], m["documentType"], m["documentId"], m["documentNumber"], m["reason"]})
	}
	c := s.Command(r["id"], "cancel", nil).OK(200)
	require.Equal(t, []any{"cancelled", 2.0}, []any{c["status"], c["version"]})
	require.Equal(t, []object{c}, s.Events("warehouse.supplier_return.cancelled"))
	require.Equal(t, "supplier_return_cancel", s.Events("stock.movement.created")[2]["type"])
	require.Equal(t, []string{"0", "0"}, []string{s.Qty(s.Annex, st.Nail), s.Qty(s.Annex, st.Shirt, st.Large)})
	s.Command(r["id"], "cancel", nil).Fault(409, "SUPPLIER_RETURN_STATUS_TRANSITION_INVALID")
	require.Equal(t, "erp", s.Change(r["id"], object{"source": "erp", "reason": "lost"}).OK(200)["source"])
	require.Equal(t, "wrong size", s.Get(r["id"])["reason"])
	s.Consistent()
}

func TestBadReturns(t *testing.T) {
	t.Parallel()
	s := open(t, func(p *access.Principal) { p.Settings.StockPolicy = access.StockBlock })
	missing := uuid.NewString()
	for code, pairs := range map[string][]any{
		"WAREHOUSE_NOT_FOUND warehouseId":      {"warehouseId", missing},
		"SUPPLIER_NOT_FOUND supplierId":        {"supplierId", missing},
		"RECEIPT_NOT_FOUND receiptId":          {"receiptId", missing},
		"PRODUCT_NOT_FOUND items[0].productId": {"items", st.Items(object{"productId": missing, "qty": 1})},
	} {
		code, field, _ := strings.Cut(code, " ")
		require.Equal(t, object{"field": field, "id": missing}, s.Create(body(pairs...)).Fault(404, code)["meta"])
	}
	s.Create(body("items", st.Items(object{"productId": st.Advice, "qty": 1}))).Fault(409, "STOCK_ACCOUNTING_DISABLED")
	s.Create(body()).Fault(409, "STOCK_INSUFFICIENT")
	require.Equal(t, map[string]string{"supplierId": "REQUIRED", "items": "REQUIRED"}, s.Create(object{}).Fields())
	s.Create(body("items", st.Items(object{"productId": st.Nail, "qty": 2, "unitCost": money.MaxAmount}))).Fault(400, "VALIDATION_ERROR")
	s.Adjust(s.Depot, st.Nail, 3)
	require.Equal(t, 1.0, s.Create(body()).OK(201)["number"], "what is not stored takes no number")
	require.Len(t, s.Do(t, "GET", s.Path+"?status=posted&dateFrom=2020-01-01&supplierId="+st.Mill.String(), nil).OK(200)["items"], 1)
	require.Empty(t, s.Do(t, "GET", s.Path+"?supplierId="+missing, nil).OK(200)["items"])
}

func TestLists(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.Create(body("note", "Flood", "source", "erp")).OK(201)
	s.Lists([]string{
		"sort=createdAt", "sort=number&order=desc", "sort=totalQty", "sort=totalAmount", "status=posted", "number=1", "search=FLOOD", "search=mill", "source=erp",
		"warehouseId=" + s.Depot.String(), "supplierId=" + st.Mill.String(), "dateFrom=2020-01-01",
	}, []string{"status=cancelled", "number=2", "search=fire", "warehouseId=" + s.Annex.String(), "supplierId=" + uuid.NewString(), "dateTo=2020-01-01"})
}
