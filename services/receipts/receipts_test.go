package receipts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apitest"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
	"github.com/tradegrid/tradegrid/services/receipts"
	"github.com/tradegrid/tradegrid/services/suppliers"
	"github.com/tradegrid/tradegrid/services/warehouse"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// neighbours are the catalog and the users as a test sets them up.
type neighbours struct {
	mu    sync.Mutex
	items map[trade.ItemRef]trade.Item
	users map[uuid.UUID]string
}

func (n *neighbours) OrderItems(_ context.Context, _ db.Querier, _ tenant.ID, refs []trade.ItemRef) (map[trade.ItemRef]trade.Item, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := map[trade.ItemRef]trade.Item{}
	for _, r := range refs {
		item, ok := n.items[r]
		if !ok && r.Variant != uuid.Nil {
			item, ok = n.items[trade.ItemRef{Kind: r.Kind, ID: r.ID}]
			item.UnknownVariant = true
		}
		if ok {
			found[r] = item
		}
	}
	return found, nil
}

func (n *neighbours) StockProducts(_ context.Context, _ db.Querier, _ tenant.ID, keys []trade.StockKey) (map[trade.StockKey]trade.StockProduct, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := map[trade.StockKey]trade.StockProduct{}
	for _, k := range keys {
		item, ok := n.items[trade.ItemRef{Kind: trade.KindProduct, ID: k.Product, Variant: k.Variant}]
		if !ok {
			continue
		}
		p := trade.StockProduct{Name: item.Name, SKU: item.SKU, HasStock: item.HasStock, HasVariants: item.HasVariants}
		if k.Variant != uuid.Nil {
			p.VariantSKU, p.VariantAttributes = new(item.SKU+"-L"), map[string]string{"Size": "L"}
		}
		found[k] = p
	}
	return found, nil
}

func (n *neighbours) UserNames(_ context.Context, _ db.Querier, _ tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := maps.Clone(n.users)
	maps.DeleteFunc(found, func(id uuid.UUID, _ string) bool { return !slices.Contains(ids, id) })
	return found, nil
}

// kit is a company with a warehouse, a supplier and something to receive.
type kit struct {
	*apitest.Client

	t      testing.TB
	d      *db.DB
	n      *neighbours
	server *apitest.Server
	stock  *warehouse.Service
	depot  uuid.UUID

	nail, wood   uuid.UUID // products with stock; costs 7 and 120
	set          uuid.UUID // bundle of 2.5 wood and 4 nails, without stock of its own
	advice       uuid.UUID // product without stock
	shirt, large uuid.UUID // product with variants, and a variant; cost 300
	old          uuid.UUID // hidden product with stock
	mill         string    // supplier
}

func open(t testing.TB, edit ...func(*access.Principal)) *kit {
	t.Helper()
	return openOn(t, dbtest.Open(t), edit...)
}

func openOn(t testing.TB, d *db.DB, edit ...func(*access.Principal)) *kit {
	t.Helper()
	id := func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	n := &neighbours{items: map[trade.ItemRef]trade.Item{}, users: map[uuid.UUID]string{}}
	s := &kit{t: t, d: d, n: n, nail: id(), wood: id(), set: id(), advice: id(), shirt: id(), large: id(), old: id()}
	s.stock = warehouse.New(warehouse.Config{DB: d, Products: n})
	ref := func(id uuid.UUID) trade.ItemRef { return trade.ItemRef{Kind: trade.KindProduct, ID: id} }
	n.items[ref(s.nail)] = trade.Item{Name: "Nail", SKU: "N-1", Unit: "pcs", Cost: 7, HasStock: true}
	n.items[ref(s.wood)] = trade.Item{Name: "Wood", SKU: "W-1", Unit: "m", Cost: 120, HasStock: true}
	n.items[ref(s.set)] = trade.Item{Name: "Set", SKU: "S-1", Unit: "pcs", Cost: 400, Components: []trade.Component{{Product: s.wood, Qty: 2500}, {Product: s.nail, Qty: money.Units(4)}}}
	n.items[ref(s.advice)] = trade.Item{Name: "Advice", SKU: "A-1", Unit: "h", Cost: 10}
	n.items[ref(s.old)] = trade.Item{Name: "Old", SKU: "O-1", Unit: "pcs", Hidden: true, HasStock: true}
	n.items[ref(s.shirt)] = trade.Item{Name: "Shirt", SKU: "T-1", Unit: "pcs", Cost: 200, HasStock: true, HasVariants: true}
	n.items[trade.ItemRef{Kind: trade.KindProduct, ID: s.shirt, Variant: s.large}] = trade.Item{Name: "Shirt", SKU: "T-1", Unit: "pcs", Cost: 300, HasStock: true, HasVariants: true}
	s.server = apitest.New(t, d, s.service(d).Register, suppliers.New(suppliers.Config{DB: d, Products: nothing{}}).Register, s.stock.Register)
	s.Client = s.server.Company(edit...)
	s.depot = s.newDepot("Depot", true)
	s.mill = s.Do(t, "POST", "/warehouse/suppliers", `{"name":"North Mill"}`).OK(201)["id"].(string)
	return s
}

func (s *kit) service(d *db.DB) *receipts.Service {
	return receipts.New(receipts.Config{DB: d, Catalog: s.n, Stock: s.stock, Suppliers: suppliers.Names, Users: s.n.UserNames})
}

type nothing struct{}

func (nothing) ForgetSupplier(context.Context, *db.Tx, access.Caller, uuid.UUID) error { return nil }

const sqlAddDepot = `INSERT INTO warehouses (company_id, id, name, is_default, branch_id, search_text, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, '', 1, 1, now(), now())`

func (s *kit) newDepot(name string, isDefault bool) uuid.UUID {
	s.t.Helper()
	id := uuid.New()
	_, err := dbtest.Open(s.t).Exec(s.t.Context(), sqlAddDepot, s.Principal.Company, id, name, isDefault, uuid.New())
	require.NoError(s.t, err)
	return id
}

type object = map[string]any

// body is the body of a receipt of 3 nails, changed by pairs of field and value.
func (s *kit) body(pairs ...any) object {
	b := object{"warehouseId": s.depot, "items": []any{object{"productId": s.nail, "qty": 3}}}
	for i := 0; i < len(pairs); i += 2 {
		b[pairs[i].(string)] = pairs[i+1]
	}
	return b
}

func (s *kit) post(pairs ...any) *apitest.Response {
	s.t.Helper()
	return s.Do(s.t, "POST", "/warehouse/receipts", s.body(pairs...))
}

func (s *kit) items(lines ...object) []any {
	all := make([]any, len(lines))
	for i, l := range lines {
		all[i] = l
	}
	return all
}

func (s *kit) cancel(id any, headers ...apitest.Header) *apitest.Response {
	s.t.Helper()
	return s.Do(s.t, "POST", "/warehouse/receipts/"+id.(string)+"/cancel", nil, headers...)
}

const (
	sqlSelectQty = `SELECT qty FROM stocks WHERE company_id = $1 AND warehouse_id = $2 AND product_id = $3 AND variant_id = $4`
)

// qty is what the warehouse holds of a product, as a decimal.
func (s *kit) qty(t require.TestingT, product uuid.UUID, variant ...uuid.UUID) string {
	var qty money.Qty
	err := s.d.QueryRow(context.Background(), sqlSelectQty, s.Principal.Company, s.depot, product, append(variant, uuid.Nil)[0]).Scan(&qty)
	if !db.IsNoRows(err) {
		require.NoError(t, err)
	}
	return qty.String()
}

func (s *kit) adjust(product uuid.UUID, target int64) {
	s.t.Helper()
	s.Do(s.t, "POST", "/warehouse/stocks/adjust", object{"productId": product, "warehouseId": s.depot, "targetQty": target, "reason": "count"}).OK(201)
}

// events are the data of the company's events with a name.
func (s *kit) events(name string) (all []object) {
	s.t.Helper()
	for _, e := range apitest.Events(s.t, s.d, s.Principal.Company) {
		if e.Event == name {
			var data object
			require.NoError(s.t, json.Unmarshal(e.Data, &data))
			all = append(all, data)
		}
	}
	return all
}

func TestReceipt(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.n.users[s.Principal.Actor] = "Ann"
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

func TestOneKeyMakesOneReceipt(t *testing.T) {
	t.Parallel()
	s := open(t)
	key := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	first := s.Do(t, "POST", "/warehouse/receipts", s.body(), key).OK(201)
	again := s.Do(t, "POST", "/warehouse/receipts", s.body(), key)
	require.Equal(t, first, again.OK(201))
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	cancel := apitest.Header{"X-Idempotency-Key", uuid.NewString()}
	c := s.cancel(first["id"], cancel).OK(200)
	require.Equal(t, c, s.cancel(first["id"], cancel).OK(200))
	require.Equal(t, "0", s.qty(t, s.nail))
	require.Len(t, s.events("warehouse.receipt.created"), 1)
	require.Len(t, s.events("warehouse.receipt.cancelled"), 1)
}

// elsewhere is the same company at another process.
func (s *kit) elsewhere() *kit {
	s.t.Helper()
	d, err := db.Open(s.t.Context(), db.Config{URL: dbtest.URL(s.t), MaxConns: 4})
	require.NoError(s.t, err)
	s.t.Cleanup(d.Close)
	other := *s
	other.stock = warehouse.New(warehouse.Config{DB: d, Products: s.n})
	other.server = apitest.New(s.t, d, other.service(d).Register, other.stock.Register)
	other.Client = other.server.Caller(s.Principal.Company)
	return &other
}

func TestParallelCancels(t *testing.T) {
	t.Parallel()
	s := open(t)
	there := s.elsewhere()
	r := s.post().OK(201)
	s.post().OK(201)
	codes := make(chan string, 12)
	var wg sync.WaitGroup
	for i := range cap(codes) {
		wg.Go(func() {
			res := []*kit{s, there}[i%2].cancel(r["id"])
			if res.Status == 200 {
				codes <- "ok"
				return
			}
			res.Fault(409, "RECEIPT_ALREADY_CANCELLED")
			codes <- "cancelled already"
		})
	}
	wg.Wait()
	count := map[string]int{}
	for range cap(codes) {
		count[<-codes]++
	}
	require.Equal(t, map[string]int{"ok": 1, "cancelled already": 11}, count)
	require.Equal(t, "3", s.qty(t, s.nail))
	require.Len(t, s.events("warehouse.receipt.cancelled"), 1)
}

// Receipts of the same goods at once get all numbers without a gap, and none is refused.
func TestParallelReceipts(t *testing.T) {
	t.Parallel()
	s := open(t)
	there := s.elsewhere()
	const n = 60
	numbers := make([]float64, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			lines := s.items(object{"productId": s.nail, "qty": 1}, object{"productId": s.wood, "qty": 2}, object{"productId": s.set, "qty": 1})
			if i%2 == 0 {
				slices.Reverse(lines)
			}
			numbers[i] = []*kit{s, there}[i%2].post("items", lines).OK(201)["number"].(float64)
		})
	}
	wg.Wait()
	slices.Sort(numbers)
	for i, number := range numbers {
		require.InDelta(t, i+1, number, 0)
	}
	require.Equal(t, []string{"300", "270"}, []string{s.qty(t, s.nail), s.qty(t, s.wood)})
}

// receiptModel is a receipt as the test posted it.
type receiptModel struct {
	id, status, warehouse, supplier, note string
	date                                  time.Time
	number                                int
	qty, amount                           float64
}

func TestListAgainstTheModel(t *testing.T) {
	t.Parallel()
	s := open(t)
	depots := []uuid.UUID{s.depot, s.newDepot("Annex", false)}
	north, south := s.mill, s.Do(t, "POST", "/warehouse/suppliers", `{"name":"South Dairy"}`).OK(201)["id"].(string)
	names := map[string]string{north: "North Mill", south: "South Dairy", "": ""}
	var all []receiptModel
	day := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range 30 {
		m := receiptModel{
			status: "posted", warehouse: depots[i%2].String(), supplier: []string{north, "", south}[i%3], note: []string{"milk", "", "bread"}[i*7%3],
			date: day.AddDate(0, 0, i*11%7), number: i + 1, qty: float64(i*5%9 + 1),
		}
		m.amount = m.qty * float64(i%4*100)
		pairs := []any{"warehouseId", m.warehouse, "date", m.date.Format(time.RFC3339), "items", s.items(object{"productId": s.nail, "qty": m.qty, "unitCost": i % 4 * 100})}
		if m.supplier != "" {
			pairs = append(pairs, "supplierId", m.supplier)
		}
		if m.note != "" {
			pairs = append(pairs, "note", m.note)
		}
		m.id = s.post(pairs...).OK(201)["id"].(string)
		if i%4 == 3 {
			s.cancel(m.id).OK(200)
			m.status = "cancelled"
		}
		all = append(all, m)
	}
	rapid.Check(t, func(rt *rapid.T) {
		v := url.Values{"pageSize": {fmt.Sprint(rapid.IntRange(1, 20).Draw(rt, "size"))}}
		draw := func(name string, values ...string) string {
			value := rapid.SampledFrom(append(values, "")).Draw(rt, name)
			if value != "" {
				v.Set(name, value)
			}
			return value
		}
		by, order := draw("sort", "createdAt", "date", "number", "totalQty", "totalAmount"), draw("order", "asc", "desc")
		status, depot := draw("status", "posted", "cancelled", "posted,cancelled"), draw("warehouseId", depots[0].String(), depots[1].String())
		supplier, search := draw("supplierId", north, south, uuid.NewString()), draw("search", "MILK", "dairy", "2", "nothing")
		from, to := draw("dateFrom", "2026-03-02", "2026-03-04"), draw("dateTo", "2026-03-04", "2026-03-05T12:00:00Z")
		want := slices.DeleteFunc(slices.Clone(all), func(m receiptModel) bool {
			date := m.date.Format(time.RFC3339)
			text := strings.ToLower(fmt.Sprint(m.number, "\n", names[m.supplier], "\n", m.note))
			return (status != "" && !strings.Contains(status, m.status)) || (depot != "" && m.warehouse != depot) || (supplier != "" && m.supplier != supplier) ||
				!strings.Contains(text, strings.ToLower(search)) || (from != "" && date < from) || (to != "" && date[:len(to)] > to)
		})
		desc := order == "desc" || (order == "" && by == "")
		slices.SortFunc(want, func(a, b receiptModel) int {
			c := 0
			switch by {
			case "date":
				c = a.date.Compare(b.date)
			case "totalQty":
				c = int(a.qty - b.qty)
			case "totalAmount":
				c = int(a.amount - b.amount)
			}
			if c == 0 {
				c = a.number - b.number
			}
			if desc {
				return -c
			}
			return c
		})
		ids, got := []string{}, []string{}
		for _, m := range want {
			ids = append(ids, m.id)
		}
		for page := 1; ; page++ {
			v.Set("page", fmt.Sprint(page))
			p := s.Do(t, "GET", "/warehouse/receipts?"+v.Encode(), nil).OK(200)
			require.EqualValues(rt, len(want), p["total"])
			for _, item := range p["items"].([]any) {
				item := item.(object)
				require.NotContains(rt, item, "lines")
				require.EqualValues(rt, 1, item["linesCount"])
				got = append(got, item["id"].(string))
			}
			if p["nextCursor"] == nil {
				break
			}
		}
		require.Equal(rt, ids, got)
	})
	require.Empty(t, open(t).Do(t, "GET", "/warehouse/receipts", nil).OK(200)["items"])
	for query, field := range map[string]string{"status=new": "status[0]", "sort=note": "sort", "dateFrom=2026-02-02&dateTo=2026-02-01": "dateFrom", "supplierId=": "supplierId"} {
		require.Contains(t, s.Do(t, "GET", "/warehouse/receipts?"+query, nil).Fields(), field, query)
	}
}
