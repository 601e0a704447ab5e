package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

const keyHeader = "X-Idempotency-Key"

// Each row breaks two rules that follow each other; the earlier one must answer.
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	f := setup(t)
	used := access.Rate{Limit: 1, RefillPerSecond: 0.0001}
	noPlan := func(p *access.Principal) { p.PlanAPI = false }
	noScope := func(p *access.Principal) { p.Scopes = access.Scopes{"orders:read"} }
	noComponent := func(p *access.Principal) { p.Components = access.Components{} }
	f.tokens["archived"] = apierr.New(http.StatusUnauthorized, "COMPANY_ARCHIVED", "the company is archived")
	f.token("used up", func(p *access.Principal) { p.Rate = used }, noPlan)
	f.do(request{method: "GET", path: "/open", token: "used up"}).is(t, 403, "PLAN_API_DISABLED")
	f.token("no plan", noPlan, noScope)
	f.token("no scope", noScope, noComponent)
	f.token("no component", noComponent)

	key := uuid.NewString()
	id := f.post(`{"name":"first"}`, keyHeader, key).body["id"].(string)
	frozen := f.post(`{"name":"cold"}`).body["id"].(string)
	_, err := f.db.Exec(t.Context(), `UPDATE things SET frozen = true WHERE company_id = $1 AND id = $2`, f.company, frozen)
	require.NoError(t, err)
	huge := `{"name":"` + strings.Repeat("x", 1<<20) + `"}`
	keyed := map[string]string{keyHeader: key}
	unknown := "/things/" + uuid.NewString()

	rows := []struct {
		name string
		request
		status int
		code   string
	}{
		{"route before size", request{method: "POST", path: "/nowhere", body: huge}, 404, "ROUTE_NOT_FOUND"},
		{"method before size", request{method: "PUT", path: "/things", body: huge}, 405, "METHOD_NOT_ALLOWED"},
		{"size before token", request{method: "POST", path: "/things", body: huge, token: "-"}, 413, "PAYLOAD_TOO_LARGE"},
		{"token before rate", request{method: "POST", path: "/things", body: `{}`, token: "nobody"}, 401, "AUTH_API_TOKEN_INVALID"},
		{"archived before plan", request{method: "POST", path: "/things", body: `{}`, token: "archived"}, 401, "COMPANY_ARCHIVED"},
		{"rate before plan", request{method: "POST", path: "/things", body: `{}`, token: "used up"}, 429, "RATE_LIMIT_EXCEEDED"},
		{"plan before scope", request{method: "POST", path: "/things", body: `{}`, token: "no plan"}, 403, "PLAN_API_DISABLED"},
		{"scope before component", request{method: "POST", path: "/things", body: `{}`, token: "no scope"}, 403, "AUTH_API_SCOPE_INSUFFICIENT"},
		{"component before replay", request{method: "POST", path: "/things", body: `{"name":"first"}`, token: "no component", headers: keyed}, 403, "MODULE_ACCESS_INACTIVE"},
		{"scope before replay", request{method: "POST", path: "/things", body: `{"name":"first"}`, token: "no scope", headers: keyed}, 403, "AUTH_API_SCOPE_INSUFFICIENT"},
		{"key before validation", request{method: "POST", path: "/things", body: `{"name":""}`, headers: keyed}, 422, "IDEMPOTENCY_KEY_REUSED"},
		{"validation before existence", request{method: "PATCH", path: unknown, body: `{"name":""}`}, 400, "VALIDATION_ERROR"},
		{"bad If-Match before existence", request{method: "PATCH", path: unknown, body: `{"name":"x"}`, headers: map[string]string{"If-Match": "x"}}, 400, "VALIDATION_ERROR"},
		{"bad id before all records", request{method: "PATCH", path: "/things/7", body: `{"name":"x"}`, headers: map[string]string{"If-Match": `"9"`}}, 400, "VALIDATION_ERROR"},
		{"existence before version", request{method: "PATCH", path: unknown, body: `{"name":"x"}`, headers: map[string]string{"If-Match": `"9"`}}, 404, "THING_NOT_FOUND"},
		{"version before state", request{method: "PATCH", path: "/things/" + frozen, body: `{"name":"x"}`, headers: map[string]string{"If-Match": `"9"`}}, 412, "PRECONDITION_FAILED"},
		{"state at last", request{method: "PATCH", path: "/things/" + frozen, body: `{"name":"x"}`, headers: map[string]string{"If-Match": `"1"`}}, 409, "THING_FROZEN"},
		{"nothing broken", request{method: "PATCH", path: "/things/" + id, body: `{"name":"x"}`, headers: map[string]string{"If-Match": `"1"`}}, 200, ""},
	}
	for _, row := range rows {
		got := f.do(row.request)
		require.Equal(t, row.status, got.StatusCode, "%s: %s", row.name, got.raw)
		if row.code != "" {
			require.Equal(t, row.code, got.body["code"], row.name)
		}
	}
	require.Equal(t, 2, f.stored())
	repeat := f.post(`{"name":"first"}`, keyHeader, key)
	require.Equal(t, "true", repeat.Header.Get("X-Idempotent-Replayed"), "a replay comes before all that the record says now")
}

// Every operation is asked by callers who may not call it.
func TestEveryOperationIsGuarded(t *testing.T) {
	t.Parallel()
	f := setup(t)
	expired := apierr.New(http.StatusUnauthorized, "AUTH_API_TOKEN_EXPIRED", "the token has expired")
	archived := apierr.New(http.StatusUnauthorized, "COMPANY_ARCHIVED", "the company is archived")
	f.tokens["expired"], f.tokens["archived"] = expired, archived
	f.token("other scope", func(p *access.Principal) { p.Scopes = access.Scopes{"catalog:write", "sales:write"} })
	f.token("reader", func(p *access.Principal) { p.Scopes = access.Scopes{"*:read"} })
	f.token("no component", func(p *access.Principal) { p.Components = access.Components{"deals"} })
	f.token("no plan", func(p *access.Principal) { p.PlanAPI = false })

	require.Len(t, f.api.Ops(), 11)
	for _, op := range f.api.Ops() {
		ask := func(token string) response {
			r := request{method: op.Method, path: strings.ReplaceAll(op.Path, "{id}", uuid.NewString()), token: token}
			if op.Mutating() {
				r.body = `{}`
			}
			return f.do(r)
		}
		for token, code := range map[string]string{
			"-": "AUTH_API_TOKEN_INVALID", "revoked": "AUTH_API_TOKEN_INVALID", "expired": "AUTH_API_TOKEN_EXPIRED", "archived": "COMPANY_ARCHIVED",
		} {
			// 30 failures a minute are allowed per address; what comes after them is told apart in a test of its own.
			if got := ask(token); got.StatusCode != http.StatusTooManyRequests {
				require.Equal(t, code, got.body["code"], "%s %s", op.ID, token)
				got.is(t, 401, code)
				require.Equal(t, `Bearer error="invalid_token"`, got.Header.Get("WWW-Authenticate"))
				require.Empty(t, got.Header.Get("X-RateLimit-Limit"), "no caller, no rate")
			}
		}
		ask("no plan").is(t, 403, "PLAN_API_DISABLED")
		if op.Scope == "" {
			ask("other scope").is(t, 200, "")
			continue
		}
		need := op.Scope + ":read"
		if op.Mutating() {
			need = op.Scope + ":write"
			got := ask("reader")
			got.is(t, 403, "AUTH_API_SCOPE_INSUFFICIENT")
			require.Equal(t, map[string]any{"scopes": []any{need}}, got.body["meta"])
		}
		got := ask("other scope")
		got.is(t, 403, "AUTH_API_SCOPE_INSUFFICIENT")
		require.Equal(t, map[string]any{"scopes": []any{need}}, got.body["meta"])
		got = ask("no component")
		got.is(t, 403, "MODULE_ACCESS_INACTIVE")
		require.Equal(t, map[string]any{"alias": "orders"}, got.body["meta"])
	}
}

func TestTokenForms(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for header, status := range map[string]int{
		"Bearer all": 200, "bearer all": 200, "BEARER  all ": 200, "Basic all": 401, "all": 401, "Bearer": 401, "Bearer ": 401, "Bearer all all": 401,
	} {
		got := f.do(request{method: "GET", path: "/open", token: "-", headers: map[string]string{"Authorization": header}})
		require.Equal(t, status, got.StatusCode, header)
	}
	f.do(request{method: "GET", path: "/open?token=all&access_token=all&authorization=Bearer+all", token: "-"}).is(t, 401, "AUTH_API_TOKEN_INVALID")
}

func TestFailuresOfAnAddressAreLimited(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for range 30 {
		f.do(request{method: "GET", path: "/open", token: "nobody"}).is(t, 401, "AUTH_API_TOKEN_INVALID")
	}
	got := f.do(request{method: "GET", path: "/open", token: "nobody"})
	got.is(t, 429, "RATE_LIMIT_EXCEEDED")
	require.NotEmpty(t, got.Header.Get("Retry-After"))
	f.do(request{method: "GET", path: "/open"}).is(t, 200, "")
}
