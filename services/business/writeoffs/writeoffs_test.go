package writeoffs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	st "github.com/tradegrid/tradegrid/services/business/stockdoc/stockdoctest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/business/writeoffs"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type object = map[string]any

func open(t testing.TB, edit ...func(*access.Principal)) *st.Kit {
	t.Helper()
	d, n := dbtest.Open(t), st.NewShop()
	stock := warehouse.New(warehouse.Config{DB: d, Products: n, Users: n, Branches: st.Branches{}})
	s := writeoffs.New(writeoffs.Config{DB: d, Sources: st.Sources(n, stock)})
	return st.Open(t, d, stock, "/warehouse/write-offs", []func(*httpapi.API){s.Register}, edit...)
}

// body is the body of a write-off of 3 nails, changed by pairs of field and value.
func body(pairs ...any) object {
	return st.With(object{"reason": "damaged", "items": st.Items(object{"productId": st.Nail, "qty": 3})}, pairs...)
}

func TestLifeOfAWriteOff(t *testing.T) {
	t.Parallel()
	s := open(t)
	w := s.Create(body("warehouseId", s.Annex, "note", "wet", "items", st.Items(
		object{"productId": st.Nail, "qty": 2.5}, object{"productId": st.Shirt, "variantId": st.Large, "qty": 2, "unitCost": 333, "note": "torn"},
	))).OK(201)
	for field, want := range map[string]any{
		"number": 1.0, "status": "posted", "reason": "damaged", "warehouseName": "Annex", "note": "wet", "totalQty": 4.5, "totalAmount": 684.0, "linesCount": 2.0, "cancelledAt": nil,
	} {
		require.Contains(t, w, field)
		require.Equal(t, want, w[field], field)
	}
	require.Equal(t, w, s.Get(w["id"]))
	require.Equal(t, []object{w}, s.Events("warehouse.write_off.created"))
	require.Equal(t, []string{"-2.5", "-2"}, []string{s.Qty(s.Annex, st.Nail), s.Qty(s.Annex, st.Shirt, st.Large)})
	moved := s.Events("stock.movement.created")
	require.Len(t, moved, 2)
	for _, m := range moved {
		require.Equal(t, []any{"write_off", "write_off", w["id"], 1.0, "damaged"}, []any{m["type"], m["documentType"], m["documentId"], m["documentNumber"], m["reason"]})
	}
	c := s.Command(w["id"], "cancel", nil).OK(200)
	require.Equal(t, []any{"cancelled", 2.0}, []any{c["status"], c["version"]})
	require.Equal(t, []object{c}, s.Events("warehouse.write_off.cancelled"))
	require.Equal(t, "write_off_cancel", s.Events("stock.movement.created")[2]["type"])
	require.Equal(t, []string{"0", "0"}, []string{s.Qty(s.Annex, st.Nail), s.Qty(s.Annex, st.Shirt, st.Large)})
	s.Command(w["id"], "cancel", nil).Fault(409, "WRITE_OFF_STATUS_TRANSITION_INVALID")
	require.Equal(t, "erp", s.Change(w["id"], object{"source": "erp", "reason": "lost"}).OK(200)["source"])
	require.Equal(t, "damaged", s.Get(w["id"])["reason"])
	s.Consistent()
}

func TestBadWriteOffs(t *testing.T) {
	t.Parallel()
	s := open(t, func(p *access.Principal) { p.Settings.StockPolicy = access.StockBlock })
	missing := uuid.NewString()
	for code, pairs := range map[string][]any{
		"WAREHOUSE_NOT_FOUND warehouseId":      {"warehouseId", missing},
		"PRODUCT_NOT_FOUND items[0].productId": {"items", st.Items(object{"productId": missing, "qty": 1})},
	} {
		code, field, _ := strings.Cut(code, " ")
		require.Equal(t, object{"field": field, "id": missing}, s.Create(body(pairs...)).Fault(404, code)["meta"])
	}
	s.Create(body("items", st.Items(object{"productId": st.Advice, "qty": 1}))).Fault(409, "STOCK_ACCOUNTING_DISABLED")
	s.Create(body()).Fault(409, "STOCK_INSUFFICIENT")
	require.Equal(t, map[string]string{"reason": "REQUIRED", "items": "REQUIRED"}, s.Create(object{}).Fields())
	require.Equal(t, map[string]string{"reason": "ENUM"}, s.Create(body("reason", "boredom")).Fields())
	s.Create(body("items", st.Items(object{"productId": st.Nail, "qty": 2, "unitCost": money.MaxAmount}))).Fault(400, "VALIDATION_ERROR")
	s.Adjust(s.Depot, st.Nail, 3)
	require.Equal(t, 1.0, s.Create(body()).OK(201)["number"], "what is not stored takes no number")
	require.Len(t, s.Do(t, "GET", s.Path+"?reason=damaged,lost&status=posted&dateFrom=2020-01-01", nil).OK(200)["items"], 1)
	require.Empty(t, s.Do(t, "GET", s.Path+"?reason=lost", nil).OK(200)["items"])
}

func TestLists(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.Create(body("note", "Flood", "source", "erp")).OK(201)
	s.Lists([]string{
		"sort=createdAt", "sort=number&order=desc", "sort=totalQty", "sort=totalAmount", "status=posted", "reason=damaged,lost", "number=1", "search=FLOOD", "source=erp",
		"warehouseId=" + s.Depot.String(), "dateFrom=2020-01-01",
	}, []string{"status=cancelled", "reason=sample", "number=2", "search=fire", "warehouseId=" + s.Annex.String(), "dateTo=2020-01-01"})
}
