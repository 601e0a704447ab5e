package role

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// Tenant creates a company and a token with all scopes.
func Tenant(t *testing.T, d *db.DB) (id tenant.ID, token string) {
	t.Helper()
	ctx := t.Context()
	companies := company.New(company.Config{DB: d, Warehouses: warehouse.New(warehouse.Config{DB: d}), Access: apitest.Registry()})
	require.NoError(t, d.RunTx(ctx, "role.tenant", func(ctx context.Context, tx *db.Tx) error {
		co, err := companies.Create(ctx, tx, company.NewCompany{Name: "Fjord", Plan: "business"})
		if err != nil {
			return err
		}
		issued, err := companies.IssueToken(ctx, tx, access.System(co.ID), company.NewToken{Name: "test", Scopes: []string{"*:write"}, RateTier: company.TierCustom})
		id, token = co.ID, issued.Text
		return err
	}))
	return id, token
}
