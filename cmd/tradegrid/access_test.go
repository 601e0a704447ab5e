package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/secret"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/services/company"
)

// node is an API process as `tradegrid api` puts it together, without the process. It stands behind a load
// balancer, so that each request can come from another address.
type node struct {
	*domains

	api     *httpapi.API
	admin   *httpapi.API
	limiter *ratelimit.Limiter
}

// inProcess is the address that requests come from which are handed over in the process.
const inProcess = "0.0.0.0/32"

func newNode(d *db.DB, limiter *ratelimit.Limiter) *node {
	all := newDomains(d, domainConfig{AllowInsecure: true, Keys: testKeys(), Operators: testOperators()})
	n := &node{domains: all, limiter: limiter}
	cfg := httpapi.Config{Limiter: limiter, Release: "test", Proxies: []netip.Prefix{netip.MustParsePrefix(inProcess)}}
	n.api, n.admin = all.newAPI(cfg), all.newAdminAPI(cfg)
	return n
}

// testKey is the key of all nodes, as a file has it.
var testKey = sync.OnceValue(func() string { return secret.NewKey("test") }) //nolint:gochecknoglobals // made once

var testKeys = sync.OnceValue(func() *secret.Keys { //nolint:gochecknoglobals // made once
	k, err := secret.ParseKeys(testKey())
	if err != nil {
		panic(err)
	}
	return k
})

// alone is the limiter of a node that has no others beside it.
func alone() *ratelimit.Limiter { return ratelimit.New(ratelimit.Config{}) }

// reply is an answer that was read.
type reply struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
}

func (r *reply) code() string {
	code, _ := r.body["code"].(string)
	return code
}

func (r *reply) id(t *testing.T) string {
	t.Helper()
	id, _ := r.body["id"].(string)
	require.NotEmpty(t, id, r.raw)
	return id
}

// refused requires a fault and returns what belongs to it.
func (r *reply) refused(t *testing.T, status int, code, what string) map[string]any {
	t.Helper()
	require.Equal(t, status, r.status, "%s: %s", what, r.raw)
	require.Equal(t, code, r.code(), "%s: %s", what, r.raw)
	meta, _ := r.body["meta"].(map[string]any)
	return meta
}

// lastHost numbers the callers of all tests: calls without a valid token are counted by address.
var lastHost atomic.Uint32 //nolint:gochecknoglobals // tests of one process share the addresses

func newAddress() string {
	n := lastHost.Add(1)
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}).String()
}

// ask sends a request from an address that nobody else has. authorization is the whole header.
func (n *node) ask(t *testing.T, authorization, method, path, body string, headers ...string) *reply {
	t.Helper()
	return askOf(t, n.api, authorization, method, httpapi.BasePath+path, body, headers...)
}

// askOf is ask for either API.
func askOf(t *testing.T, api *httpapi.API, authorization, method, path, body string, headers ...string) *reply {
	t.Helper()
	var content io.Reader
	if body != "" {
		content = bytes.NewReader([]byte(body))
	}
	req := httptest.NewRequestWithContext(t.Context(), method, path, content)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	req.Header.Set("X-Forwarded-For", newAddress())
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := api.App().Test(req, -1)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	r := &reply{status: res.StatusCode, header: res.Header, raw: string(raw)}
	if len(raw) > 0 && raw[0] == '{' {
		require.NoError(t, json.Unmarshal(raw, &r.body), "%s", raw)
	}
	return r
}

// as is a caller who shows a token.
type as struct {
	node  *node
	token string
}

func (c as) do(t *testing.T, method, path, body string, headers ...string) *reply {
	t.Helper()
	return c.node.ask(t, "Bearer "+c.token, method, path, body, headers...)
}

// ok requires a success.
func (c as) ok(t *testing.T, method, path, body string, headers ...string) *reply {
	t.Helper()
	r := c.do(t, method, path, body, headers...)
	require.Less(t, r.status, 300, "%s %s: %s", method, path, r.raw)
	return r
}

// found makes a company.
func (n *node) found(t *testing.T) tenant.ID {
	t.Helper()
	c, err := n.createCompany(t.Context(), company.NewCompany{Name: t.Name(), Plan: "business", Currency: "EUR"})
	require.NoError(t, err)
	return c.ID
}

// issue makes a token without limits, unless a rate is given.
func (n *node) issue(t *testing.T, id tenant.ID, scopes []string, rate ...company.CustomRate) company.Issued {
	t.Helper()
	in := company.NewToken{Name: strings.Join(scopes, " "), Scopes: scopes, RateTier: company.TierCustom}
	if len(rate) > 0 {
		in.CustomRate = rate[0]
	}
	issued, err := changeWith(t.Context(), n.db, "test", id, n.company.IssueToken, in)
	require.NoError(t, err)
	return issued
}

// owner is a caller of a fresh company who may do everything.
func (n *node) owner(t *testing.T) (as, tenant.ID) {
	t.Helper()
	id := n.found(t)
	return as{n, n.issue(t, id, []string{"*:write"}).Text}, id
}

// anyPath is an address of the operation where no record is.
func anyPath(path string) string {
	return fillPath(path, func(string) string { return uuid.NewString() })
}

var pathParam = regexp.MustCompile(`\{\w+\}`)

// fillPath puts ids in place of the {parameters} of a path.
func fillPath(path string, id func(param string) string) string {
	return pathParam.ReplaceAllStringFunc(path, func(param string) string {
		switch {
		case param == "{next}" && strings.Contains(path, "/delivery-status/"):
			return "packing"
		case param == "{next}":
			return "confirmed"
		}
		return id(param)
	})
}

// anyBody is sent where nobody looks at it.
func anyBody(op httpapi.Op) string {
	if op.Mutating() {
		return `{}`
	}
	return ""
}

func needed(op httpapi.Op) string {
	if op.Mutating() {
		return op.Scope + ":write"
	}
	return op.Scope + ":read"
}

func name(op httpapi.Op) string { return op.Method + " " + op.Path }

// Every operation asks for a token that is valid now.
func TestEveryOperationNeedsAToken(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	id := n.found(t)
	revoked := n.issue(t, id, []string{"*:write"})
	as{n, revoked.Text}.ok(t, "GET", "/token", "") // remembered from here on
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
	as{n, valid.Text}.ok(t, "GET", "/token", "")
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
		stranger[inCatalog] = as{n, n.issue(t, id, []string{scope}).Text}
	}
	for _, op := range n.api.Ops() {
		if _, ok := readers[op.Scope]; op.Scope != "" && !ok {
			readers[op.Scope] = as{n, n.issue(t, id, []string{op.Scope + ":read"}).Text}
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
			status, known := map[string]int{"getToken": 200, "getJob": 404, "getJobResult": 404}[op.ID]
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
		return as{n, issued.Text}
	}
	closed := n.found(t)
	expiredAndArchived := old(closed)
	usedUpAndArchived := n.issue(t, closed, []string{"*:write"}, one)
	as{n, usedUpAndArchived.Text}.ok(t, "GET", "/token", "")
	open := n.found(t)
	usedUpAndRevoked := n.issue(t, open, []string{"*:write"}, one)
	as{n, usedUpAndRevoked.Text}.ok(t, "GET", "/token", "")
	free := n.found(t)
	usedUpAndFree := as{n, n.issue(t, free, []string{"sales:write"}, one).Text}
	wide := company.CustomRate{RefillMilli: 1000, Burst: 100}
	freeWithoutScope := as{n, n.issue(t, free, []string{"sales:write"}, wide).Text}
	bare := n.found(t)
	noScopeNoComponent := as{n, n.issue(t, bare, []string{"catalog:write"}, wide).Text}
	noComponent := as{n, n.issue(t, bare, []string{"*:write"}, wide).Text}
	_, err := changeWith(t.Context(), n.db, "test", bare, n.company.SetComponent, company.Switch{Component: "orders"})
	require.NoError(t, err)
	_, err = changeWith(t.Context(), n.db, "test", free, n.company.SetPlan, "free")
	require.NoError(t, err)
	_, err = change(t.Context(), n.db, "test", closed, n.company.Archive)
	require.NoError(t, err)
	_, err = changeWith(t.Context(), n.db, "test", open, n.company.RevokeToken, usedUpAndRevoked.ID)
	require.NoError(t, err)
	forgetful := newNode(n.db, n.limiter) // knows what was asked of the tokens, and nothing of what they were

	as{forgetful, usedUpAndFree.token}.do(t, "GET", "/token", "").refused(t, 403, "PLAN_API_DISABLED", "uses up the rate")
	huge := `{"name":"` + strings.Repeat("x", httpapi.DefaultMaxBody) + `"}`
	rows := []struct {
		name   string
		caller as
		body   string
		status int
		code   string
	}{
		{"size before token", as{n, "nonsense"}, huge, 413, "PAYLOAD_TOO_LARGE"},
		{"token before rate", as{n, usedUpAndRevoked.Text}, `{}`, 401, "AUTH_API_TOKEN_INVALID"},
		{"expired before archived", expiredAndArchived, `{}`, 401, "AUTH_API_TOKEN_EXPIRED"},
		{"archived before rate", as{n, usedUpAndArchived.Text}, `{}`, 401, "COMPANY_ARCHIVED"},
		{"rate before plan", usedUpAndFree, `{}`, 429, "RATE_LIMIT_EXCEEDED"},
		{"plan before scope", freeWithoutScope, `{}`, 403, "PLAN_API_DISABLED"},
		{"scope before component", noScopeNoComponent, `{}`, 403, "AUTH_API_SCOPE_INSUFFICIENT"},
		{"component before validation", noComponent, `{}`, 403, "MODULE_ACCESS_INACTIVE"},
	}
	for _, row := range rows {
		got := as{forgetful, row.caller.token}.do(t, "POST", "/orders", row.body)
		got.refused(t, row.status, row.code, row.name)
		require.Equal(t, row.status == 429 || row.status == 403, got.header.Get("X-RateLimit-Limit") != "", "%s: a caller with a token sees the rate", row.name)
	}
}

// records are one of each kind, as paths name them.
type records struct {
	owner   as
	company tenant.ID
	id      map[string]string // entity, or {parameter} for a record below another one → id
}

// Bodies of records that belong to another one.
const (
	anAddress = `{"label":"Office","text":"Street 1"}`
	anAsset   = `{"name":"Mill"}`
	anOption  = `{"label":"Dark"}`
	aVariant  = `{"status":"hidden"}`
	aPrice    = `{"refId":"PRODUCT","price":900}`
	aMove     = `{"stageId":"0192d3a5-6f0e-7c1a-9b1e-2f6d8a4c1e55"}`
)

func (n *node) addBranch(t *testing.T, id tenant.ID) {
	t.Helper()
	_, err := changeWith(t.Context(), n.db, "test", id, n.company.CreateBranch, company.BranchFields{Name: "Annex"})
	require.NoError(t, err)
}

// fill makes one record of each kind.
func (n *node) fill(t *testing.T) *records {
	t.Helper()
	owner, company := n.owner(t)
	n.addBranch(t, company) // for the second warehouse
	r := &records{owner: owner, company: company, id: map[string]string{}}
	for _, s := range samples() {
		create := owner.ok
		if s.Admin {
			create = operator{n, writerToken}.in(company).ok
		}
		r.id[s.Entity] = create(t, "POST", cmp.Or(s.CreatePath, s.Path), fillIn(s.Create, r.id)).id(t)
	}
	add := func(name, path, body string) { r.id[name] = owner.ok(t, "POST", path, body).id(t) }
	add("{addressId}", "/clients/"+r.id["CLIENT"]+"/addresses", anAddress)
	add("{assetId}", "/clients/"+r.id["CLIENT"]+"/assets", anAsset)
	maintain := func(name, path, body string) {
		r.id[name] = operator{n, writerToken}.in(company).ok(t, "POST", path, body).id(t)
	}
	maintain("{optionId}", "/catalog/attributes/"+r.id["ATTRIBUTE"]+"/options", anOption)
	maintain("{variantId}", "/catalog/products/"+r.id["PRODUCT"]+"/variants", aVariant)
	prices := operator{n, writerToken}.in(company).ok(t, "POST", "/clients/price-lists/"+r.id["PRICE_LIST"]+"/prices", fillIn(aPrice, r.id))
	r.id["{priceId}"] = prices.id(t)
	add("{shipmentId}", "/orders/"+r.id["ORDER"]+"/shipments", `{}`)
	sent := owner.ok(t, "POST", "/webhooks/subscriptions/"+r.id["WEBHOOK_SUBSCRIPTION"]+"/test", `{}`)
	r.id["WEBHOOK_DELIVERY"], _ = sent.body["deliveryId"].(string)
	require.NotEmpty(t, r.id["WEBHOOK_DELIVERY"], sent.raw)
	r.id["JOB"] = n.export(t, owner)
	return r
}

// export runs an export to its end and returns the id of its job.
func (n *node) export(t *testing.T, owner as) string {
	t.Helper()
	id := owner.ok(t, "POST", "/exports", `{"resource":"suppliers"}`).id(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- n.newWorker(1, slog.New(slog.DiscardHandler)).Run(ctx) }()
	require.Eventually(t, func() bool { return owner.ok(t, "GET", "/jobs/"+id, "").body["status"] == "done" }, time.Minute, 20*time.Millisecond)
	stop()
	require.NoError(t, <-done)
	return id
}

// awaitEvent waits until the event log has something of the company.
func (r *records) awaitEvent(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		got := r.owner.ok(t, "GET", "/events?limit=1", "")
		items, _ := got.body["items"].([]any)
		if len(items) == 0 {
			return false
		}
		first, _ := items[0].(map[string]any)
		r.id["EVENT"], _ = first["eventId"].(string)
		return r.id["EVENT"] != ""
	}, time.Minute, 20*time.Millisecond)
}

// ofRecord says for each operation on one record of what kind it is, and with what body it would succeed: by the samples
// of the domains, and for operations without one here.
func (n *node) ofRecord() map[string][2]string {
	known := map[string][2]string{
		"getWebhookDelivery": {"WEBHOOK_DELIVERY"}, "redeliverWebhook": {"WEBHOOK_DELIVERY"},
		"getEvent": {"EVENT"}, "getJob": {"JOB"}, "getJobResult": {"JOB"},
	}
	bodies := map[string]string{
		"createClientAddress": anAddress, "createClientAsset": anAsset, "createClientInteraction": `{"type":"call"}`,
		"setBookingStatus":    `{"status":"confirmed"}`,
		"replayWebhookEvents": `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`,
		"updateClientAddress": `{"city":"Rome"}`, "updateClientAsset": `{"note":"x"}`,
		"setLeadStatus": `{"status":"spam"}`, "assignLead": `{"assigneeId":null}`,
		"moveDeal": aMove, "moveDealByPost": aMove,
	}
	for _, op := range n.api.Ops() {
		if s, body, ok := sampleOf(op); ok {
			known[op.ID] = [2]string{s.Entity, cmp.Or(bodies[op.ID], body)}
		}
	}
	return known
}

// at is the address of the operation on the record; r has the records below it.
func (r *records) at(op httpapi.Op, id string) string {
	return fillPath(op.Path, func(param string) string { return cmp.Or(r.id[param], id) })
}

// Of another company's records nothing is told, and nothing about them changes.
func TestEveryOperationHidesOtherCompanies(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.OpenNew(t), alone())
	startRelay(t, n.db, dbtest.Broker(t))
	theirs := n.fill(t)
	theirs.awaitEvent(t)
	me, _ := n.owner(t)
	known := n.ofRecord()
	snapshot := func() map[string]string {
		seen := map[string]string{}
		for _, op := range n.api.Ops() {
			if of, ok := known[op.ID]; ok && !op.Mutating() {
				got := theirs.owner.ok(t, op.Method, theirs.at(op, theirs.id[of[0]]), "")
				seen[op.ID] = got.raw
			}
		}
		return seen
	}
	before := snapshot()
	require.GreaterOrEqual(t, len(before), 10, "the owner reads them all")
	asked := 0
	for _, op := range n.api.Ops() {
		of, ok := known[op.ID]
		require.Equal(t, ok, strings.Contains(op.Path, "{"), "%s: an operation on one record needs a row above", op.ID)
		if !ok {
			continue
		}
		asked++
		for what, id := range map[string]string{"theirs": theirs.id[of[0]], "nobody's": uuid.NewString()} {
			got := me.do(t, op.Method, theirs.at(op, id), of[1])
			got.refused(t, 404, of[0]+"_NOT_FOUND", what+": "+name(op))
		}
		// A condition must not tell that there is something it could hold for.
		if op.Mutating() {
			me.do(t, op.Method, theirs.at(op, theirs.id[of[0]]), of[1], "If-Match", `"999"`).refused(t, 404, of[0]+"_NOT_FOUND", name(op))
		}
	}
	require.Equal(t, len(known), asked)
	require.Equal(t, before, snapshot(), "nothing of theirs has changed")
}

// References of a body do not reach other companies either.
func TestBodiesDoNotReachOtherCompanies(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	theirs, mine := n.fill(t), n.fill(t)
	whole := mine.owner.ok(t, "POST", "/orders", `{"items":[{"kind":"custom","name":"x","unitPrice":1}]}`).id(t) // nothing of it is shipped
	rows := []struct{ method, path, body, code, field string }{
		{"POST", "/catalog/categories", `{"name":"x","parentId":"CATEGORY"}`, "CATEGORY_NOT_FOUND", "parentId"},
		{"PATCH", "/catalog/categories/" + mine.id["CATEGORY"], `{"parentId":"CATEGORY"}`, "CATEGORY_NOT_FOUND", "parentId"},
		{"POST", "/catalog/products", `{"name":"x","price":1,"categoryId":"CATEGORY"}`, "CATEGORY_NOT_FOUND", "categoryId"},
		{"PATCH", "/catalog/products/" + mine.id["PRODUCT"], `{"categoryId":"CATEGORY"}`, "CATEGORY_NOT_FOUND", "categoryId"},
		{"POST", "/catalog/products", `{"name":"x","price":1,"defaultSupplierId":"SUPPLIER"}`, "SUPPLIER_NOT_FOUND", "defaultSupplierId"},
		{"POST", "/orders", `{"items":[{"refId":"PRODUCT","qty":1}]}`, "PRODUCT_NOT_FOUND", "items[0].refId"},
		{"POST", "/warehouse/stocks/adjust", `{"productId":"PRODUCT","warehouseId":"` + mine.id["WAREHOUSE"] + `","targetQty":1,"reason":"x"}`, "PRODUCT_NOT_FOUND", "productId"},
		{"POST", "/warehouse/stocks/adjust", `{"productId":"` + mine.id["PRODUCT"] + `","warehouseId":"WAREHOUSE","targetQty":1,"reason":"x"}`, "WAREHOUSE_NOT_FOUND", "warehouseId"},
		{"POST", "/warehouse/receipts", `{"warehouseId":"WAREHOUSE","items":[{"productId":"` + mine.id["PRODUCT"] + `","qty":1}]}`, "WAREHOUSE_NOT_FOUND", "warehouseId"},
		{"POST", "/warehouse/receipts", `{"warehouseId":"` + mine.id["WAREHOUSE"] + `","items":[{"productId":"PRODUCT","qty":1}]}`, "PRODUCT_NOT_FOUND", "items[0].productId"},
		{"POST", "/warehouse/receipts", `{"supplierId":"SUPPLIER","warehouseId":"` + mine.id["WAREHOUSE"] + `","items":[{"productId":"` + mine.id["PRODUCT"] + `","qty":1}]}`, "SUPPLIER_NOT_FOUND", "supplierId"},
		{"POST", "/orders/preview", `{"items":[{"refId":"PRODUCT","qty":1}]}`, "PRODUCT_NOT_FOUND", "items[0].refId"},
		{"POST", "/orders", `{"customerId":"CLIENT","items":[{"refId":"` + mine.id["PRODUCT"] + `","qty":1}]}`, "CLIENT_NOT_FOUND", "customerId"},
		{"PATCH", "/orders/" + mine.id["ORDER"], `{"customerId":"CLIENT"}`, "CLIENT_NOT_FOUND", "customerId"},
		{"POST", "/sales", `{"shiftId":"SHIFT","items":[{"refId":"` + mine.id["PRODUCT"] + `"}],"paymentMethod":"cash"}`, "SHIFT_NOT_FOUND", "shiftId"},
		{"POST", "/sales", `{"shiftId":"` + mine.id["SHIFT"] + `","items":[{"refId":"PRODUCT"}],"paymentMethod":"cash"}`, "PRODUCT_NOT_FOUND", "items[0].refId"},
		{"POST", "/sales", `{"shiftId":"` + mine.id["SHIFT"] + `","customerId":"CLIENT","items":[{"refId":"` + mine.id["PRODUCT"] + `"}],"paymentMethod":"cash"}`, "CLIENT_NOT_FOUND", "customerId"},
		{"PATCH", "/orders/" + whole, `{"items":[{"refId":"PRODUCT","qty":1}]}`, "PRODUCT_NOT_FOUND", "items[0].refId"},
		{"POST", "/orders", `{"dealId":"DEAL","items":[{"kind":"custom","name":"x","unitPrice":1}]}`, "DEAL_NOT_FOUND", "dealId"},
		{"POST", "/deals", `{"typeId":"DEAL_TYPE"}`, "DEAL_TYPE_NOT_FOUND", "typeId"},
		{"POST", "/deals", `{"typeId":"` + mine.id["DEAL_TYPE"] + `","clientId":"CLIENT"}`, "CLIENT_NOT_FOUND", "clientId"},
		{"PATCH", "/deals/" + mine.id["DEAL"], `{"clientId":"CLIENT"}`, "CLIENT_NOT_FOUND", "clientId"},
		{"PATCH", "/deals/" + mine.id["DEAL"], `{"addressId":"{addressId}"}`, "ADDRESS_NOT_FOUND", "addressId"},
		{"PATCH", "/deals/" + mine.id["DEAL"], `{"assetId":"{assetId}"}`, "ASSET_NOT_FOUND", "assetId"},
		{"PATCH", "/deals/" + mine.id["DEAL"], `{"items":[{"refId":"PRODUCT","qty":1}]}`, "PRODUCT_NOT_FOUND", "items[0].refId"},
		{"POST", "/leads/" + mine.id["LEAD"] + "/convert-deal", `{"typeId":"DEAL_TYPE"}`, "DEAL_TYPE_NOT_FOUND", "typeId"},
	}
	for _, row := range rows {
		body := row.body
		for entity, id := range theirs.id {
			body = strings.ReplaceAll(body, `"`+entity+`"`, `"`+id+`"`)
		}
		meta := mine.owner.do(t, row.method, row.path, body).refused(t, 404, row.code, row.method+" "+row.path+" "+row.body)
		require.Equal(t, row.field, meta["field"], "%s %s", row.method, row.path)
	}
}
