package roles_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// Every operation asks for a token that is valid now.
func TestEveryOperationNeedsAToken(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	id := n.NewCompany(t)
	revoked := n.Issue(t, id, []string{"*:write"})
	n.Client(revoked.Text).OK(t, "GET", "/token", "") // remembered from here on
	_, err := roles.ChangeWith(t.Context(), n.DB, "test", id, n.Company.RevokeToken, revoked.ID)
	require.NoError(t, err)
	past := n.DB.WithClock(func() time.Time { return time.Now().Add(-25 * time.Hour) })
	expired, err := roles.ChangeWith(t.Context(), past, "test", id, n.Company.IssueToken, company.NewToken{Name: "old", Scopes: []string{"*:write"}, Lifetime: 24 * time.Hour})
	require.NoError(t, err)
	valid := n.Issue(t, id, []string{"*:write"})
	abroad, err := roles.ChangeWith(t.Context(), n.DB, "test", id, n.Company.IssueToken,
		company.NewToken{Name: "abroad", Scopes: []string{"*:write"}, IPAllowlist: []string{"192.0.2.0/24"}})
	require.NoError(t, err)
	n = rolestest.NewNode(n.DB, n.Limiter) // what the first one remembers is for TestTwoNodes
	rows := []struct{ name, header, code string }{
		{"no token", "", "AUTH_API_TOKEN_INVALID"},
		{"another scheme", "Basic " + valid.Text, "AUTH_API_TOKEN_INVALID"},
		{"no scheme", valid.Text, "AUTH_API_TOKEN_INVALID"},
		{"an unknown secret", "Bearer " + valid.Text[:len(valid.Text)-4] + "zzzz", "AUTH_API_TOKEN_INVALID"},
		{"revoked", "Bearer " + revoked.Text, "AUTH_API_TOKEN_INVALID"},
		{"another address", "Bearer " + abroad.Text, "AUTH_API_TOKEN_INVALID"},
		{"expired", "Bearer " + expired.Text, "AUTH_API_TOKEN_EXPIRED"},
	}
	require.Greater(t, len(n.API.Ops()), 40)
	for _, op := range n.API.Ops() {
		for _, row := range rows {
			got := n.Ask(t, row.header, op.Method, rolestest.AnyPath(op.Path), rolestest.AnyBody(op))
			got.Refused(t, 401, row.code, row.name+": "+rolestest.Name(op))
			require.NotEmpty(t, got.Header.Get("WWW-Authenticate"))
		}
	}
	n.Client(valid.Text).OK(t, "GET", "/token", "")
	require.Equal(t, 200, n.Ask(t, "Bearer "+abroad.Text, "GET", "/token", "", "X-Forwarded-For", "192.0.2.7").Status)
}

// Every operation asks for its scope, its component, a plan with the API and a company that is open.
func TestEveryOperationNeedsItsRights(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	id := n.NewCompany(t)
	readers, without := map[string]rolestest.Client{}, map[string]rolestest.Client{}
	stranger := map[bool]rolestest.Client{} // a caller who may do everything elsewhere: in the catalog, or in orders
	for inCatalog, scope := range map[bool]string{true: "catalog:write", false: "orders:write"} {
		stranger[inCatalog] = n.Client(n.Issue(t, id, []string{scope}).Text)
	}
	for _, op := range n.API.Ops() {
		if _, ok := readers[op.Scope]; op.Scope != "" && !ok {
			readers[op.Scope] = n.Client(n.Issue(t, id, []string{op.Scope + ":read"}).Text)
		}
		if _, ok := without[op.Component]; op.Component != "" && !n.Access.AlwaysOn().Has(op.Component) && !ok {
			caller, of := n.Owner(t)
			_, err := roles.ChangeWith(t.Context(), n.DB, "test", of, n.Company.SetComponent, company.Switch{Component: op.Component})
			require.NoError(t, err)
			without[op.Component] = caller
		}
	}
	archived, of := n.Owner(t)
	_, err := roles.Change(t.Context(), n.DB, "test", of, n.Company.Archive)
	require.NoError(t, err)
	free, of := n.Owner(t)
	_, err = roles.ChangeWith(t.Context(), n.DB, "test", of, n.Company.SetPlan, "free")
	require.NoError(t, err)

	require.Contains(t, without, "orders")
	require.Contains(t, without, "clients")
	for _, op := range n.API.Ops() {
		path, body, other := rolestest.AnyPath(op.Path), rolestest.AnyBody(op), stranger[op.Scope != "catalog"]
		archived.Do(t, op.Method, path, body).Refused(t, 401, "COMPANY_ARCHIVED", rolestest.Name(op))
		meta := free.Do(t, op.Method, path, body).Refused(t, 403, "PLAN_API_DISABLED", rolestest.Name(op))
		require.Equal(t, "free", meta["plan"])
		if op.Scope == "" {
			status, known := map[string]int{"getToken": 200, "getCompany": 200, "listJobs": 200, "getJob": 404, "getJobResult": 404, "pauseJob": 404, "resumeJob": 404, "cancelJob": 404, "startImport": 400, "previewImport": 400, "runImport": 404, "getRefusedRows": 404, "reportPayments": 400}[op.ID]
			require.True(t, known, "%s: an operation that any token may call", op.ID)
			require.Equal(t, status, other.Do(t, op.Method, path, body).Status, rolestest.Name(op))
			continue
		}
		meta = other.Do(t, op.Method, path, body).Refused(t, 403, "AUTH_API_SCOPE_INSUFFICIENT", rolestest.Name(op))
		require.Equal(t, []any{rolestest.Needed(op)}, meta["scopes"], rolestest.Name(op))
		reader := readers[op.Scope].Do(t, op.Method, path, body)
		if op.Mutating() {
			meta = reader.Refused(t, 403, "AUTH_API_SCOPE_INSUFFICIENT", "read scope: "+rolestest.Name(op))
			require.Equal(t, []any{rolestest.Needed(op)}, meta["scopes"], rolestest.Name(op))
		} else {
			require.Contains(t, []int{200, 400, 404}, reader.Status, "%s: %s", rolestest.Name(op), reader.Raw) // 400: a parameter is required
		}
		if caller, ok := without[op.Component]; ok {
			meta = caller.Do(t, op.Method, path, body).Refused(t, 403, "MODULE_ACCESS_INACTIVE", rolestest.Name(op))
			require.Equal(t, op.Component, meta["alias"], rolestest.Name(op))
		} else {
			require.True(t, n.Access.AlwaysOn().Has(op.Component), rolestest.Name(op))
		}
	}
}

// The checks follow each other in the order that clients rely on. Each row breaks two rules; the earlier one answers.
func TestOrderOfChecksWithRealTokens(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	one := company.CustomRate{RefillMilli: 1, Burst: 1}
	past := n.DB.WithClock(func() time.Time { return time.Now().Add(-25 * time.Hour) })
	old := func(id tenant.ID) rolestest.Client {
		issued, err := roles.ChangeWith(t.Context(), past, "test", id, n.Company.IssueToken, company.NewToken{Name: "old", Scopes: []string{"*:write"}, Lifetime: 24 * time.Hour})
		require.NoError(t, err)
		return n.Client(issued.Text)
	}
	closed := n.NewCompany(t)
	expiredAndArchived := old(closed)
	usedUpAndArchived := n.Issue(t, closed, []string{"*:write"}, one)
	n.Client(usedUpAndArchived.Text).OK(t, "GET", "/token", "")
	open := n.NewCompany(t)
	usedUpAndRevoked := n.Issue(t, open, []string{"*:write"}, one)
	n.Client(usedUpAndRevoked.Text).OK(t, "GET", "/token", "")
	free := n.NewCompany(t)
	usedUpAndFree := n.Client(n.Issue(t, free, []string{"sales:write"}, one).Text)
	wide := company.CustomRate{RefillMilli: 1000, Burst: 100}
	freeWithoutScope := n.Client(n.Issue(t, free, []string{"sales:write"}, wide).Text)
	bare := n.NewCompany(t)
	noScopeNoComponent := n.Client(n.Issue(t, bare, []string{"catalog:write"}, wide).Text)
	noComponent := n.Client(n.Issue(t, bare, []string{"*:write"}, wide).Text)
	_, err := roles.ChangeWith(t.Context(), n.DB, "test", bare, n.Company.SetComponent, company.Switch{Component: "orders"})
	require.NoError(t, err)
	_, err = roles.ChangeWith(t.Context(), n.DB, "test", free, n.Company.SetPlan, "free")
	require.NoError(t, err)
	_, err = roles.Change(t.Context(), n.DB, "test", closed, n.Company.Archive)
	require.NoError(t, err)
	_, err = roles.ChangeWith(t.Context(), n.DB, "test", open, n.Company.RevokeToken, usedUpAndRevoked.ID)
	require.NoError(t, err)
	forgetful := rolestest.NewNode(n.DB, n.Limiter) // knows what was asked of the tokens, and nothing of what they were

	forgetful.Client(usedUpAndFree.Token).Do(t, "GET", "/token", "").Refused(t, 403, "PLAN_API_DISABLED", "uses up the rate")
	huge := `{"name":"` + strings.Repeat("x", httpapi.DefaultMaxBody) + `"}`
	rows := []struct {
		name   string
		caller rolestest.Client
		body   string
		status int
		code   string
	}{
		{"size before token", n.Client("nonsense"), huge, 413, "PAYLOAD_TOO_LARGE"},
		{"token before rate", n.Client(usedUpAndRevoked.Text), `{}`, 401, "AUTH_API_TOKEN_INVALID"},
		{"expired before archived", expiredAndArchived, `{}`, 401, "AUTH_API_TOKEN_EXPIRED"},
		{"archived before rate", n.Client(usedUpAndArchived.Text), `{}`, 401, "COMPANY_ARCHIVED"},
		{"rate before plan", usedUpAndFree, `{}`, 429, "RATE_LIMIT_EXCEEDED"},
		{"plan before scope", freeWithoutScope, `{}`, 403, "PLAN_API_DISABLED"},
		{"scope before component", noScopeNoComponent, `{}`, 403, "AUTH_API_SCOPE_INSUFFICIENT"},
		{"component before validation", noComponent, `{}`, 403, "MODULE_ACCESS_INACTIVE"},
	}
	for _, row := range rows {
		got := forgetful.Client(row.caller.Token).Do(t, "POST", "/orders", row.body)
		got.Refused(t, row.status, row.code, row.name)
		require.Equal(t, row.status == 429 || row.status == 403, got.Header.Get("X-RateLimit-Limit") != "", "%s: a caller with a token sees the rate", row.name)
	}
}

// No operation lets what it does not take vanish.
func TestNoOperationLosesABody(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	owner, _ := n.Owner(t)
	for _, op := range n.API.Ops() {
		if op.Uploads != nil {
			continue
		}
		got := owner.Do(t, op.Method, rolestest.AnyPath(op.Path), `{"items":[{"lineNote":"two","qty":1}],"unheardOf":1}`, "Prefer", "handling=strict")
		got.Refused(t, 400, "VALIDATION_ERROR", rolestest.Name(op))
		require.Contains(t, got.Raw, "unheardOf: is unknown", rolestest.Name(op))
	}
}
