package roles_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// An operator founds a company and opens it to an integration, with nothing but the admin API.
func TestOperatorFoundsACompany(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	op := n.Operator(rolestest.WriterToken)
	made := op.OK(t, "POST", "/companies", `{"name":" Nordic Tools ","plan":"business","isTest":true,"currency":"NOK","countryPrefix":"+47","timeZone":"Europe/Oslo","locale":"nb-NO",
		"stockPolicy":"block","accrualPercent":2.5,"maxInFlight":9,"components":["orders","clients"],"branchName":"Oslo"}`)
	id := tenant.ID(uuid.MustParse(made.ID(t)))
	require.Equal(t, 201, made.Status)
	require.Equal(t, "/api/admin/v1/companies/"+id.String(), made.Header.Get("Location"))
	require.Equal(t, `"1"`, made.Header.Get("ETag"))
	me := op.In(id)
	require.Equal(t, made.Body, me.OK(t, "GET", "", "").Body)
	for field, want := range map[string]any{
		"name": "Nordic Tools", "plan": "business", "isTest": true, "currency": "NOK", "countryPrefix": "+47", "timeZone": "Europe/Oslo", "locale": "nb-NO", "stockPolicy": "block",
		"accrualPercent": 2.5, "maxInFlight": 9.0, "status": "active", "components": []any{"calendar", "catalog", "clients", "core", "messenger", "orders"},
	} {
		require.Equal(t, want, made.Body[field], field)
	}

	issued := me.OK(t, "POST", "/tokens", `{"name":"Shop","scopes":["*:write"],"lifetimeDays":null}`)
	require.Equal(t, 201, issued.Status)
	require.Nil(t, issued.Body["expiresAt"])
	shop := n.Client(issued.Body["token"].(string))
	info := shop.OK(t, "GET", "/token", "").Body
	require.Equal(t, []any{issued.ID(t), id.String(), "Nordic Tools", "business", true}, []any{info["id"], info["companyId"], info["companyName"], info["plan"], info["isTest"]})
	require.Subset(t, shop.OK(t, "GET", "/company", "").Body, map[string]any{
		"id": id.String(), "name": "Nordic Tools", "isTest": true, "currency": "NOK", "currencyDigits": 2.0, "timeZone": "Europe/Oslo", "locale": "nb-NO",
		"countryPrefix": "+47", "stockPolicy": "block", "accrualPercent": 2.5, "plan": "business", "modules": made.Body["components"],
		"createdAt": made.Body["createdAt"], "updatedAt": made.Body["updatedAt"],
	})
	branches := shop.OK(t, "GET", "/branches", "").Raw
	require.Contains(t, branches, `"name":"Oslo"`)
	shop.Do(t, "GET", "/warehouse/suppliers", "").Refused(t, 403, "MODULE_ACCESS_INACTIVE", "not enabled")
	shop.OK(t, "POST", "/catalog/products", `{"name":"Saw","price":100}`)
}

// What operators change takes effect at once on the node that changed it.
func TestOperatorChangesTakeEffect(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	owner, id := n.Owner(t)
	me := n.Operator(rolestest.WriterToken).In(id)
	owner.OK(t, "GET", "/orders", "")
	version := func() string { return me.OK(t, "GET", "", "").Header.Get("ETag") }

	me.OK(t, "POST", "/components", `{"component":"orders","enabled":false}`, "If-Match", version())
	owner.Do(t, "GET", "/orders", "").Refused(t, 403, "MODULE_ACCESS_INACTIVE", "disabled")
	me.OK(t, "POST", "/components", `{"component":"orders","enabled":true}`)
	owner.OK(t, "GET", "/orders", "")
	me.OK(t, "PATCH", "", `{"plan":"free"}`)
	owner.Do(t, "GET", "/orders", "").Refused(t, 403, "PLAN_API_DISABLED", "free")
	me.OK(t, "PATCH", "", `{"plan":"standard","stockPolicy":"block","accrualPercent":1.25,"timeZone":"Asia/Tokyo","locale":"ja"}`)
	settings, err := n.Company.Authenticate(t.Context(), owner.Token, netip.MustParseAddr("192.0.2.1"), true)
	require.NoError(t, err)
	require.Equal(t, "block", settings.Settings.StockPolicy)
	require.EqualValues(t, 125, settings.Settings.AccrualPercentBP)
	require.Equal(t, "Asia/Tokyo", settings.Settings.TimeZone)
	me.OK(t, "POST", "/archive", "")
	owner.Do(t, "GET", "/orders", "").Refused(t, 401, "COMPANY_ARCHIVED", "archived")
	require.NotNil(t, me.OK(t, "GET", "", "").Body["archivedAt"], "operators still enter it")
	again := version()
	require.Equal(t, again, me.OK(t, "POST", "/archive", "").Header.Get("ETag"), "nothing has changed")
	me.OK(t, "POST", "/restore", "")
	owner.OK(t, "GET", "/orders", "")

	require.Equal(t, version(), me.OK(t, "PATCH", "", `{}`).Header.Get("ETag"))
	me.Do(t, "PATCH", "", `{"name":"x"}`, "If-Match", `"1"`).Refused(t, 412, "PRECONDITION_FAILED", "an old version")
	me.Do(t, "PATCH", "", `{}`, "If-Match", `"1"`).Refused(t, 412, "PRECONDITION_FAILED", "an old version, nothing to change")
	me.Do(t, "POST", "/components", `{"component":"orders","enabled":true}`, "If-Match", `"1"`).Refused(t, 412, "PRECONDITION_FAILED", "an old version")
	me.Do(t, "POST", "/components", `{"component":"core","enabled":false}`).Refused(t, 400, "VALIDATION_ERROR", "always on")
	me.Do(t, "POST", "/components", `{"component":"payroll","enabled":true}`).Refused(t, 400, "VALIDATION_ERROR", "unknown")
	require.Equal(t, map[string]string{"plan": "ENUM"}, faultsOf(t, me.Do(t, "PATCH", "", `{"plan":"gold"}`)))
	require.Equal(t, map[string]string{"timeZone": "FORMAT"}, faultsOf(t, me.Do(t, "PATCH", "", `{"timeZone":"Mars/Olympus"}`)))
	require.Equal(t, map[string]string{"locale": "FORMAT"}, faultsOf(t, me.Do(t, "PATCH", "", `{"locale":"Norwegian, please"}`)))
	faults := faultsOf(t, me.Do(t, "PATCH", "", `{"name":"","currency":"eur","countryPrefix":"47","stockPolicy":"x","accrualPercent":100.5,"maxInFlight":0}`))
	require.Equal(t, map[string]string{"name": "LENGTH", "currency": "FORMAT", "countryPrefix": "FORMAT", "stockPolicy": "ENUM", "accrualPercent": "MAX", "maxInFlight": "MIN"}, faults)
}

func TestOperatorListsCompanies(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	op := n.Operator(rolestest.WriterToken)
	tag := strings.ReplaceAll(uuid.NewString(), "-", "")
	ids := map[string]string{}
	for name, body := range map[string]string{"b": `"plan":"free"`, "A": `"isTest":true`, "c": `"components":[]`} {
		ids[name] = op.OK(t, "POST", "/companies", `{"name":"`+name+tag+`",`+body+`}`).ID(t)
	}
	op.In(tenant.ID(uuid.MustParse(ids["c"]))).OK(t, "POST", "/archive", "")
	names := func(query string) (found string) {
		for _, item := range op.OK(t, "GET", "/companies?search="+tag+query, "").Body["items"].([]any) {
			found += strings.TrimSuffix(item.(map[string]any)["name"].(string), tag)
		}
		return found
	}
	for query, want := range map[string]string{
		"&sort=name": "Abc", "&sort=name&order=desc": "cbA", "&status=archived": "c", "&status=active&sort=name": "Ab", "&plan=free": "b", "&isTest=true": "A",
		"&isTest=false&sort=name": "bc", "&ids=" + ids["b"]: "b", "&sort=name&pageSize=1&page=2": "b",
	} {
		require.Equal(t, want, names(query), query)
	}
	c := op.OK(t, "GET", "/companies?ids="+ids["c"], "").Body["items"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"calendar", "catalog", "core", "messenger"}, c["components"])
	require.Equal(t, op.In(tenant.ID(uuid.MustParse(ids["c"]))).OK(t, "GET", "", "").Body, c)
}

func TestOperatorsRunUsersBranchesAndTokens(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	owner, id := n.Owner(t)
	me := n.Operator(rolestest.WriterToken).In(id)

	user := me.OK(t, "POST", "/users", `{"email":" Ann@Example.com ","name":"Ann"}`)
	require.Equal(t, []any{"ann@example.com", "invited", nil}, []any{user.Body["email"], user.Body["status"], user.Body["role"]})
	me.Do(t, "POST", "/users", `{"email":"ann@example.com"}`).Refused(t, 409, "USER_EMAIL_TAKEN", "twice")
	require.Equal(t, map[string]string{"email": "FORMAT"}, faultsOf(t, me.Do(t, "POST", "/users", `{"email":"ann"}`)))
	path := "/users/" + user.ID(t)
	require.Equal(t, "active", me.OK(t, "POST", path+"/activate", "").Body["status"])
	require.Contains(t, owner.OK(t, "GET", "/users", "").Raw, `"name":"Ann","isActive":true`)
	me.OK(t, "POST", path+"/activate", "")
	require.Equal(t, "owner", me.OK(t, "PATCH", path, `{"role":"owner"}`).Body["role"])
	me.Do(t, "PATCH", path, `{"role":"viewer"}`).Refused(t, 409, "USER_IS_LAST_OWNER", "last active owner")
	require.Equal(t, map[string]string{"role": "LENGTH"}, faultsOf(t, me.Do(t, "PATCH", path, `{"role":"`+strings.Repeat("x", 65)+`"}`)))
	me.Do(t, "POST", path+"/block", "").Refused(t, 409, "USER_IS_LAST_OWNER", "last active owner")
	other := me.OK(t, "POST", "/users", `{"email":"kim@example.com","role":"owner"}`)
	me.OK(t, "POST", "/users/"+other.ID(t)+"/activate", "")
	require.Equal(t, "blocked", me.OK(t, "POST", path+"/block", "").Body["status"])
	events := apitest.Events(t, n.DB, id)
	require.Len(t, events, 6)
	for i, want := range []string{"user.invited", "user.activated", "user.updated", "user.invited", "user.activated", "user.blocked"} {
		require.Equal(t, want, events[i].Event)
		require.Equal(t, "system", events[i].ActorID)
	}

	issued := me.OK(t, "POST", "/tokens", `{"name":"till","scopes":["sales:write"],"rateTier":"high","ipAllowlist":["192.0.2.7"]}`)
	text := issued.Body["token"].(string)
	require.Equal(t, []any{"192.0.2.7/32"}, issued.Body["ipAllowlist"])
	token := "/tokens/" + issued.ID(t)
	require.NotContains(t, me.OK(t, "GET", token, "").Raw, text)
	require.NotContains(t, me.OK(t, "GET", "/tokens", "").Raw, text)
	require.NotContains(t, n.Operator(rolestest.ReaderToken).OK(t, "GET", "/audit?companyId="+id.String(), "").Raw, text)
	expires, err := time.Parse(time.RFC3339, issued.Body["expiresAt"].(string))
	require.NoError(t, err)
	require.InDelta(t, 365*24, time.Until(expires).Hours(), 1)
	from := []string{"X-Forwarded-For", "192.0.2.7"}
	require.Equal(t, 200, n.Ask(t, "Bearer "+text, "GET", "/token", "", from...).Status)
	rotated := me.OK(t, "POST", token+"/rotate", `{"overlapHours":0}`)
	n.Ask(t, "Bearer "+text, "GET", "/token", "", from...).Refused(t, 401, "AUTH_API_TOKEN_INVALID", "replaced at once")
	require.Equal(t, 200, n.Ask(t, "Bearer "+rotated.Body["token"].(string), "GET", "/token", "", from...).Status)
	me.OK(t, "POST", token+"/revoke", "")
	n.Ask(t, "Bearer "+rotated.Body["token"].(string), "GET", "/token", "", from...).Refused(t, 401, "AUTH_API_TOKEN_INVALID", "revoked")
	me.Do(t, "POST", token+"/rotate", `{}`).Refused(t, 409, "TOKEN_REVOKED", "revoked")
	require.NotContains(t, me.OK(t, "GET", "/tokens", "").Raw, issued.ID(t))
	require.Contains(t, me.OK(t, "GET", "/tokens?includeRevoked=true", "").Raw, issued.ID(t))
	require.Equal(t, map[string]string{"scopes[0]": "ENUM"}, faultsOf(t, me.Do(t, "POST", "/tokens", `{"name":"x","scopes":["orders:eat"]}`)))
	require.Equal(t, map[string]string{"ipAllowlist[0]": "FORMAT"}, faultsOf(t, me.Do(t, "POST", "/tokens", `{"name":"x","scopes":["orders:read"],"ipAllowlist":["here"]}`)))
	require.Equal(t, map[string]string{"lifetimeDays": "MAX", "name": "REQUIRED"}, faultsOf(t, me.Do(t, "POST", "/tokens", `{"scopes":["*:read"],"lifetimeDays":1096}`)))
	require.Contains(t, me.OK(t, "GET", "/users?includeTechnical=true", "").Raw, `"isTechnical":true`)
	require.NotContains(t, me.OK(t, "GET", "/users", "").Raw, `"isTechnical":true`)
	technical := issued.Body["actorId"].(string)
	me.Do(t, "POST", "/users/"+technical+"/block", "").Refused(t, 409, "USER_IS_TECHNICAL", "stands for a token")
	me.Do(t, "PATCH", "/users/"+technical, `{"name":"x"}`).Refused(t, 409, "USER_IS_TECHNICAL", "stands for a token")

	branch := me.OK(t, "POST", "/branches", `{"name":"Harbour"}`)
	require.Equal(t, []any{true, false}, []any{branch.Body["isActive"], branch.Body["isDefault"]})
	closed := me.OK(t, "PATCH", "/branches/"+branch.ID(t), `{"name":"Old harbour","isActive":false}`, "If-Match", `"1"`)
	require.Equal(t, []any{"Old harbour", false}, []any{closed.Body["name"], closed.Body["isActive"]})
	require.Contains(t, owner.OK(t, "GET", "/branches", "").Raw, `"name":"Old harbour","isActive":false`)
	main := branchIDs(t, n, id)["Main"]
	me.Do(t, "PATCH", "/branches/"+main, `{"isActive":false}`).Refused(t, 409, "BRANCH_IS_DEFAULT", "the default branch stays open")
	require.Equal(t, map[string]string{"name": "LENGTH"}, faultsOf(t, me.Do(t, "PATCH", "/branches/"+main, `{"name":" "}`)))
}

// A replayed issue of a token returns the same text, which is nowhere stored in clear.
func TestReplayedIssueShowsTheTokenAgain(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	_, id := n.Owner(t)
	me := n.Operator(rolestest.WriterToken).In(id)
	key := uuid.NewString()
	first := me.OK(t, "POST", "/tokens", `{"name":"x","scopes":["*:read"]}`, "X-Idempotency-Key", key)
	again := me.OK(t, "POST", "/tokens", `{"name":"x","scopes":["*:read"]}`, "X-Idempotency-Key", key)
	require.Equal(t, first.Raw, again.Raw)
	require.Equal(t, "true", again.Header.Get("X-Idempotent-Replayed"))
	var stored string
	require.NoError(t, n.DB.QueryRow(t.Context(), `SELECT convert_from(body, 'UTF8') FROM idempotency_keys WHERE company_id = $1 AND key = $2`, id, uuid.MustParse(key)).Scan(&stored))
	require.NotContains(t, stored, first.Body["token"].(string))
	founded := n.Operator(rolestest.WriterToken).OK(t, "POST", "/companies", `{"name":"x"}`, "X-Idempotency-Key", key)
	require.Equal(t, founded.Raw, n.Operator(rolestest.WriterToken).OK(t, "POST", "/companies", `{"name":"x"}`, "X-Idempotency-Key", key).Raw, "keys of the platform are its own")
}

// faultsOf are the faults of a 400, as field → code.
func faultsOf(t *testing.T, r *rolestest.Reply) map[string]string {
	t.Helper()
	r.Refused(t, 400, "VALIDATION_ERROR", "faults")
	faults := map[string]string{}
	for _, item := range r.Body["errors"].([]any) {
		fault := item.(map[string]any)
		faults[fault["field"].(string)] = fault["code"].(string)
	}
	return faults
}

// branchIDs are the branches of a company by name.
func branchIDs(t *testing.T, n *rolestest.Node, id tenant.ID) map[string]string {
	t.Helper()
	list, err := n.Company.Branches(t.Context(), access.System(id))
	require.NoError(t, err)
	ids := map[string]string{}
	for _, b := range list {
		ids[b.Name] = b.ID.String()
	}
	return ids
}
