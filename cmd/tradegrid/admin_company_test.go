package main

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
)

// An operator founds a company and opens it to an integration, with nothing but the admin API.
func TestOperatorFoundsACompany(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	op := n.operator(writerToken)
	made := op.ok(t, "POST", "/companies", `{"name":" Nordic Tools ","plan":"business","isTest":true,"currency":"NOK","countryPrefix":"+47","timeZone":"Europe/Oslo","locale":"nb-NO",
		"stockPolicy":"block","accrualPercent":2.5,"maxInFlight":9,"components":["orders","clients"],"branchName":"Oslo"}`)
	id := tenant.ID(uuid.MustParse(made.id(t)))
	require.Equal(t, 201, made.status)
	require.Equal(t, "/api/admin/v1/companies/"+id.String(), made.header.Get("Location"))
	require.Equal(t, `"1"`, made.header.Get("ETag"))
	me := op.in(id)
	require.Equal(t, made.body, me.ok(t, "GET", "", "").body)
	for field, want := range map[string]any{
		"name": "Nordic Tools", "plan": "business", "isTest": true, "currency": "NOK", "countryPrefix": "+47", "timeZone": "Europe/Oslo", "locale": "nb-NO", "stockPolicy": "block",
		"accrualPercent": 2.5, "maxInFlight": 9.0, "status": "active", "components": []any{"calendar", "catalog", "clients", "core", "messenger", "orders"},
	} {
		require.Equal(t, want, made.body[field], field)
	}

	issued := me.ok(t, "POST", "/tokens", `{"name":"Shop","scopes":["*:write"],"lifetimeDays":null}`)
	require.Equal(t, 201, issued.status)
	require.Nil(t, issued.body["expiresAt"])
	shop := n.client(issued.body["token"].(string))
	info := shop.ok(t, "GET", "/token", "").body
	require.Equal(t, []any{issued.id(t), id.String(), "Nordic Tools", "business", true}, []any{info["id"], info["companyId"], info["companyName"], info["plan"], info["isTest"]})
	require.Subset(t, shop.ok(t, "GET", "/company", "").body, map[string]any{
		"id": id.String(), "name": "Nordic Tools", "isTest": true, "currency": "NOK", "currencyDigits": 2.0, "timeZone": "Europe/Oslo", "locale": "nb-NO",
		"countryPrefix": "+47", "stockPolicy": "block", "accrualPercent": 2.5, "plan": "business", "modules": made.body["components"],
		"createdAt": made.body["createdAt"], "updatedAt": made.body["updatedAt"],
	})
	branches := shop.ok(t, "GET", "/branches", "").raw
	require.Contains(t, branches, `"name":"Oslo"`)
	shop.do(t, "GET", "/warehouse/suppliers", "").refused(t, 403, "MODULE_ACCESS_INACTIVE", "not enabled")
	shop.ok(t, "POST", "/catalog/products", `{"name":"Saw","price":100}`)
}

// What operators change takes effect at once on the node that changed it.
func TestOperatorChangesTakeEffect(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	owner, id := n.owner(t)
	me := n.operator(writerToken).in(id)
	owner.ok(t, "GET", "/orders", "")
	version := func() string { return me.ok(t, "GET", "", "").header.Get("ETag") }

	me.ok(t, "POST", "/components", `{"component":"orders","enabled":false}`, "If-Match", version())
	owner.do(t, "GET", "/orders", "").refused(t, 403, "MODULE_ACCESS_INACTIVE", "disabled")
	me.ok(t, "POST", "/components", `{"component":"orders","enabled":true}`)
	owner.ok(t, "GET", "/orders", "")
	me.ok(t, "PATCH", "", `{"plan":"free"}`)
	owner.do(t, "GET", "/orders", "").refused(t, 403, "PLAN_API_DISABLED", "free")
	me.ok(t, "PATCH", "", `{"plan":"standard","stockPolicy":"block","accrualPercent":1.25,"timeZone":"Asia/Tokyo","locale":"ja"}`)
	settings, err := n.company.Authenticate(t.Context(), owner.token, netip.MustParseAddr("192.0.2.1"), true)
	require.NoError(t, err)
	require.Equal(t, "block", settings.Settings.StockPolicy)
	require.EqualValues(t, 125, settings.Settings.AccrualPercentBP)
	require.Equal(t, "Asia/Tokyo", settings.Settings.TimeZone)
	me.ok(t, "POST", "/archive", "")
	owner.do(t, "GET", "/orders", "").refused(t, 401, "COMPANY_ARCHIVED", "archived")
	require.NotNil(t, me.ok(t, "GET", "", "").body["archivedAt"], "operators still enter it")
	again := version()
	require.Equal(t, again, me.ok(t, "POST", "/archive", "").header.Get("ETag"), "nothing has changed")
	me.ok(t, "POST", "/restore", "")
	owner.ok(t, "GET", "/orders", "")

	require.Equal(t, version(), me.ok(t, "PATCH", "", `{}`).header.Get("ETag"))
	me.do(t, "PATCH", "", `{"name":"x"}`, "If-Match", `"1"`).refused(t, 412, "PRECONDITION_FAILED", "an old version")
	me.do(t, "PATCH", "", `{}`, "If-Match", `"1"`).refused(t, 412, "PRECONDITION_FAILED", "an old version, nothing to change")
	me.do(t, "POST", "/components", `{"component":"orders","enabled":true}`, "If-Match", `"1"`).refused(t, 412, "PRECONDITION_FAILED", "an old version")
	me.do(t, "POST", "/components", `{"component":"core","enabled":false}`).refused(t, 400, "VALIDATION_ERROR", "always on")
	me.do(t, "POST", "/components", `{"component":"payroll","enabled":true}`).refused(t, 400, "VALIDATION_ERROR", "unknown")
	require.Equal(t, map[string]string{"plan": "ENUM"}, faultsOf(t, me.do(t, "PATCH", "", `{"plan":"gold"}`)))
	require.Equal(t, map[string]string{"timeZone": "FORMAT"}, faultsOf(t, me.do(t, "PATCH", "", `{"timeZone":"Mars/Olympus"}`)))
	require.Equal(t, map[string]string{"locale": "FORMAT"}, faultsOf(t, me.do(t, "PATCH", "", `{"locale":"Norwegian, please"}`)))
	faults := faultsOf(t, me.do(t, "PATCH", "", `{"name":"","currency":"eur","countryPrefix":"47","stockPolicy":"x","accrualPercent":100.5,"maxInFlight":0}`))
	require.Equal(t, map[string]string{"name": "LENGTH", "currency": "FORMAT", "countryPrefix": "FORMAT", "stockPolicy": "ENUM", "accrualPercent": "MAX", "maxInFlight": "MIN"}, faults)
}

func TestOperatorListsCompanies(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	op := n.operator(writerToken)
	tag := strings.ReplaceAll(uuid.NewString(), "-", "")
	ids := map[string]string{}
	for name, body := range map[string]string{"b": `"plan":"free"`, "A": `"isTest":true`, "c": `"components":[]`} {
		ids[name] = op.ok(t, "POST", "/companies", `{"name":"`+name+tag+`",`+body+`}`).id(t)
	}
	op.in(tenant.ID(uuid.MustParse(ids["c"]))).ok(t, "POST", "/archive", "")
	names := func(query string) (found string) {
		for _, item := range op.ok(t, "GET", "/companies?search="+tag+query, "").body["items"].([]any) {
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
	c := op.ok(t, "GET", "/companies?ids="+ids["c"], "").body["items"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"calendar", "catalog", "core", "messenger"}, c["components"])
	require.Equal(t, op.in(tenant.ID(uuid.MustParse(ids["c"]))).ok(t, "GET", "", "").body, c)
}

func TestOperatorsRunUsersBranchesAndTokens(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	owner, id := n.owner(t)
	me := n.operator(writerToken).in(id)

	user := me.ok(t, "POST", "/users", `{"email":" Ann@Example.com ","name":"Ann"}`)
	require.Equal(t, []any{"ann@example.com", "invited", nil}, []any{user.body["email"], user.body["status"], user.body["role"]})
	me.do(t, "POST", "/users", `{"email":"ann@example.com"}`).refused(t, 409, "USER_EMAIL_TAKEN", "twice")
	require.Equal(t, map[string]string{"email": "FORMAT"}, faultsOf(t, me.do(t, "POST", "/users", `{"email":"ann"}`)))
	path := "/users/" + user.id(t)
	require.Equal(t, "active", me.ok(t, "POST", path+"/activate", "").body["status"])
	require.Contains(t, owner.ok(t, "GET", "/users", "").raw, `"name":"Ann","isActive":true`)
	me.ok(t, "POST", path+"/activate", "")
	require.Equal(t, "owner", me.ok(t, "PATCH", path, `{"role":"owner"}`).body["role"])
	me.do(t, "PATCH", path, `{"role":"viewer"}`).refused(t, 409, "USER_IS_LAST_OWNER", "last active owner")
	require.Equal(t, map[string]string{"role": "LENGTH"}, faultsOf(t, me.do(t, "PATCH", path, `{"role":"`+strings.Repeat("x", 65)+`"}`)))
	me.do(t, "POST", path+"/block", "").refused(t, 409, "USER_IS_LAST_OWNER", "last active owner")
	other := me.ok(t, "POST", "/users", `{"email":"kim@example.com","role":"owner"}`)
	me.ok(t, "POST", "/users/"+other.id(t)+"/activate", "")
	require.Equal(t, "blocked", me.ok(t, "POST", path+"/block", "").body["status"])
	events := apitest.Events(t, n.db, id)
	require.Len(t, events, 6)
	for i, want := range []string{"user.invited", "user.activated", "user.updated", "user.invited", "user.activated", "user.blocked"} {
		require.Equal(t, want, events[i].Event)
		require.Equal(t, "system", events[i].ActorID)
	}

	issued := me.ok(t, "POST", "/tokens", `{"name":"till","scopes":["sales:write"],"rateTier":"high","ipAllowlist":["192.0.2.7"]}`)
	text := issued.body["token"].(string)
	require.Equal(t, []any{"192.0.2.7/32"}, issued.body["ipAllowlist"])
	token := "/tokens/" + issued.id(t)
	require.NotContains(t, me.ok(t, "GET", token, "").raw, text)
	require.NotContains(t, me.ok(t, "GET", "/tokens", "").raw, text)
	require.NotContains(t, n.operator(readerToken).ok(t, "GET", "/audit?companyId="+id.String(), "").raw, text)
	expires, err := time.Parse(time.RFC3339, issued.body["expiresAt"].(string))
	require.NoError(t, err)
	require.InDelta(t, 365*24, time.Until(expires).Hours(), 1)
	from := []string{"X-Forwarded-For", "192.0.2.7"}
	require.Equal(t, 200, n.ask(t, "Bearer "+text, "GET", "/token", "", from...).status)
	rotated := me.ok(t, "POST", token+"/rotate", `{"overlapHours":0}`)
	n.ask(t, "Bearer "+text, "GET", "/token", "", from...).refused(t, 401, "AUTH_API_TOKEN_INVALID", "replaced at once")
	require.Equal(t, 200, n.ask(t, "Bearer "+rotated.body["token"].(string), "GET", "/token", "", from...).status)
	me.ok(t, "POST", token+"/revoke", "")
	n.ask(t, "Bearer "+rotated.body["token"].(string), "GET", "/token", "", from...).refused(t, 401, "AUTH_API_TOKEN_INVALID", "revoked")
	me.do(t, "POST", token+"/rotate", `{}`).refused(t, 409, "TOKEN_REVOKED", "revoked")
	require.NotContains(t, me.ok(t, "GET", "/tokens", "").raw, issued.id(t))
	require.Contains(t, me.ok(t, "GET", "/tokens?includeRevoked=true", "").raw, issued.id(t))
	require.Equal(t, map[string]string{"scopes[0]": "ENUM"}, faultsOf(t, me.do(t, "POST", "/tokens", `{"name":"x","scopes":["orders:eat"]}`)))
	require.Equal(t, map[string]string{"ipAllowlist[0]": "FORMAT"}, faultsOf(t, me.do(t, "POST", "/tokens", `{"name":"x","scopes":["orders:read"],"ipAllowlist":["here"]}`)))
	require.Equal(t, map[string]string{"lifetimeDays": "MAX", "name": "REQUIRED"}, faultsOf(t, me.do(t, "POST", "/tokens", `{"scopes":["*:read"],"lifetimeDays":1096}`)))
	require.Contains(t, me.ok(t, "GET", "/users?includeTechnical=true", "").raw, `"isTechnical":true`)
	require.NotContains(t, me.ok(t, "GET", "/users", "").raw, `"isTechnical":true`)
	technical := issued.body["actorId"].(string)
	me.do(t, "POST", "/users/"+technical+"/block", "").refused(t, 409, "USER_IS_TECHNICAL", "stands for a token")
	me.do(t, "PATCH", "/users/"+technical, `{"name":"x"}`).refused(t, 409, "USER_IS_TECHNICAL", "stands for a token")

	branch := me.ok(t, "POST", "/branches", `{"name":"Harbour"}`)
	require.Equal(t, []any{true, false}, []any{branch.body["isActive"], branch.body["isDefault"]})
	closed := me.ok(t, "PATCH", "/branches/"+branch.id(t), `{"name":"Old harbour","isActive":false}`, "If-Match", `"1"`)
	require.Equal(t, []any{"Old harbour", false}, []any{closed.body["name"], closed.body["isActive"]})
	require.Contains(t, owner.ok(t, "GET", "/branches", "").raw, `"name":"Old harbour","isActive":false`)
	main := branchIDs(t, n, id)["Main"]
	me.do(t, "PATCH", "/branches/"+main, `{"isActive":false}`).refused(t, 409, "BRANCH_IS_DEFAULT", "the default branch stays open")
	require.Equal(t, map[string]string{"name": "LENGTH"}, faultsOf(t, me.do(t, "PATCH", "/branches/"+main, `{"name":" "}`)))
}

// A replayed issue of a token returns the same text, which is nowhere stored in clear.
func TestReplayedIssueShowsTheTokenAgain(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	_, id := n.owner(t)
	me := n.operator(writerToken).in(id)
	key := uuid.NewString()
	first := me.ok(t, "POST", "/tokens", `{"name":"x","scopes":["*:read"]}`, "X-Idempotency-Key", key)
	again := me.ok(t, "POST", "/tokens", `{"name":"x","scopes":["*:read"]}`, "X-Idempotency-Key", key)
	require.Equal(t, first.raw, again.raw)
	require.Equal(t, "true", again.header.Get("X-Idempotent-Replayed"))
	var stored string
	require.NoError(t, n.db.QueryRow(t.Context(), `SELECT convert_from(body, 'UTF8') FROM idempotency_keys WHERE company_id = $1 AND key = $2`, id, uuid.MustParse(key)).Scan(&stored))
	require.NotContains(t, stored, first.body["token"].(string))
	founded := n.operator(writerToken).ok(t, "POST", "/companies", `{"name":"x"}`, "X-Idempotency-Key", key)
	require.Equal(t, founded.raw, n.operator(writerToken).ok(t, "POST", "/companies", `{"name":"x"}`, "X-Idempotency-Key", key).raw, "keys of the platform are its own")
}

// faultsOf are the faults of a 400, as field → code.
func faultsOf(t *testing.T, r *reply) map[string]string {
	t.Helper()
	r.refused(t, 400, "VALIDATION_ERROR", "faults")
	faults := map[string]string{}
	for _, item := range r.body["errors"].([]any) {
		fault := item.(map[string]any)
		faults[fault["field"].(string)] = fault["code"].(string)
	}
	return faults
}

// branchIDs are the branches of a company by name.
func branchIDs(t *testing.T, n *node, id tenant.ID) map[string]string {
	t.Helper()
	list, err := n.company.Branches(t.Context(), access.System(id))
	require.NoError(t, err)
	ids := map[string]string{}
	for _, b := range list {
		ids[b.Name] = b.ID.String()
	}
	return ids
}
