package main

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/cli/admin"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

func TestLoadDataCanBeOrderedAndArchived(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "companies.json")
	args := []string{"load-data", "--companies=2", "--products=4", "--clients=3", "--out", path}
	said, err := runAdmin(t, args...)
	require.NoError(t, err)
	require.Contains(t, said, "Made 2 companies with 4 products and 3 clients each")
	stat, err := os.Stat(path)
	require.NoError(t, err)
	require.EqualValues(t, 0o600, stat.Mode().Perm(), "the file holds tokens")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var file struct{ Companies []admin.LoadCompany }
	require.NoError(t, json.Unmarshal(raw, &file))
	require.Len(t, file.Companies, 2)

	all := roles.NewDomains(dbtest.Open(t), roles.DomainConfig{Policy: rolestest.DefaultPolicy()})
	address := netip.MustParseAddr("192.0.2.1")
	for _, co := range file.Companies {
		free, err := all.Company.Authenticate(t.Context(), co.Token, address, true)
		require.NoError(t, err)
		require.Equal(t, co.ID, free.Company)
		require.True(t, free.Rate.Unlimited)
		limited, err := all.Company.Authenticate(t.Context(), co.LimitedToken, address, true)
		require.NoError(t, err)
		require.InDelta(t, 20, limited.Rate.RefillPerSecond, 1e-9)
		products, err := all.Catalog.Products(t.Context(), roles.DemoCaller(co.ID), catalog.ProductFilter{Params: list.Params{PageSize: 200}, Sort: "name"})
		require.NoError(t, err)
		require.Len(t, products.Items, 4)
		people, err := all.Clients.List(t.Context(), roles.DemoCaller(co.ID), clients.Filter{Params: list.Params{PageSize: 200}})
		require.NoError(t, err)
		require.Len(t, people.Items, 3)
	}

	_, err = runAdmin(t, args...)
	require.ErrorContains(t, err, "exists: close its companies with --archive")
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, raw, kept)

	said, err = runAdmin(t, append(args, "--archive")...)
	require.NoError(t, err)
	require.Contains(t, said, "Archived 2 companies")
	co, err := all.Company.Get(t.Context(), file.Companies[0].ID)
	require.NoError(t, err)
	require.Equal(t, company.Archived, co.Status)
}

func TestLoadDataNamesAllWrongFlags(t *testing.T) {
	t.Parallel()
	_, err := runAdmin(t, "load-data", "--companies=0", "--products=9999", "--out=x")
	require.ErrorContains(t, err, "--companies 0 must be between 1 and 10000")
	require.ErrorContains(t, err, "--products 9999 must be between 1 and 5000")
	_, err = runAdmin(t, "load-data")
	require.ErrorContains(t, err, "--out")
}
