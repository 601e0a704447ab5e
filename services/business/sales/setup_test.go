package sales_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/sales"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/trade/tradetest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// shop is the catalog and the company of a test; clients and stock are in the database, because they are part of the
// transactions.
type shop struct {
	*tradetest.Shop
	branch  uuid.UUID
	ben     uuid.UUID // active user
	blocked uuid.UUID // user who is not
}

func (n *shop) ActiveUsers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	active, err := n.Shop.ActiveUsers(ctx, q, company, ids)
	if _, ok := active[n.blocked]; ok {
		active[n.blocked] = false
	}
	return active, err
}

func (n *shop) KnownBranches(_ context.Context, _ db.Querier, _ tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	return slices.DeleteFunc(slices.Clone(ids), func(id uuid.UUID) bool { return id != n.branch }), nil
}

// kit is a fresh company with something to sell.
type kit struct {
	*apitest.Client
	t       testing.TB
	d       *db.DB
	server  *apitest.Server
	n       *shop
	clients *clients.Service
	store   *warehouse.Service
	s       *sales.Service
	depot   uuid.UUID // default warehouse
	north   uuid.UUID // warehouse of n.branch

	wood  uuid.UUID // product with stock, price 999, minimum 2, option gift
	kit   uuid.UUID // bundle of 2.5 wood and 1 nail, price 5000
	nail  uuid.UUID // product with stock, price 10
	shirt uuid.UUID // product with stock and variants
	large uuid.UUID // variant of shirt, price 1500
	old   uuid.UUID // hidden product without stock, price 100
	fix   uuid.UUID // service, price 3000
	gift  uuid.UUID // option of wood, surcharge 150
}

func open(t testing.TB, edit ...func(*access.Principal)) *kit {
	t.Helper()
	return openOn(t, dbtest.Open(t), edit...)
}

func openOn(t testing.TB, d *db.DB, edit ...func(*access.Principal)) *kit {
	t.Helper()
	id := func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	f := &kit{t: t, d: d, wood: id(), kit: id(), nail: id(), shirt: id(), large: id(), old: id(), fix: id(), gift: id()}
	f.n = &shop{Shop: tradetest.NewShop(), branch: id(), ben: id(), blocked: id()}
	f.n.Users[f.n.ben], f.n.Users[f.n.blocked] = "Ben", "Bob"
	two := money.Units(2)
	f.sell(f.wood, uuid.Nil, trade.Item{SKU: "W-1", Name: "Wood", Unit: "m", Price: 999, HasStock: true, MinOrderQty: &two, Options: map[uuid.UUID]trade.Modifier{f.gift: {Name: "Gift wrap", Surcharge: 150}}})
	f.sell(f.nail, uuid.Nil, trade.Item{SKU: "N-1", Name: "Nail", Unit: "pcs", Price: 10, HasStock: true})
	f.sell(f.kit, uuid.Nil, trade.Item{SKU: "K-1", Name: "Kit", Unit: "pcs", Price: 5000, Components: []trade.Component{{Product: f.wood, Qty: 2500}, {Product: f.nail, Qty: money.Units(1)}}})
	f.sell(f.shirt, uuid.Nil, trade.Item{SKU: "S-1", Name: "Shirt", Unit: "pcs", Price: 1200, HasStock: true, HasVariants: true})
	f.sell(f.shirt, f.large, trade.Item{SKU: "S-1-L", Name: "Shirt L", Unit: "pcs", Price: 1500, HasStock: true, HasVariants: true})
	f.sell(f.old, uuid.Nil, trade.Item{SKU: "O-1", Name: "Old", Unit: "pcs", Price: 100, Hidden: true})
	f.n.Items[trade.ItemRef{Kind: "service", ID: f.fix}] = trade.Item{SKU: "F-1", Name: "Repair", Unit: "h", Price: 3000}
	f.clients = clients.New(clients.Config{DB: d, Users: f.n})
	f.store = warehouse.New(warehouse.Config{DB: d, Products: f.n, Users: f.n})
	f.s = sales.New(sales.Config{
		DB: d, Numbers: numbering.New(numbering.Config{DB: d}), Catalog: f.n, Clients: f.clients, Stock: f.store, Users: f.n, Branches: f.n, PriceLists: f.n, Taxes: f.n.TaxRates,
	})
	f.server = apitest.New(t, d, func(api *httpapi.API) {
		f.s.Register(api)
		f.clients.Register(api)
	})
	f.Client = f.server.Company(edit...)
	f.addWarehouses()
	return f
}

func (f *kit) sell(id, variant uuid.UUID, item trade.Item) {
	f.n.Items[tradetest.Product(id, variant)] = item
}

const sqlInsertWarehouse = `INSERT INTO warehouses (company_id, id, name, is_default, branch_id, search_text, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, '', 1, 1, now(), now())`

func (f *kit) addWarehouses() {
	f.t.Helper()
	f.depot, f.north = uuid.New(), uuid.New()
	for _, w := range []struct {
		id, branch uuid.UUID
		name       string
	}{{f.depot, uuid.New(), "Depot"}, {f.north, f.n.branch, "North"}} {
		_, err := f.d.Exec(context.Background(), sqlInsertWarehouse, f.Principal.Company, w.id, w.name, w.id == f.depot, w.branch)
		require.NoError(f.t, err)
	}
}

func (f *kit) caller() access.Caller { return access.Caller{Principal: f.Principal} }

// shift opens a shift and returns its id.
func (f *kit) shift(body ...any) string {
	f.t.Helper()
	return f.Do(f.t, "POST", "/shifts/open", object(append([]any{"openingCash", 1000}, body...))).OK(201)["id"].(string)
}

// object is a JSON object of pairs of field and value.
func object(pairs []any) map[string]any {
	b := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		b[pairs[i].(string)] = pairs[i+1]
	}
	return b
}

// custom is a line that is not in the catalog.
func custom(price int64, qty ...float64) map[string]any {
	l := map[string]any{"kind": "custom", "name": "Thing", "unitPrice": price}
	if len(qty) > 0 {
		l["qty"] = qty[0]
	}
	return l
}

// body is the body of a sale of one thing for 1000, changed by pairs of field and value.
func body(shift string, pairs ...any) map[string]any {
	return object(append([]any{"shiftId", shift, "items", []any{custom(1000)}, "paymentMethod", "cash"}, pairs...))
}

func (f *kit) post(shift string, pairs ...any) *apitest.Response {
	f.t.Helper()
	return f.Do(f.t, "POST", "/sales", body(shift, pairs...))
}

func (f *kit) sale(shift string, pairs ...any) map[string]any {
	f.t.Helper()
	return f.post(shift, pairs...).OK(201)
}

func (f *kit) refund(sale any, pairs ...any) *apitest.Response {
	f.t.Helper()
	var body any
	if len(pairs) > 0 {
		body = object(pairs)
	}
	return f.Do(f.t, "POST", "/sales/"+sale.(string)+"/refund", body)
}

// client creates a client with points.
func (f *kit) client(points int64) string {
	f.t.Helper()
	id := f.Do(f.t, "POST", "/clients", map[string]any{"kind": "individual", "displayName": "Ann Lee", "phone": "+49 151 234"}).OK(201)["id"].(string)
	require.NoError(f.t, f.d.RunTx(context.Background(), "test", func(_ context.Context, tx *db.Tx) error {
		f.clients.AddPoints(tx, f.Principal.Company, uuid.MustParse(id), points, trade.PointsEarned, nil)
		return nil
	}))
	return id
}

func (f *kit) points(client string) int64 {
	f.t.Helper()
	return int64(f.Do(f.t, "GET", "/clients/"+client, nil).OK(200)["points"].(float64))
}

func (f *kit) readShift(id string) map[string]any {
	f.t.Helper()
	return f.Do(f.t, "GET", "/shifts/"+id, nil).OK(200)
}

func (f *kit) receive(warehouseID, product uuid.UUID, qty int64) {
	f.t.Helper()
	require.NoError(f.t, f.d.RunTx(context.Background(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := f.store.SetStock(ctx, tx, f.caller(), warehouse.Adjustment{ProductID: product, WarehouseID: warehouseID, TargetQty: &qty, Reason: "count"})
		return err
	}))
}

const sqlSelectStock = `SELECT qty FROM stocks WHERE company_id = $1 AND warehouse_id = $2 AND product_id = $3 AND variant_id = $4`

// stock is what a warehouse holds of a product, as a decimal.
func (f *kit) stock(warehouseID, product, variant uuid.UUID) string {
	f.t.Helper()
	var qty money.Qty
	err := f.d.QueryRow(context.Background(), sqlSelectStock, f.Principal.Company, warehouseID, product, variant).Scan(&qty)
	if !db.IsNoRows(err) {
		require.NoError(f.t, err)
	}
	return qty.String()
}

func (f *kit) events() apitest.Raised {
	f.t.Helper()
	return apitest.RaisedBy(f.t, f.d, f.Principal.Company)
}

const sqlCounts = `SELECT (SELECT count(*) FROM sales WHERE company_id = $1), (SELECT COALESCE(max(n), 0) FROM counters WHERE company_id = $1 AND kind = 'sale')`

// noGaps checks that as many numbers were taken as there are sales and refunds.
func (f *kit) noGaps() {
	f.t.Helper()
	var stored, last int64
	require.NoError(f.t, f.d.QueryRow(context.Background(), sqlCounts, f.Principal.Company).Scan(&stored, &last))
	require.Equal(f.t, stored, last, "the numbers have gaps")
}

func text(v any) string { return fmt.Sprint(v) }
