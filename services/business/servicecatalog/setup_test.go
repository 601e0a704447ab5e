package servicecatalog_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/servicecatalog"
	"github.com/tradegrid/tradegrid/services/business/suppliers"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type object = map[string]any

const noID = "0190f0a0-0000-7000-8000-000000000000"

func newService(d *db.DB) *servicecatalog.Service {
	return servicecatalog.New(servicecatalog.Config{
		DB: d, FilterCategory: catalog.FilterCategory, CategoryPrefixes: catalog.CategoryPrefixes, Products: catalog.KnownProducts, Units: catalog.KnownUnits,
	})
}

// open returns an API with the whole catalog.
func open(t *testing.T) *apitest.Server {
	t.Helper()
	d := dbtest.Open(t)
	rest := catalog.New(catalog.Config{DB: d, Stock: warehouse.Totals, Suppliers: suppliers.Known, Services: servicecatalog.InCategories{}})
	return apitest.New(t, d, rest.Register, newService(d).Register)
}

// kit is a caller of a fresh company.
type kit struct {
	*apitest.Client
	t *testing.T
}

func setup(t *testing.T) kit {
	t.Helper()
	return kit{open(t).Company(), t}
}

func (k kit) post(path string, body object) object {
	k.t.Helper()
	return k.Do(k.t, "POST", path, body).OK(201)
}

// create creates a service with a name, a price and the given fields.
func (k kit) create(fields object) *apitest.Response {
	k.t.Helper()
	body := object{"name": "Haircut", "price": 3000}
	for name, v := range fields {
		body[name] = v
	}
	return k.Do(k.t, "POST", "/catalog/services", body)
}

func path(service object) string { return "/catalog/services/" + service["id"].(string) }

// events are the events of services in the outbox.
func (k kit) events() (all apitest.Raised) {
	k.t.Helper()
	for _, e := range apitest.RaisedBy(k.t, dbtest.Open(k.t), k.Principal.Company) {
		if _, ok := e.Data["priceModel"]; ok {
			require.Equal(k.t, k.Principal.Actor.String(), e.By)
			all = append(all, e)
		}
	}
	return all
}
