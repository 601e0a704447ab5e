package purchases_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/purchases"
	"github.com/tradegrid/tradegrid/services/business/receipts"
	st "github.com/tradegrid/tradegrid/services/business/stockdoc/stockdoctest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type object = map[string]any

type kit struct{ *st.Kit }

// fromMill are the default suppliers: nails and shirts come from the mill, wood from nobody.
func fromMill(_ context.Context, _ db.Querier, _ tenant.ID, products []uuid.UUID) (map[uuid.UUID]uuid.UUID, error) {
	found := map[uuid.UUID]uuid.UUID{}
	for _, id := range products {
		if id != st.Wood {
			found[id] = st.Mill
		}
	}
	return found, nil
}

func open(t testing.TB) *kit {
	t.Helper()
	d, n := dbtest.Open(t), st.NewShop()
	stock := warehouse.New(warehouse.Config{DB: d, Products: n, Users: n, Branches: st.Branches{}})
	s := purchases.New(purchases.Config{DB: d, Sources: st.Sources(n, stock), Levels: stock, DefaultSuppliers: fromMill})
	r := receipts.New(receipts.Config{DB: d, Sources: st.Sources(n, stock), PurchaseOrders: s})
	return &kit{st.Open(t, d, stock, "/warehouse/purchase-orders", []func(*httpapi.API){s.Register, r.Register})}
}

// body is the body of an order of 10 nails and 2 shirts, changed by pairs of field and value.
func body(pairs ...any) object {
	return st.With(object{"supplierId": st.Mill, "items": st.Items(object{"productId": st.Nail, "qty": 10}, object{"productId": st.Shirt, "variantId": st.Large, "qty": 2, "unitCost": 250})}, pairs...)
}

func (s *kit) receive(order any, lines ...object) *apitest.Response {
	return s.Do(s.T, "POST", "/warehouse/receipts", object{"warehouseId": s.Depot, "purchaseOrderId": order, "items": st.Items(lines...)})
}

func nails(qty float64) object { return object{"productId": st.Nail, "qty": qty} }

func shirts(qty float64) object {
	return object{"productId": st.Shirt, "variantId": st.Large, "qty": qty}
}

// state is the status of an order and what was received of its lines.
func (s *kit) state(id any) []any {
	o := s.Get(id)
	state := []any{o["status"], o["receivedQty"]}
	for _, l := range o["lines"].([]any) {
		state = append(state, l.(object)["receivedQty"])
	}
	return state
}

func TestLifeOfAPurchaseOrder(t *testing.T) {
	t.Parallel()
	s := open(t)
	o := s.Create(body("note", "season", "expectedAt", "2030-03-04T08:00:00Z")).OK(201)
	id := o["id"]
	for field, want := range map[string]any{
		"number": 1.0, "status": "draft", "supplierId": st.Mill.String(), "supplierName": "North Mill", "warehouseName": "Depot", "note": "season", "expectedAt": "2030-03-04T08:00:00.000Z",
		"totalQty": 12.0, "totalAmount": 570.0, "receivedQty": 0.0, "linesCount": 2.0, "sentAt": nil, "closedAt": nil, "cancelledAt": nil,
	} {
		require.Contains(t, o, field)
		require.Equal(t, want, o[field], field)
	}
	require.Equal(t, o, s.Get(id))
	require.Equal(t, object{"field": "purchaseOrderId", "status": "draft"}, s.receive(id, nails(1)).Fault(409, "PURCHASE_ORDER_NOT_SENT")["meta"])
	require.Equal(t, o, s.Change(id, body()).OK(200), "the same is no change")
	require.NotNil(t, s.Command(id, "send", nil).OK(200)["sentAt"])
	s.Change(id, object{"items": st.Items(nails(9))}).Fault(409, "PURCHASE_ORDER_NOT_DRAFT")
	require.Equal(t, "later", s.Change(id, body("note", "later")).OK(200)["note"])

	first := s.receive(id, nails(4), object{"productId": st.Wood, "qty": 1}).OK(201)
	require.Equal(t, []any{id, 1.0}, []any{first["purchaseOrderId"], first["purchaseOrderNumber"]})
	require.Equal(t, []any{"partly_received", 4.0, 4.0, 0.0}, s.state(id), "goods that were not ordered do not count")
	s.Command(id, "cancel", nil).Fault(409, "PURCHASE_ORDER_STATUS_TRANSITION_INVALID")
	second := s.receive(id, nails(6), shirts(3)).OK(201)
	require.Equal(t, []any{"received", 13.0, 10.0, 3.0}, s.state(id), "more may arrive")
	s.Do(t, "POST", "/warehouse/receipts/"+second["id"].(string)+"/cancel", nil).OK(200)
	require.Equal(t, []any{"partly_received", 4.0, 4.0, 0.0}, s.state(id))
	require.Equal(t, []string{"4", "0"}, []string{s.Qty(s.Depot, st.Nail), s.Qty(s.Depot, st.Shirt, st.Large)})
	require.NotNil(t, s.Command(id, "close", nil).OK(200)["closedAt"])
	require.Equal(t, []any{"received", 4.0, 4.0, 0.0}, s.state(id))
	s.Do(t, "POST", "/warehouse/receipts/"+first["id"].(string)+"/cancel", nil).OK(200)
	require.Equal(t, []any{"sent", 0.0, 0.0, 0.0}, s.state(id))
	require.Nil(t, s.Get(id)["closedAt"])
	s.Command(id, "cancel", nil).OK(200)
	s.receive(id, nails(1)).Fault(409, "PURCHASE_ORDER_NOT_SENT")
	require.Len(t, s.Do(t, "GET", "/warehouse/receipts?purchaseOrderId="+id.(string), nil).OK(200)["items"], 2)
	require.Equal(t, []int{4, 1, 1}, []int{len(s.Events("warehouse.purchase_order.received")), len(s.Events("warehouse.purchase_order.closed")), len(s.Events("warehouse.purchase_order.cancelled"))})
	s.Consistent()
}

// Lines of the same goods are filled one after the other.
func TestLinesOfTheSameGoods(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := s.Create(body("items", st.Items(nails(3), shirts(1), nails(2)))).OK(201)["id"]
	s.Command(id, "send", nil).OK(200)
	r := s.receive(id, nails(4)).OK(201)
	require.Equal(t, []any{"partly_received", 4.0, 3.0, 0.0, 1.0}, s.state(id))
	s.receive(id, nails(2.5), shirts(1)).OK(201)
	require.Equal(t, []any{"received", 7.5, 3.0, 1.0, 3.5}, s.state(id))
	s.Do(t, "POST", "/warehouse/receipts/"+r["id"].(string)+"/cancel", nil).OK(200)
	require.Equal(t, []any{"partly_received", 3.5, 2.5, 1.0, 0.0}, s.state(id))
}

// Receipts of one order at once are all counted.
func TestParallelReceipts(t *testing.T) {
	t.Parallel()
	s := open(t)
	id := s.Create(body()).OK(201)["id"]
	s.Command(id, "send", nil).OK(200)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { s.receive(id, nails(1)).OK(201) })
	}
	wg.Wait()
	require.Equal(t, []any{"partly_received", 8.0, 8.0, 0.0}, s.state(id))
}

// Other systems have ids of their own for what they order.
func TestForeignPurchaseOrders(t *testing.T) {
	t.Parallel()
	s, other := open(t), open(t)
	theirs := other.Create(body()).OK(201)["id"]
	for _, id := range []any{uuid.NewString(), theirs} {
		r := s.receive(id, nails(1)).OK(201)
		require.Equal(t, []any{id, nil}, []any{r["purchaseOrderId"], r["purchaseOrderNumber"]})
		s.Do(t, "POST", "/warehouse/receipts/"+r["id"].(string)+"/cancel", nil).OK(200)
	}
}

func TestReorder(t *testing.T) {
	t.Parallel()
	s := open(t)
	reorder := func(body object) object { return s.Do(t, "POST", s.Path+"/reorder", body).OK(200) }
	s.Adjust(s.Depot, st.Nail, 4, "reorderPoint", 10)
	s.Adjust(s.Depot, st.Shirt, 6, "variantId", st.Large, "reorderPoint", 5)
	s.Adjust(s.Depot, st.Wood, 1, "reorderPoint", 2)
	s.Adjust(s.Annex, st.Nail, 1, "reorderPoint", 3)
	r := reorder(object{})
	require.Equal(t, []any{[]any{st.Wood.String()}, false}, []any{r["withoutSupplier"], r["more"]})
	require.Len(t, r["orders"], 1)
	first := r["orders"].([]any)[0].(object)
	require.Equal(t, []any{"draft", "North Mill", "Depot", 16.0, 112.0}, []any{first["status"], first["supplierName"], first["warehouseName"], first["totalQty"], first["totalAmount"]})
	require.Empty(t, reorder(object{"supplierId": st.Mill})["orders"], "what is expected is not ordered again")
	require.Len(t, reorder(object{"warehouseId": s.Annex})["orders"], 1)
	s.Command(first["id"], "send", nil).OK(200)
	s.receive(first["id"], nails(10)).OK(201)
	s.Adjust(s.Depot, st.Nail, -12)
	require.Equal(t, 12.0, reorder(object{})["orders"].([]any)[0].(object)["totalQty"], "2 are there, 6 are expected, 10 is the point")
	require.Empty(t, reorder(object{"supplierId": uuid.NewString()})["orders"])
}

func TestBadPurchaseOrders(t *testing.T) {
	t.Parallel()
	s := open(t)
	missing := uuid.NewString()
	s.Create(body("supplierId", missing)).Fault(404, "SUPPLIER_NOT_FOUND")
	s.Create(body("warehouseId", missing)).Fault(404, "WAREHOUSE_NOT_FOUND")
	s.Create(body("items", st.Items(object{"productId": missing, "qty": 1}))).Fault(404, "PRODUCT_NOT_FOUND")
	require.Equal(t, map[string]string{"supplierId": "REQUIRED", "items": "REQUIRED"}, s.Create(object{}).Fields())
	require.Equal(t, 1.0, s.Create(body("items", st.Items(object{"productId": st.Advice, "qty": 1}))).OK(201)["number"])
	s.Command(missing, "send", nil).Fault(404, "PURCHASE_ORDER_NOT_FOUND")
}

func TestLists(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.Create(body("note", "Season", "source", "erp")).OK(201)
	s.Lists([]string{
		"sort=createdAt", "sort=number&order=desc", "sort=totalQty", "sort=totalAmount", "status=draft", "number=1", "search=SEASON", "search=mill", "source=erp",
		"warehouseId=" + s.Depot.String(), "supplierId=" + st.Mill.String(),
	}, []string{"status=sent,received", "number=2", "search=year", "warehouseId=" + s.Annex.String(), "supplierId=" + uuid.NewString()})
}

// Two nodes that are asked at once draft the goods once: the second one waits, and finds them expected.
func TestReorderAtTwoNodes(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.Adjust(s.Depot, st.Nail, 4, "reorderPoint", 10)
	read, both := make(chan struct{}, 2), make(chan struct{})
	// Each node that has read what is there waits for the other one to do the same, but not for long: it may have to wait.
	suppliers := func(ctx context.Context, q db.Querier, company tenant.ID, products []uuid.UUID) (map[uuid.UUID]uuid.UUID, error) {
		select {
		case read <- struct{}{}:
		default:
		}
		if len(read) == cap(read) {
			close(both)
		}
		select {
		case <-both:
		case <-time.After(300 * time.Millisecond):
		}
		return fromMill(ctx, q, company, products)
	}
	drafts := make(chan int, 2)
	for range 2 {
		d, err := db.Open(t.Context(), db.Config{URL: s.DB.Pool().Config().ConnString(), MaxConns: 2})
		require.NoError(t, err)
		t.Cleanup(d.Close)
		n := st.NewShop()
		stock := warehouse.New(warehouse.Config{DB: d, Products: n, Users: n, Branches: st.Branches{}})
		node := purchases.New(purchases.Config{DB: d, Sources: st.Sources(n, stock), Levels: stock, DefaultSuppliers: suppliers})
		go func() {
			var made purchases.Reordered
			err := d.RunTx(t.Context(), "test.reorder", func(ctx context.Context, tx *db.Tx) (err error) {
				made, err = node.Reorder(ctx, tx, access.Caller{Principal: s.Principal}, purchases.ReorderInput{})
				return err
			}, db.ReadCommitted())
			if err != nil {
				t.Error(err)
			}
			drafts <- len(made.Orders)
		}()
	}
	require.Equal(t, 1, <-drafts+<-drafts)
}
