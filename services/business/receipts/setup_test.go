package receipts_test

import (
	"context"
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/purchases"
	"github.com/tradegrid/tradegrid/services/business/receipts"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/suppliers"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/trade/tradetest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// kit is a company with a warehouse, a supplier and something to receive.
type kit struct {
	*apitest.Client

	t      testing.TB
	d      *db.DB
	n      *tradetest.Shop
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
	n := tradetest.NewShop()
	s := &kit{t: t, d: d, n: n, nail: id(), wood: id(), set: id(), advice: id(), shirt: id(), large: id(), old: id()}
	s.stock = warehouse.New(warehouse.Config{DB: d, Products: n})
	n.Items[tradetest.Product(s.nail)] = trade.Item{Name: "Nail", SKU: "N-1", Unit: "pcs", Cost: 7, HasStock: true}
	n.Items[tradetest.Product(s.wood)] = trade.Item{Name: "Wood", SKU: "W-1", Unit: "m", Cost: 120, HasStock: true}
	n.Items[tradetest.Product(s.set)] = trade.Item{Name: "Set", SKU: "S-1", Unit: "pcs", Cost: 400, Components: []trade.Component{{Product: s.wood, Qty: 2500}, {Product: s.nail, Qty: money.Units(4)}}}
	n.Items[tradetest.Product(s.advice)] = trade.Item{Name: "Advice", SKU: "A-1", Unit: "h", Cost: 10}
	n.Items[tradetest.Product(s.old)] = trade.Item{Name: "Old", SKU: "O-1", Unit: "pcs", Hidden: true, HasStock: true}
	n.Items[tradetest.Product(s.shirt)] = trade.Item{Name: "Shirt", SKU: "T-1", Unit: "pcs", Cost: 200, HasStock: true, HasVariants: true}
	n.Items[tradetest.Product(s.shirt, s.large)] = trade.Item{Name: "Shirt", SKU: "T-1", Unit: "pcs", Cost: 300, HasStock: true, HasVariants: true}
	s.server = apitest.New(t, d, s.service(d).Register, s.purchases(d).Register, suppliers.New(suppliers.Config{DB: d, Products: nothing{}}).Register, s.stock.Register)
	s.Client = s.server.Company(edit...)
	s.depot = s.newDepot("Depot", true)
	s.mill = s.Do(t, "POST", "/warehouse/suppliers", `{"name":"North Mill"}`).OK(201)["id"].(string)
	return s
}

func (s *kit) service(d *db.DB) *receipts.Service {
	return receipts.New(receipts.Config{DB: d, Sources: stockdoc.Sources{Catalog: s.n, Stock: s.stock, Suppliers: suppliers.Names, Users: s.n.UserNames}, PurchaseOrders: s.purchases(d)})
}

func (s *kit) purchases(d *db.DB) *purchases.Service {
	return purchases.New(purchases.Config{DB: d, Sources: stockdoc.Sources{Catalog: s.n, Stock: s.stock, Suppliers: suppliers.Names, Users: s.n.UserNames}})
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
	for _, e := range apitest.RaisedBy(s.t, s.d, s.Principal.Company).Of(name) {
		all = append(all, e.Data)
	}
	return all
}
