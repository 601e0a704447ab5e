package receipts_test

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

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
