package warehouse_test

import (
	"context"
	"net/url"
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/servicecatalog"
	"github.com/tradegrid/tradegrid/services/business/suppliers"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// shop is a company with its default branch and warehouse, and the catalog to sell from.
type shop struct {
	*apitest.Client

	t       testing.TB
	d       *db.DB
	server  *apitest.Server
	company *company.Service
	s       *warehouse.Service
	goods   *catalog.Service
	main    string // default warehouse
}

func open(t testing.TB, edit ...func(*access.Principal)) *shop {
	t.Helper()
	return openOn(t, dbtest.Open(t), edit...)
}

func openOn(t testing.TB, d *db.DB, edit ...func(*access.Principal)) *shop {
	t.Helper()
	s := &shop{t: t, d: d}
	goods := catalog.New(catalog.Config{DB: d, Stock: warehouse.Totals, Suppliers: suppliers.Known, Services: servicecatalog.InCategories{}})
	s.goods = goods
	s.company = company.New(company.Config{DB: d, Warehouses: warehouse.Defaults{}, Access: apitest.Registry()})
	s.s = warehouse.New(warehouse.Config{DB: d, Products: goods, ProductOf: catalog.ProductOf, FilterCategory: catalog.FilterCategory, Users: s.company, Branches: s.company})
	s.server = apitest.New(t, d, s.s.Register, goods.Register).ServeAdmin(goods.RegisterAdmin)
	var made company.Company
	s.tx(func(ctx context.Context, tx *db.Tx) (err error) {
		made, err = s.company.Create(ctx, tx, company.NewCompany{Name: "Shop", BranchName: "Centre"})
		return err
	})
	s.Client = s.server.Caller(made.ID, edit...)
	s.main = s.list("/warehouse/warehouses")[0]["id"].(string)
	return s
}

func (s *shop) tx(change func(ctx context.Context, tx *db.Tx) error) {
	s.t.Helper()
	require.NoError(s.t, s.d.RunTx(s.t.Context(), "test", change))
}

func (s *shop) caller() access.Caller { return access.Caller{Principal: s.Principal} }

func (s *shop) branch(name string) (id string) {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *db.Tx) error {
		b, err := s.company.CreateBranch(ctx, tx, s.caller(), company.BranchFields{Name: name})
		id = b.ID.String()
		return err
	})
	return id
}

func (s *shop) close(branch string) {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *db.Tx) error {
		_, err := s.company.SetBranchActive(ctx, tx, s.caller(), uuid.MustParse(branch), false)
		return err
	})
}

func (s *shop) user(name string) (id string) {
	s.t.Helper()
	s.tx(func(ctx context.Context, tx *db.Tx) error {
		u, err := s.company.InviteUser(ctx, tx, s.caller(), company.Invitation{Email: name + "@example.com", Name: name})
		id = u.ID.String()
		return err
	})
	return id
}

// depot creates a warehouse in a branch of its own.
func (s *shop) depot(name string) string {
	s.t.Helper()
	return s.Do(s.t, "POST", "/warehouse/warehouses", map[string]any{"name": name, "branchId": s.branch(name)}).OK(201)["id"].(string)
}

// product creates a product with stock, changed by pairs of field and value.
func (s *shop) product(name string, pairs ...any) string {
	s.t.Helper()
	body := map[string]any{"name": name, "price": 100, "hasStock": true}
	for i := 0; i < len(pairs); i += 2 {
		body[pairs[i].(string)] = pairs[i+1]
	}
	return s.Do(s.t, "POST", "/catalog/products", body).OK(201)["id"].(string)
}

func (s *shop) category(name string, parent any) string {
	s.t.Helper()
	return s.Do(s.t, "POST", "/catalog/categories", map[string]any{"name": name, "parentId": parent}).OK(201)["id"].(string)
}

// adjust sends an adjustment of a product in the default warehouse, changed by pairs of field and value.
func (s *shop) adjust(product string, target any, pairs ...any) *apitest.Response {
	s.t.Helper()
	body := map[string]any{"productId": product, "warehouseId": s.main, "targetQty": target, "reason": "count"}
	for i := 0; i < len(pairs); i += 2 {
		body[pairs[i].(string)] = pairs[i+1]
	}
	return s.Do(s.t, "POST", "/warehouse/stocks/adjust", body)
}

// list returns the items of a list with pairs of query parameters.
func (s *shop) list(path string, pairs ...string) (all []map[string]any) {
	s.t.Helper()
	page := s.page(path, pairs...)
	for _, item := range page["items"].([]any) {
		all = append(all, item.(map[string]any))
	}
	return all
}

func (s *shop) page(path string, pairs ...string) map[string]any {
	s.t.Helper()
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return s.Do(s.t, "GET", path+"?"+v.Encode(), nil).OK(200)
}

func column(all []map[string]any, field string) []any {
	values := make([]any, len(all))
	for i, item := range all {
		values[i] = item[field]
	}
	return values
}

// events are the data of the company's events with a name.
func events(t testing.TB, d *db.DB, id tenant.ID, name string) (all []map[string]any) {
	t.Helper()
	for _, e := range apitest.RaisedBy(t, d, id).Of(name) {
		all = append(all, e.Data)
	}
	return all
}

func (s *shop) events(name string) []map[string]any {
	s.t.Helper()
	return events(s.t, s.d, s.Principal.Company, name)
}

func units(n int64) money.Qty { return money.Units(n) }

// elsewhere is the same company at another process: its transactions do not wait for each other in memory.
func (s *shop) elsewhere() *shop {
	s.t.Helper()
	d, err := db.Open(s.t.Context(), db.Config{URL: dbtest.URL(s.t), MaxConns: 4})
	require.NoError(s.t, err)
	s.t.Cleanup(d.Close)
	other := *s
	other.d = d
	goods := catalog.New(catalog.Config{DB: d, Stock: warehouse.Totals, Suppliers: suppliers.Known, Services: servicecatalog.InCategories{}})
	other.company = company.New(company.Config{DB: d, Warehouses: warehouse.Defaults{}, Access: apitest.Registry()})
	other.s = warehouse.New(warehouse.Config{DB: d, Products: goods, FilterCategory: catalog.FilterCategory, Users: other.company, Branches: other.company})
	other.server = apitest.New(s.t, d, other.s.Register, goods.Register)
	other.Client = other.server.Caller(s.Principal.Company, func(p *access.Principal) { p.Settings = s.Principal.Settings })
	return &other
}
