package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// Every operation asks for a token that is valid now.
func TestEveryOperationNeedsAToken(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	id := n.found(t)
	revoked := n.issue(t, id, []string{"*:write"})
	n.client(revoked.Text).ok(t, "GET", "/token", "") // remembered from here on
	_, err := changeWith(t.Context(), n.db, "test", id, n.company.RevokeToken, revoked.ID)
	require.NoError(t, err)
	past := n.db.WithClock(func() time.Time { return time.Now().Add(-25 * time.Hour) })
	expired, err := changeWith(t.Context(), past, "test", id, n.company.IssueToken, company.NewToken{Name: "old", Scopes: []string{"*:write"}, Lifetime: 24 * time.Hour})
	require.NoError(t, err)
	valid := n.issue(t, id, []string{"*:write"})
	abroad, err := changeWith(t.Context(), n.db, "test", id, n.company.IssueToken,
		company.NewToken{Name: "abroad", Scopes: []string{"*:write"}, IPAllowlist: []string{"192.0.2.0/24"}})
	require.NoError(t, err)
	n = newNode(n.db, n.limiter) // what the first one remembers is for TestTwoNodes
	rows := []struct{ name, header, code string }{
		{"no token", "", "AUTH_API_TOKEN_INVALID"},
		{"another scheme", "Basic " + valid.Text, "AUTH_API_TOKEN_INVALID"},
		{"no scheme", valid.Text, "AUTH_API_TOKEN_INVALID"},
		{"an unknown secret", "Bearer " + valid.Text[:len(valid.Text)-4] + "zzzz", "AUTH_API_TOKEN_INVALID"},
		{"revoked", "Bearer " + revoked.Text, "AUTH_API_TOKEN_INVALID"},
		{"another address", "Bearer " + abroad.Text, "AUTH_API_TOKEN_INVALID"},
		{"expired", "Bearer " + expired.Text, "AUTH_API_TOKEN_EXPIRED"},
	}
	require.Greater(t, len(n.api.Ops()), 40)
	for _, op := range n.api.Ops() {
		for _, row := range rows {
			got := n.ask(t, row.header, op.Method, anyPath(op.Path), anyBody(op))
			got.refused(t, 401, row.code, row.name+": "+name(op))
			require.NotEmpty(t, got.header.Get("WWW-Authenticate"))
		}
	}
	n.client(valid.Text).ok(t, "GET", "/token", "")
	require.Equal(t, 200, n.ask(t, "Bearer "+abroad.Text, "GET", "/token", "", "X-Forwarded-For", "192.0.2.7").status)
}

// Every operation asks for its scope, its component, a plan with the API and a company that is open.
func TestEveryOperationNeedsItsRights(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	id := n.found(t)
	readers, without := map[string]as{}, map[string]as{}
	stranger := map[bool]as{} // a caller who may do everything elsewhere: in the catalog, or in orders
	for inCatalog, scope := range map[bool]string{true: "catalog:write", false: "orders:write"} {
		stranger[inCatalog] = n.client(n.issue(t, id, []string{scope}).Text)
	}
	for _, op := range n.api.Ops() {
		if _, ok := readers[op.Scope]; op.Scope != "" && !ok {
			readers[op.Scope] = n.client(n.issue(t, id, []string{op.Scope + ":read"}).Text)
		}
		if _, ok := without[op.Component]; op.Component != "" && !n.access.AlwaysOn().Has(op.Component) && !ok {
			caller, of := n.owner(t)
			_, err := changeWith(t.Context(), n.db, "test", of, n.company.SetComponent, company.Switch{Component: op.Component})
			require.NoError(t, err)
			without[op.Component] = caller
		}
	}
	archived, of := n.owner(t)
	_, err := change(t.Context(), n.db, "test", of, n.company.Archive)
	require.NoError(t, err)
	free, of := n.owner(t)
	_, err = changeWith(t.Context(), n.db, "test", of, n.company.SetPlan, "free")
	require.NoError(t, err)

	require.Contains(t, without, "orders")
	require.Contains(t, without, "clients")
	for _, op := range n.api.Ops() {
		path, body, other := anyPath(op.Path), anyBody(op), stranger[op.Scope != "catalog"]
		archived.do(t, op.Method, path, body).refused(t, 401, "COMPANY_ARCHIVED", name(op))
		meta := free.do(t, op.Method, path, body).refused(t, 403, "PLAN_API_DISABLED", name(op))
		require.Equal(t, "free", meta["plan"])
		if op.Scope == "" {
			status, known := map[string]int{"getToken": 200, "getCompany": 200, "getJob": 404, "getJobResult": 404, "pauseJob": 404, "resumeJob": 404, "cancelJob": 404, "startImport": 400, "reportPayments": 400}[op.ID]
			require.True(t, known, "%s: an operation that any token may call", op.ID)
			require.Equal(t, status, other.do(t, op.Method, path, body).status, name(op))
			continue
		}
		meta = other.do(t, op.Method, path, body).refused(t, 403, "AUTH_API_SCOPE_INSUFFICIENT", name(op))
		require.Equal(t, []any{needed(op)}, meta["scopes"], name(op))
		reader := readers[op.Scope].do(t, op.Method, path, body)
		if op.Mutating() {
			meta = reader.refused(t, 403, "AUTH_API_SCOPE_INSUFFICIENT", "read scope: "+name(op))
			require.Equal(t, []any{needed(op)}, meta["scopes"], name(op))
		} else {
			require.Contains(t, []int{200, 400, 404}, reader.status, "%s: %s", name(op), reader.raw) // 400: a parameter is required
		}
		if caller, ok := without[op.Component]; ok {
			meta = caller.do(t, op.Method, path, body).refused(t, 403, "MODULE_ACCESS_INACTIVE", name(op))
			require.Equal(t, op.Component, meta["alias"], name(op))
		} else {
			require.True(t, n.access.AlwaysOn().Has(op.Component), name(op))
		}
	}
}

// The checks follow each other in the order that clients rely on. Each row breaks two rules; the earlier one answers.
func TestOrderOfChecksWithRealTokens(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	one := company.CustomRate{RefillMilli: 1, Burst: 1}
	past := n.db.WithClock(func() time.Time { return time.Now().Add(-25 * time.Hour) })
	old := func(id tenant.ID) as {
		issued, err := changeWith(t.Context(), past, "test", id, n.company.IssueToken, company.NewToken{Name: "old", Scopes: []string{"*:write"}, Lifetime: 24 * time.Hour})
		require.NoError(t, err)
		return n.client(issued.Text)
	}
	closed := n.found(t)
	expiredAndArchived := old(closed)
	usedUpAndArchived := n.issue(t, closed, []string{"*:write"}, one)
	n.client(usedUpAndArchived.Text).ok(t, "GET", "/token", "")
	open := n.found(t)
	usedUpAndRevoked := n.issue(t, open, []string{"*:write"}, one)
	n.client(usedUpAndRevoked.Text).ok(t, "GET", "/token", "")
	free := n.found(t)
	usedUpAndFree := n.client(n.issue(t, free, []string{"sales:write"}, one).Text)
	wide := company.CustomRate{RefillMilli: 1000, Burst: 100}
	freeWithoutScope := n.client(n.issue(t, free, []string{"sales:write"}, wide).Text)
	bare := n.found(t)
	noScopeNoComponent := n.client(n.issue(t, bare, []string{"catalog:write"}, wide).Text)
	noComponent := n.client(n.issue(t, bare, []string{"*:write"}, wide).Text)
	_, err := changeWith(t.Context(), n.db, "test", bare, n.company.SetComponent, company.Switch{Component: "orders"})
	require.NoError(t, err)
	_, err = changeWith(t.Context(), n.db, "test", free, n.company.SetPlan, "free")
	require.NoError(t, err)
	_, err = change(t.Context(), n.db, "test", closed, n.company.Archive)
	require.NoError(t, err)
	_, err = changeWith(t.Context(), n.db, "test", open, n.company.RevokeToken, usedUpAndRevoked.ID)
	require.NoError(t, err)
	forgetful := newNode(n.db, n.limiter) // knows what was asked of the tokens, and nothing of what they were

	forgetful.client(usedUpAndFree.token).do(t, "GET", "/token", "").refused(t, 403, "PLAN_API_DISABLED", "uses up the rate")
	huge := `{"name":"` + strings.Repeat("x", httpapi.DefaultMaxBody) + `"}`
	rows := []struct {
		name   string
		caller as
		body   string
		status int
		code   string
	}{
		{"size before token", n.client("nonsense"), huge, 413, "PAYLOAD_TOO_LARGE"},
		{"token before rate", n.client(usedUpAndRevoked.Text), `{}`, 401, "AUTH_API_TOKEN_INVALID"},
		{"expired before archived", expiredAndArchived, `{}`, 401, "AUTH_API_TOKEN_EXPIRED"},
		{"archived before rate", n.client(usedUpAndArchived.Text), `{}`, 401, "COMPANY_ARCHIVED"},
		{"rate before plan", usedUpAndFree, `{}`, 429, "RATE_LIMIT_EXCEEDED"},
		{"plan before scope", freeWithoutScope, `{}`, 403, "PLAN_API_DISABLED"},
		{"scope before component", noScopeNoComponent, `{}`, 403, "AUTH_API_SCOPE_INSUFFICIENT"},
		{"component before validation", noComponent, `{}`, 403, "MODULE_ACCESS_INACTIVE"},
	}
	for _, row := range rows {
		got := forgetful.client(row.caller.token).do(t, "POST", "/orders", row.body)
		got.refused(t, row.status, row.code, row.name)
		require.Equal(t, row.status == 429 || row.status == 403, got.header.Get("X-RateLimit-Limit") != "", "%s: a caller with a token sees the rate", row.name)
	}
}
