package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// adminOf makes the admin API of a fixture: the same things, below the path of a company. The token "token" makes changes,
// "reader" reads; there is one company.
type adminOf struct {
	company tenant.ID
	changes []httpapi.AdminChange
	last    *httpapi.AdminChange // of the transaction that runs
	broken  error
}

func newAdmin(t *testing.T) (*kit, *adminOf) {
	t.Helper()
	f := setup(t)
	a := &adminOf{company: tenant.NewID()}
	f.token("reader", func(p *access.Principal) { p.Scopes, p.TokenName = access.Scopes{"*:read"}, "rob" })
	f.token("writer", func(p *access.Principal) {
		p.Scopes, p.TokenName, p.PlanAPI, p.Components = access.Scopes{"*:write"}, "ann", false, nil
	})
	f.base = httpapi.AdminBasePath
	f.api = httpapi.New(httpapi.Config{DB: f.db, Auth: f, Limiter: ratelimit.New(ratelimit.Config{}), Admin: &httpapi.Admin{Companies: a, Audit: a}})
	f.register(f.api)
	return f, a
}

func (a *adminOf) Enter(_ context.Context, operator *access.Principal, company tenant.ID) (*access.Principal, error) {
	if company != a.company {
		return nil, apierr.New(http.StatusNotFound, "COMPANY_NOT_FOUND", "no such company")
	}
	p := *operator
	p.Company = company
	return &p, nil
}

// Record keeps what the last try of a transaction tells.
func (a *adminOf) Record(tx *db.Tx, c httpapi.AdminChange) error {
	if a.last = &c; a.broken != nil {
		a.last = nil
	}
	tx.OnEnd(func() {
		if a.last != nil {
			a.changes = append(a.changes, *a.last)
		}
		a.last = nil
	})
	return a.broken
}

func (a *adminOf) path(rest string) string { return "/companies/" + a.company.String() + rest }

// The checks of the admin API follow each other. Each row breaks two rules; the earlier one answers.
func TestOrderOfAdminChecks(t *testing.T) {
	t.Parallel()
	f, a := newAdmin(t)
	huge := `{"name":"` + strings.Repeat("x", 1<<20) + `"}`
	nowhere := "/companies/" + uuid.NewString()
	rows := []struct {
		name string
		request
		status int
		code   string
	}{
		{"route before size", request{method: "POST", path: "/things", body: huge}, 404, "ROUTE_NOT_FOUND"},
		{"size before token", request{method: "POST", path: a.path("/things"), body: huge, token: "-"}, 413, "PAYLOAD_TOO_LARGE"},
		{"token before role", request{method: "POST", path: a.path("/things"), body: `{}`, token: "nobody"}, 401, "AUTH_API_TOKEN_INVALID"},
		{"role before company", request{method: "POST", path: nowhere + "/things", body: `{}`, token: "reader"}, 403, "ADMIN_ROLE_INSUFFICIENT"},
		{"bad company before validation", request{method: "POST", path: "/companies/7/things", body: `{}`, token: "writer"}, 400, "VALIDATION_ERROR"},
		{"company before validation", request{method: "POST", path: nowhere + "/things", body: `{}`, token: "writer"}, 404, "COMPANY_NOT_FOUND"},
		{"validation before existence", request{method: "PATCH", path: a.path("/things/" + uuid.NewString()), body: `{"name":""}`, token: "writer"}, 400, "VALIDATION_ERROR"},
		{"existence", request{method: "PATCH", path: a.path("/things/" + uuid.NewString()), body: `{"name":"x"}`, token: "writer"}, 404, "THING_NOT_FOUND"},
	}
	for _, row := range rows {
		f.do(row.request).is(t, row.status, row.code)
	}
	require.Empty(t, a.changes)
}

// Scopes, components and the plan are of no account; the company of the path is that of the caller.
func TestAdminOperationsRunInTheCompanyOfThePath(t *testing.T) {
	t.Parallel()
	f, a := newAdmin(t)
	key := uuid.NewString()
	create := request{method: "POST", path: a.path("/things"), body: `{"name":"one","apiSecret":"s3"}`, token: "writer", headers: map[string]string{keyHeader: key, "X-Request-Id": "r1"}}
	made := f.do(create)
	require.Equal(t, 201, made.StatusCode, "%s", made.raw)
	id := made.body["id"].(string)
	require.Equal(t, httpapi.AdminBasePath+a.path("/things/"+id), made.Header.Get("Location"))
	var company tenant.ID
	require.NoError(t, f.db.QueryRow(t.Context(), `SELECT company_id FROM things WHERE id = $1`, id).Scan(&company))
	require.Equal(t, a.company, company)
	require.Equal(t, "true", f.do(create).Header.Get("X-Idempotent-Replayed"))
	require.Equal(t, 200, f.do(request{method: "GET", path: a.path("/things/" + id), token: "reader"}).StatusCode)
	f.do(request{method: "PATCH", path: a.path("/things/" + id), body: `{"name":"two"}`, token: "writer", headers: map[string]string{"If-Match": `"9"`}}).is(t, 412, "PRECONDITION_FAILED")

	require.Len(t, a.changes, 1, "a replay and a refusal change nothing")
	c := a.changes[0]
	require.Equal(t, []any{"ann", a.company, id, "r1"}, []any{c.Operator, c.Company, c.Entity, c.RequestID})
	require.JSONEq(t, `{"name":"one"}`, string(c.Body), "unknown fields are not recorded")

	a.broken = errors.New("no record")
	f.do(request{method: "PATCH", path: a.path("/things/" + id), body: `{"name":"two"}`, token: "writer"}).is(t, 500, "INTERNAL_ERROR")
	require.Equal(t, "one", f.do(request{method: "GET", path: a.path("/things/" + id), token: "reader"}).body["name"], "no change without its record")
}
