package role

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/services/company"
	"github.com/tradegrid/tradegrid/services/warehouse"
)

// Tenant makes a company with a warehouse and a token that may do everything.
func Tenant(t *testing.T, d *db.DB) (id tenant.ID, token string) {
	t.Helper()
	ctx, companies := t.Context(), company.New(company.Config{DB: d})
	co, err := companies.Create(ctx, company.NewCompany{Name: "Fjord", Plan: "business"})
	require.NoError(t, err)
	issued, err := companies.IssueToken(ctx, co.ID, company.NewToken{Name: "test", Scopes: []string{"*:write"}, RateTier: company.TierCustom})
	require.NoError(t, err)
	by := access.Caller{Principal: &access.Principal{Company: co.ID}}
	require.NoError(t, d.RunTx(ctx, "test.warehouse", func(ctx context.Context, tx *db.Tx) error {
		_, err := warehouse.New(d, nil).CreateWarehouse(ctx, tx, by, warehouse.Input{Name: "Main"})
		return err
	}))
	return co.ID, issued.Text
}
