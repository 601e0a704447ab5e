package catalog_test

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

// config is that of the platform.
func config(d *db.DB) catalog.Config {
	return catalog.Config{DB: d, Stock: warehouse.Totals, VariantStock: warehouse.VariantTotals, Suppliers: suppliers.Known, Services: servicecatalog.InCategories{}}
}

// setup gives a caller of a fresh company.
func setup(t *testing.T) *apitest.Client {
	t.Helper()
	d := dbtest.Open(t)
	return apitest.New(t, d, catalog.New(config(d)).Register).Company()
}

// events are the events of the caller's company, in the order of their positions.
func events(t *testing.T, c *apitest.Client) apitest.Raised {
	t.Helper()
	all := apitest.RaisedBy(t, dbtest.Open(t), c.Principal.Company)
	for _, e := range all {
		require.Equal(t, c.Principal.Actor.String(), e.By)
	}
	return all
}
