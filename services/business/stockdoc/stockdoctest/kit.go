// Package stockdoctest has the company that tests of documents about stock work in.
package stockdoctest

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/stockdoc"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/trade/tradetest"
)

// Object is a body.
type Object = map[string]any

// Products that the tests move; costs 7, 120, 300 and 10.
var (
	Nail   = id() //nolint:gochecknoglobals // a constant
	Wood   = id() //nolint:gochecknoglobals // a constant
	Shirt  = id() //nolint:gochecknoglobals // a constant
	Large  = id() //nolint:gochecknoglobals // a constant
	Advice = id() //nolint:gochecknoglobals // a constant
)

// Mill is the supplier.
var Mill = id() //nolint:gochecknoglobals // a constant

func id() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// NewShop returns the catalog: Shirt has the variant Large, and Advice no stock.
func NewShop() *tradetest.Shop {
	n := tradetest.NewShop()
	n.Items[tradetest.Product(Nail)] = trade.Item{Name: "Nail", SKU: "N-1", Unit: "pcs", Cost: 7, HasStock: true}
	n.Items[tradetest.Product(Wood)] = trade.Item{Name: "Wood", SKU: "W-1", Unit: "m", Cost: 120, HasStock: true}
	n.Items[tradetest.Product(Advice)] = trade.Item{Name: "Advice", SKU: "A-1", Unit: "h", Cost: 10}
	n.Items[tradetest.Product(Shirt)] = trade.Item{Name: "Shirt", SKU: "T-1", Unit: "pcs", Cost: 200, HasStock: true, HasVariants: true}
	n.Items[tradetest.Product(Shirt, Large)] = trade.Item{Name: "Shirt", SKU: "T-1", Unit: "pcs", Cost: 300, HasStock: true, HasVariants: true}
	return n
}

// Sources are what documents of the shop refer to.
func Sources(n *tradetest.Shop, stock stockdoc.Stock) stockdoc.Sources {
	return stockdoc.Sources{Catalog: n, Stock: stock, Suppliers: suppliers, Users: n.UserNames}
}

func suppliers(_ context.Context, _ db.Querier, _ tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	names := map[uuid.UUID]string{}
	for _, id := range ids {
		if id == Mill {
			names[id] = "North Mill"
		}
	}
	return names, nil
}

// Stock is the warehouse as the tests look at it.
type Stock interface {
	stockdoc.Stock
	Register(api *httpapi.API)
	CreateDefault(tx *db.Tx, company tenant.ID, branch uuid.UUID, name string)
	Quantities(ctx context.Context, q db.Querier, company tenant.ID, warehouse uuid.UUID, keys []trade.StockKey) (map[trade.StockKey]money.Qty, error)
}

// Branches are some branches of any company, for the warehouses of the tests.
type Branches struct{}

// OpenBranches returns the branches.
func (Branches) OpenBranches(context.Context, db.Querier, tenant.ID) ([]uuid.UUID, error) {
	return branches[:], nil
}

// ActiveBranches knows none.
func (Branches) ActiveBranches(context.Context, db.Querier, tenant.ID, []uuid.UUID) (map[uuid.UUID]bool, error) {
	return nil, nil
}

// BranchNames knows none.
func (Branches) BranchNames(context.Context, db.Querier, tenant.ID, []uuid.UUID) (map[uuid.UUID]string, error) {
	return nil, nil
}

var branches = [3]uuid.UUID{id(), id(), id()} //nolint:gochecknoglobals // constants

// Kit is a company with two warehouses, whose documents are at Path.
type Kit struct {
	*apitest.Client

	T            testing.TB
	DB           *db.DB
	Server       *apitest.Server
	Stock        Stock
	Path         string
	Depot, Annex uuid.UUID // Depot is the default warehouse
}

// Open makes a company that is served by stock and by what register adds.
func Open(t testing.TB, d *db.DB, stock Stock, path string, register []func(*httpapi.API), edit ...func(*access.Principal)) *Kit {
	t.Helper()
	s := &Kit{T: t, DB: d, Server: apitest.New(t, d, append(register, stock.Register)...), Stock: stock, Path: path}
	s.Client = s.Server.Company(edit...)
	require.NoError(t, d.RunTx(t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		stock.CreateDefault(tx, s.Principal.Company, branches[0], "Depot")
		return nil
	}))
	s.Depot = idOf(s.page("/warehouse/warehouses")[0])
	s.Annex = s.AddDepot("Annex")
	return s
}

func idOf(record Object) uuid.UUID {
	return uuid.MustParse(record["id"].(string)) //nolint:errcheck,forcetypeassert // a test
}

// page are the records of the first page of a list.
func (s *Kit) page(path string) (all []Object) {
	s.T.Helper()
	for _, item := range s.Do(s.T, "GET", path, nil).OK(200)["items"].([]any) { //nolint:errcheck,forcetypeassert // a test
		all = append(all, item.(Object)) //nolint:errcheck,forcetypeassert // a test
	}
	return all
}

// AddDepot adds a warehouse; there is room for one more beside Depot and Annex.
func (s *Kit) AddDepot(name string) uuid.UUID {
	s.T.Helper()
	return idOf(s.Do(s.T, "POST", "/warehouse/warehouses", Object{"name": name}).OK(201))
}

// Items are lines of a body.
func Items(lines ...Object) []any {
	all := make([]any, len(lines))
	for i, l := range lines {
		all[i] = l
	}
	return all
}

// With changes a body by pairs of field and value.
func With(body Object, pairs ...any) Object {
	for i := 0; i < len(pairs); i += 2 {
		body[pairs[i].(string)] = pairs[i+1] //nolint:errcheck,forcetypeassert // a test
	}
	return body
}

// Create creates a document.
func (s *Kit) Create(body Object) *apitest.Response { return s.Do(s.T, "POST", s.Path, body) }

// Get reads a document.
func (s *Kit) Get(id any) Object { return s.Do(s.T, "GET", s.at(id), nil).OK(200) }

// Change changes a document.
func (s *Kit) Change(id any, body Object) *apitest.Response {
	return s.Do(s.T, "PATCH", s.at(id), body)
}

// Command runs a command of a document.
func (s *Kit) Command(id any, name string, body any, headers ...apitest.Header) *apitest.Response {
	return s.Do(s.T, "POST", s.at(id)+"/"+name, body, headers...)
}

func (s *Kit) at(id any) string { return s.Path + "/" + id.(string) } //nolint:errcheck,forcetypeassert // a test

// Adjust changes a quantity in a warehouse by a difference.
func (s *Kit) Adjust(warehouse, product uuid.UUID, delta any, pairs ...any) {
	s.T.Helper()
	s.Do(s.T, "POST", "/warehouse/stocks/adjust", With(Object{"productId": product, "warehouseId": warehouse, "delta": delta, "reason": "count"}, pairs...)).OK(201)
}

// Qty is what a warehouse holds of a product, as a decimal.
func (s *Kit) Qty(warehouse, product uuid.UUID, variant ...uuid.UUID) string {
	s.T.Helper()
	k := trade.StockKey{Product: product, Variant: append(variant, uuid.Nil)[0]}
	qty, err := s.Stock.Quantities(s.T.Context(), s.DB, s.Principal.Company, warehouse, []trade.StockKey{k})
	require.NoError(s.T, err)
	return qty[k].String()
}

// Lists requires that the list has one document, that each of the first queries finds it, and that none of the others does.
func (s *Kit) Lists(finds, others []string) {
	s.T.Helper()
	for n, queries := range [][]string{others, finds} {
		for _, query := range queries {
			require.Len(s.T, s.page(s.Path+"?"+query), n, query)
		}
	}
}

// Events are the data of the company's events with a name.
func (s *Kit) Events(name string) (all []Object) {
	s.T.Helper()
	for _, e := range apitest.RaisedBy(s.T, s.DB, s.Principal.Company).Of(name) {
		all = append(all, e.Data)
	}
	return all
}

// Consistent requires that the quantities of the products are the sums of their movements.
func (s *Kit) Consistent() {
	s.T.Helper()
	sums := map[string]float64{}
	for _, m := range s.page("/warehouse/movements?pageSize=200") {
		variant, _ := m["variantId"].(string)
		sums[fmt.Sprint(m["warehouseId"], m["productId"], variant)] += m["delta"].(float64) //nolint:errcheck,forcetypeassert // a test
	}
	for _, w := range s.page("/warehouse/warehouses") {
		for _, k := range []trade.StockKey{{Product: Nail}, {Product: Wood}, {Product: Shirt, Variant: Large}} {
			variant := ""
			if k.Variant != uuid.Nil {
				variant = k.Variant.String()
			}
			sum := strconv.FormatFloat(sums[fmt.Sprint(w["id"], k.Product, variant)], 'f', -1, 64)
			require.Equal(s.T, sum, s.Qty(idOf(w), k.Product, append([]uuid.UUID{}, k.Variant)...), "the sum of the movements")
		}
	}
}
