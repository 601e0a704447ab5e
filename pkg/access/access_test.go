package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/access"
)

func TestScopes(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name     string
		scopes   []string
		resource string
		write    bool
		want     bool
	}{
		{"read opens reading", []string{"orders:read"}, "orders", false, true},
		{"read does not open writing", []string{"orders:read"}, "orders", true, false},
		{"write includes reading", []string{"orders:write"}, "orders", false, true},
		{"other resource stays closed", []string{"orders:write"}, "sales", false, false},
		{"any read", []string{"*:read"}, "warehouse", false, true},
		{"any read is not any write", []string{"*:read"}, "warehouse", true, false},
		{"any write opens all", []string{"*:write"}, "company", false, true},
		{"nothing", nil, "orders", false, false},
		{"a longer name is another resource", []string{"orders:write"}, "order", false, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, err := access.ParseScopes(row.scopes)
			require.NoError(t, err)
			require.Equal(t, row.want, s.Allows(row.resource, row.write))
		})
	}
}

func TestScopesRefuseUnknown(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"orders", "orders:delete", "events:write", "company:write", "", "Orders:read", "*"} {
		_, err := access.ParseScopes([]string{"catalog:read", bad})
		require.ErrorContains(t, err, "unknown scope", bad)
	}
	for _, good := range access.AllScopes() {
		_, err := access.ParseScopes([]string{good})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"orders", "sales"}, access.Scopes{"sales:read", "orders:write"}.Readable())
}

func TestComponents(t *testing.T) {
	t.Parallel()
	c := access.ComponentSet("orders", "from-the-future")
	require.Equal(t, []string{"core", "catalog", "calendar", "messenger", "orders"}, c.List())
	require.True(t, c.Has("core"))
	require.True(t, c.Has("orders"))
	require.False(t, c.Has("deals"))
	require.False(t, c.Has("from-the-future"))
	require.True(t, access.AlwaysOn("messenger"))
	require.False(t, access.AlwaysOn("clients"))
	require.Error(t, access.CheckComponent("payroll"))
}

func TestQuestionsDoNotAllocate(t *testing.T) {
	p := &access.Principal{Scopes: []string{"catalog:read", "clients:read", "*:write"}, Components: access.ComponentSet("orders")}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_ = p.Allows("orders", true) && p.Has("orders")
	}))
}
