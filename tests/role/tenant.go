package role

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/services/company"
	"github.com/tradegrid/tradegrid/services/warehouse"
)

// Tenant creates a company and a token with all scopes.
func Tenant(t *testing.T, d *db.DB) (id tenant.ID, token string) {
	t.Helper()
	ctx, companies := t.Context(), company.New(company.Config{DB: d, Warehouses: warehouse.New(warehouse.Config{DB: d})})
	co, err := companies.Create(ctx, company.NewCompany{Name: "Fjord", Plan: "business"})
	require.NoError(t, err)
	issued, err := companies.IssueToken(ctx, co.ID, company.NewToken{Name: "test", Scopes: []string{"*:write"}, RateTier: company.TierCustom})
	require.NoError(t, err)
	return co.ID, issued.Text
}
