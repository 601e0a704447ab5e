package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
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
			require.Equal(t, row.want, access.Scopes(row.scopes).Allows(row.resource, row.write))
		})
	}
}

// registry is a platform of few parts.
func registry() *access.Registry {
	return access.NewRegistry(
		[]access.Resource{{Name: "catalog"}, {Name: "orders"}, {Name: "events", ReadOnly: true}, {Name: "company", ReadOnly: true}},
		[]access.Component{{Alias: "core", AlwaysOn: true}, {Alias: "catalog", AlwaysOn: true}, {Alias: "orders"}, {Alias: "deals"}},
	)
}

func TestScopesRefuseUnknown(t *testing.T) {
	t.Parallel()
	r := registry()
	for _, bad := range []string{"orders", "orders:delete", "events:write", "company:write", "", "Orders:read", "*"} {
		_, err := r.ParseScopes([]string{"catalog:read", bad})
		require.ErrorContains(t, err, "unknown scope", bad)
	}
	want := []string{"catalog:read", "catalog:write", "company:read", "events:read", "orders:read", "orders:write", "*:read", "*:write"}
	require.Equal(t, want, r.Scopes())
	got, err := r.ParseScopes(r.Scopes())
	require.NoError(t, err)
	require.Equal(t, access.Scopes(want), got)
	require.Equal(t, []string{"orders", "sales"}, access.Scopes{"sales:read", "orders:write", "sales:write"}.Readable())
}

func TestComponents(t *testing.T) {
	t.Parallel()
	r := registry()
	c := r.With("orders", "from-the-future")
	require.Equal(t, []string{"catalog", "core", "orders"}, c.List())
	require.True(t, c.Has("core"))
	require.True(t, c.Has("orders"))
	require.False(t, c.Has("deals"))
	require.False(t, c.Has("from-the-future"))
	require.True(t, r.AlwaysOn().Has("catalog"))
	require.False(t, r.AlwaysOn().Has("orders"))
	require.NoError(t, r.CheckComponent("deals"))
	require.ErrorContains(t, r.CheckComponent("payroll"), `unknown component "payroll": use one of catalog, core, deals, orders`)
	require.False(t, access.Components{"orders"}.Has("core"), "a set knows no names")
}

func TestNamesAreDeclaredOnce(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { access.NewRegistry([]access.Resource{{Name: "orders"}, {Name: "orders", ReadOnly: true}}, nil) })
	require.Panics(t, func() { access.NewRegistry(nil, []access.Component{{Alias: "deals"}, {Alias: "deals"}}) })
}

func TestRatePerWindow(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1200, access.Rate{Limit: 120, RefillPerSecond: 20}.PerWindow())
	require.Equal(t, 30, access.Rate{RefillPerSecond: 0.5}.PerWindow())
}

func TestUnconditional(t *testing.T) {
	t.Parallel()
	by := access.Caller{Principal: &access.Principal{}}.Expecting(3)
	require.NoError(t, by.Expect(3))
	require.ErrorContains(t, by.Expect(4), "If-Match expects 3")
	require.NoError(t, by.Unconditional().Expect(4))
	require.True(t, by.Conditional())
	require.False(t, by.Unconditional().Conditional())
}

func TestQuestionsDoNotAllocate(t *testing.T) {
	p := &access.Principal{Scopes: []string{"catalog:read", "clients:read", "*:write"}, Components: access.Components{"orders"}}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_ = p.Allows("orders", true) && p.Has("orders")
	}))
}
