package orders_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/codes"
	"github.com/tradegrid/tradegrid/services/business/orders"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/trade/tradetest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// neighbours are the other domains as a test sets them up: the shop and clients in memory, the balance of clients in the
// database, because it is part of the transactions, and the warehouse as it is.
type neighbours struct {
	*tradetest.Shop
	clients map[uuid.UUID]trade.Client
	deals   map[uuid.UUID]bool
	store   *warehouse.Service
}

const sqlCreateBalances = `CREATE TABLE IF NOT EXISTS test_balances (
    company_id UUID NOT NULL,
    id         UUID NOT NULL,
    balance    BIGINT NOT NULL,
    CONSTRAINT test_balances_pkey PRIMARY KEY (company_id, id)
)`

const sqlLockBalance = `SELECT balance FROM test_balances WHERE company_id = $1 AND id = $2 FOR UPDATE`

var sqlAddBalance = db.Table("test_balances").Insert(`(company_id, id, balance) VALUES ($1, $2, $3)
ON CONFLICT (company_id, id) DO UPDATE SET balance = test_balances.balance + excluded.balance`)

func (n *neighbours) DocumentClient(ctx context.Context, q db.Querier, company tenant.ID, id uuid.UUID, lock bool) (trade.Client, bool, error) {
	c, ok := n.clients[id]
	if lock && ok {
		err := q.QueryRow(ctx, sqlLockBalance, company, id).Scan(&c.Balance)
		if err != nil && !db.IsNoRows(err) {
			return c, false, err
		}
	}
	return c, ok, nil
}

// MatchClient compares phones and e-mail addresses as they are written.
func (n *neighbours) MatchClient(_ context.Context, _ db.Querier, _ tenant.ID, _ string, phone, email *string) (uuid.UUID, bool, error) {
	for id, c := range n.clients {
		if phone != nil && record.Same(c.Phone, phone) || email != nil && record.Same(c.Email, email) {
			return id, true, nil
		}
	}
	return uuid.Nil, false, nil
}

func (n *neighbours) Enter(tx *db.Tx, company tenant.ID, client uuid.UUID, e trade.LedgerEntry) {
	if e.Delta() != 0 {
		tx.Queue(sqlAddBalance, company, client, e.Delta())
	}
}

func (n *neighbours) KnownDeals(_ context.Context, _ db.Querier, _ tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	return slices.DeleteFunc(slices.Clone(ids), func(id uuid.UUID) bool { return !n.deals[id] }), nil
}

func (n *neighbours) FindWarehouse(ctx context.Context, q db.Querier, company tenant.ID, id *uuid.UUID) (uuid.UUID, bool, error) {
	return n.store.FindWarehouse(ctx, q, company, id)
}

func (n *neighbours) WarehouseNames(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	return n.store.WarehouseNames(ctx, q, company, ids)
}

func (n *neighbours) Reserve(tx *db.Tx, by access.Caller, deltas []trade.StockDelta) {
	n.store.Reserve(tx, by, deltas)
}

func (n *neighbours) Move(ctx context.Context, tx *db.Tx, by access.Caller, doc trade.StockDocument, deltas []trade.StockDelta) error {
	return n.store.Move(ctx, tx, by, doc, deltas)
}

// kit is a fresh company with something to sell.
type kit struct {
	*apitest.Client
	server    *apitest.Server
	t         testing.TB
	d         *db.DB
	n         *neighbours
	s         *orders.Service
	warehouse uuid.UUID // default warehouse

	bolt  uuid.UUID // product with stock, price 250, minimum 2, multiple 2
	wood  uuid.UUID // product with stock, price 999, sold in any quantity
	kit   uuid.UUID // bundle of 2.5 wood and 4 bolts, without stock of its own, price 5000
	shirt uuid.UUID // product with stock and variants
	large uuid.UUID // variant of shirt, price 1500
	old   uuid.UUID // hidden product
	fix   uuid.UUID // service, price 3000
	gift  uuid.UUID // option of wood, surcharge 150
	ann   uuid.UUID // client with terms of 10 days and a credit limit of 10000
	gone  uuid.UUID // archived client
	bea   uuid.UUID // client without terms and limit
	bob   uuid.UUID // user
	deal  uuid.UUID
}

var createOnce sync.Once //nolint:gochecknoglobals // the tests of a process share one database

// open returns a kit on the shared database, or on d with faults when one is given.
func open(t testing.TB, d *db.DB, edit ...func(*access.Principal)) *kit {
	t.Helper()
	plain := dbtest.Open(t)
	createOnce.Do(func() {
		_, err := plain.Exec(context.Background(), sqlCreateBalances)
		require.NoError(t, err)
	})
	if d == nil {
		d = plain
	}
	s := newShop(t, d)
	s.server = apitest.New(t, d, s.s.Register)
	s.Client = s.server.Company(edit...)
	s.addDepot()
	return s
}

// addDepot gives the company its default warehouse.
func (s *kit) addDepot() {
	s.t.Helper()
	require.NoError(s.t, dbtest.Open(s.t).RunTx(context.Background(), "test.warehouse", func(ctx context.Context, tx *db.Tx) (err error) {
		s.n.store.CreateDefault(tx, s.Principal.Company, uuid.New(), "Depot")
		s.warehouse, _, err = s.n.store.FindWarehouse(ctx, tx, s.Principal.Company, nil)
		return err
	}))
	require.NotZero(s.t, s.warehouse)
}

func newShop(t testing.TB, d *db.DB) *kit {
	id := func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	n := &neighbours{Shop: tradetest.NewShop(), clients: map[uuid.UUID]trade.Client{}, deals: map[uuid.UUID]bool{}}
	n.store = warehouse.New(warehouse.Config{DB: d, Products: n})
	s := &kit{t: t, d: d, n: n, bolt: id(), wood: id(), kit: id(), shirt: id(), large: id(), old: id(), fix: id(), gift: id(), ann: id(), gone: id(), bea: id(), bob: id(), deal: id()}
	two := money.Units(2)
	s.sell(s.bolt, trade.Item{SKU: "B-1", Name: "Bolt", Unit: "pcs", Price: 250, HasStock: true, MinOrderQty: &two, OrderStepQty: &two})
	s.sell(s.wood, trade.Item{SKU: "W-1", Name: "Wood", Unit: "m", Price: 999, HasStock: true, Options: map[uuid.UUID]trade.Modifier{s.gift: {Name: "Gift wrap", Surcharge: 150}}})
	s.sell(s.kit, trade.Item{SKU: "K-1", Name: "Kit", Unit: "pcs", Price: 5000, Components: []trade.Component{{Product: s.wood, Qty: 2500}, {Product: s.bolt, Qty: money.Units(4)}}})
	s.sell(s.shirt, trade.Item{SKU: "S-1", Name: "Shirt", Unit: "pcs", Price: 1200, HasStock: true, HasVariants: true})
	s.sell(s.old, trade.Item{SKU: "O-1", Name: "Old", Unit: "pcs", Price: 1, Hidden: true})
	n.Items[tradetest.Product(s.shirt, s.large)] = trade.Item{SKU: "S-1-L", Name: "Shirt L", Unit: "pcs", Price: 1500, HasStock: true, HasVariants: true}
	n.Items[trade.ItemRef{Kind: "service", ID: s.fix}] = trade.Item{SKU: "F-1", Name: "Repair", Unit: "h", Price: 3000}
	days := int32(10)
	phone := "+49 151 2345678"
	n.clients[s.ann] = trade.Client{DisplayName: "Ann Lee", Phone: &phone, PaymentTermsDays: &days, CreditLimit: 10000}
	n.clients[s.gone] = trade.Client{DisplayName: "Gone", Archived: true}
	n.clients[s.bea] = trade.Client{DisplayName: "Bea"}
	n.Users[s.bob], n.deals[s.deal] = "Bob", true
	s.s = orders.New(orders.Config{
		DB: d, Numbers: numbering.New(numbering.Config{DB: d}), Catalog: n, Clients: n, Stock: n, Users: n, PriceLists: n, Taxes: n.TaxRates, Deals: n.KnownDeals,
		Channels: codes.Channel, Methods: codes.DeliveryMethod,
	})
	return s
}

func (s *kit) sell(id uuid.UUID, item trade.Item) {
	s.n.Items[tradetest.Product(id)] = item
}

func (s *kit) caller() access.Caller { return access.Caller{Principal: s.Principal} }

// body is the body of an order of some wood, changed by pairs of field and value.
func (s *kit) body(pairs ...any) map[string]any {
	b := map[string]any{"items": []any{map[string]any{"refId": s.wood, "qty": 3}}}
	for i := 0; i < len(pairs); i += 2 {
		b[pairs[i].(string)] = pairs[i+1]
	}
	return b
}

func (s *kit) create(pairs ...any) map[string]any {
	s.t.Helper()
	return s.Do(s.t, "POST", "/orders", s.body(pairs...)).OK(201)
}

func (s *kit) patch(id any, body any) *apitest.Response {
	s.t.Helper()
	return s.Do(s.t, "PATCH", "/orders/"+id.(string), body)
}

func (s *kit) move(id any, next string) *apitest.Response {
	s.t.Helper()
	return s.Do(s.t, "POST", "/orders/"+id.(string)+"/status/"+next, nil)
}

const sqlSelectStock = `SELECT qty, reserved FROM stocks WHERE company_id = $1 AND warehouse_id = $2 AND product_id = $3 AND variant_id = $4`

// stock is what the warehouse holds of a product: quantity and reserve, as decimals.
func (s *kit) stock(product uuid.UUID) string {
	s.t.Helper()
	var qty, reserved money.Qty
	err := s.d.QueryRow(context.Background(), sqlSelectStock, s.Principal.Company, s.warehouse, product, uuid.Nil).Scan(&qty, &reserved)
	if !db.IsNoRows(err) {
		require.NoError(s.t, err)
	}
	return fmt.Sprintf("%s/%s", qty, reserved)
}

func (s *kit) receive(product uuid.UUID, qty int64) {
	s.t.Helper()
	require.NoError(s.t, s.d.RunTx(context.Background(), "test.receive", func(ctx context.Context, tx *db.Tx) error {
		_, err := s.n.store.SetStock(ctx, tx, s.caller(), warehouse.Adjustment{ProductID: product, WarehouseID: s.warehouse, TargetQty: &qty, Reason: "count"})
		return err
	}))
}

func (s *kit) balance(client uuid.UUID) (balance int64) {
	s.t.Helper()
	err := s.d.QueryRow(context.Background(), sqlLockBalance, s.Principal.Company, client).Scan(&balance)
	if !db.IsNoRows(err) {
		require.NoError(s.t, err)
	}
	return balance
}

const sqlCountOrders = `SELECT (SELECT count(*) FROM orders WHERE company_id = $1), (SELECT COALESCE(max(n), 0) FROM counters WHERE company_id = $1 AND kind = 'order')`

// counts are the stored orders and the last number.
func (s *kit) counts() [2]int64 {
	s.t.Helper()
	var c [2]int64
	require.NoError(s.t, s.d.QueryRow(context.Background(), sqlCountOrders, s.Principal.Company).Scan(&c[0], &c[1]))
	return c
}

// events are the names of what was announced.
func (s *kit) events() []string {
	s.t.Helper()
	return apitest.RaisedBy(s.t, s.d, s.Principal.Company).Names()
}
