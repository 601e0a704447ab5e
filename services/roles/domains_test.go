package roles

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

// What tokens and companies can have is what it was; clients see both lists sorted.
func TestScopesAndComponents(t *testing.T) {
	t.Parallel()
	r := NewDomains(nil, DomainConfig{}).Access
	require.Equal(t, []string{
		"catalog:read", "catalog:write", "clients:read", "clients:write", "company:read", "deals:read", "deals:write", "events:read",
		"exports:read", "exports:write", "files:read", "files:write", "leads:read", "leads:write", "orders:read", "orders:write", "sales:read", "sales:write",
		"scheduling:read", "scheduling:write", "warehouse:read", "warehouse:write", "webhooks:read", "webhooks:write", "*:read", "*:write",
	}, r.Scopes())
	require.Equal(t, []string{"calendar", "catalog", "core", "messenger"}, r.AlwaysOn().List())
	require.Equal(t, []string{
		"calendar", "cashier", "catalog", "clients", "core", "deals", "marketing", "messenger", "orders", "scheduling", "warehouse",
	}, r.Components().List())
	require.Equal(t, apitest.Registry(), r, "package apitest, which knows no domain, repeats scopes and components: add new ones there")
}

// The page on authentication lists the resources of all scopes, once.
func TestScopesPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/authentication.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(page), "| Resource | Verbs |\n|---|---|\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n\n")
	var listed []string
	for row := range strings.SplitSeq(table, "\n") {
		resources, verbs, _ := strings.Cut(strings.Trim(row, "| "), " | ")
		for resource := range strings.SplitSeq(resources, ", ") {
			for verb := range strings.SplitSeq(verbs, ", ") {
				listed = append(listed, strings.Trim(resource, "`")+":"+verb)
			}
		}
	}
	require.ElementsMatch(t, NewDomains(nil, DomainConfig{}).Access.Scopes(), listed)
}

// What operations and events ask for can be had.
func TestOperationsAskForWhatIsDeclared(t *testing.T) {
	t.Parallel()
	all := NewDomains(nil, DomainConfig{})
	api := all.NewAPI(httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{})})
	for _, op := range api.Ops() {
		if op.Scope != "" {
			verb := ":read"
			if op.Mutating() {
				verb = ":write"
			}
			require.Contains(t, all.Access.Scopes(), op.Scope+verb, op.ID)
		}
		if op.Component != "" {
			require.NoError(t, all.Access.CheckComponent(op.Component), op.ID)
		}
	}
	for _, e := range all.Events.All() {
		require.Contains(t, all.Access.Scopes(), e.Scope+":read", e.Name)
		require.NoError(t, all.Access.CheckComponent(e.Component), e.Name)
	}
}

// A service takes part in whatever it has a method for.
func TestServicesTakePartInWhatTheyOffer(t *testing.T) {
	t.Parallel()
	all := NewDomains(nil, DomainConfig{})
	parts := map[any][4]bool{}
	take := func(part int, service any) {
		p := parts[service]
		p[part] = true
		parts[service] = p
	}
	for _, s := range all.external {
		take(0, s)
	}
	for _, s := range all.admin {
		take(1, s)
	}
	for _, s := range all.workers {
		take(2, s)
	}
	for _, s := range all.demos {
		take(3, s)
	}
	require.Len(t, parts, len(all.declared)-2, "accounts and calendar take part in nothing")
	for s, named := range parts {
		_, external := s.(externalService)
		_, admin := s.(adminService)
		_, jobs := s.(jobService)
		_, demo := s.(demoService)
		require.Equal(t, [4]bool{external, admin, jobs, demo}, named, "%T: API, admin API, jobs, demo", s)
	}
}
