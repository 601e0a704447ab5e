package dev

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// The tokens of dev.json that the API refuses, and the users of the demo company.
func TestDemoHasACallerForEachRefusal(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	_, id := n.Owner(t)
	dm := &demo{domains: n.Domains}
	dm.CompanyID = id
	for range 2 { // a start that failed half way is repeated
		require.NoError(t, dm.makeRefused(t.Context()))
	}
	n = rolestest.NewNode(n.DB.WithClock(func() time.Time { return time.Now().Add(time.Second) }), rolestest.Alone())
	for _, row := range []struct {
		token, code string
		status      int
	}{
		{dm.ExpiredToken, "AUTH_API_TOKEN_EXPIRED", 401},
		{dm.ArchivedToken, "COMPANY_ARCHIVED", 401},
		{dm.NoPlanToken, "PLAN_API_DISABLED", 403},
		{dm.NoModuleToken, "MODULE_ACCESS_INACTIVE", 403},
	} {
		n.Client(row.token).Do(t, "GET", "/orders", "").Refused(t, row.status, row.code, row.code)
	}
	n.Client(dm.NoModuleToken).OK(t, "GET", "/clients", "")
	users, err := n.Company.Users(t.Context(), access.System(id), false)
	require.NoError(t, err)
	require.Len(t, users, 2)
	for _, u := range users {
		require.Equal(t, company.UserActive, u.Status)
	}
}
