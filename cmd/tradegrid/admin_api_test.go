package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/schemas"
)

// Every admin operation asks for the token of an operator, which no token of a company is.
func TestEveryAdminOperationNeedsAnOperator(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	owner, id := n.owner(t)
	me := n.operator(writerToken).in(id)
	require.NotEmpty(t, n.admin.Ops())
	for _, op := range n.admin.Ops() {
		for what, header := range map[string]string{
			"no token": "", "another scheme": "Basic " + writerToken, "no scheme": writerToken, "unknown": "Bearer " + writerToken + "x",
			"of a company": "Bearer " + owner.token, "the hash": "Bearer " + strings.Split(secret.OperatorLine("a", "read", writerToken), ":")[2],
		} {
			got := askOf(t, n.admin, header, op.Method, httpapi.AdminBasePath+me.path(op), anyBody(op))
			got.refused(t, 401, "AUTH_API_TOKEN_INVALID", what+": "+name(op))
			require.NotEmpty(t, got.header.Get("WWW-Authenticate"))
		}
	}
	owner.do(t, "GET", "/token", "").id(t)
	n.ask(t, "Bearer "+writerToken, "GET", "/token", "").refused(t, 401, "AUTH_API_TOKEN_INVALID", "an operator is no caller of the external API")
}

// An operator with the role read changes nothing; unknown companies are 404.
func TestEveryAdminOperationNeedsItsRole(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	_, id := n.owner(t)
	reader, writer := n.operator(readerToken).in(id), n.operator(writerToken).in(id)
	for _, op := range n.admin.Ops() {
		got := reader.operator.do(t, op.Method, reader.path(op), anyBody(op))
		if op.Mutating() {
			require.Equal(t, "write", got.refused(t, 403, "ADMIN_ROLE_INSUFFICIENT", name(op))["role"])
		} else {
			require.Contains(t, []int{200, 404}, got.status, "%s: %s", name(op), got.raw)
		}
		if !strings.HasPrefix(op.Path, inCompany) {
			require.True(t, op.Platform, op.ID)
			continue
		}
		nowhere := n.operator(writerToken).in(tenant.NewID())
		nowhere.operator.do(t, op.Method, nowhere.path(op), anyBody(op)).refused(t, 404, "COMPANY_NOT_FOUND", name(op))
		bad := strings.Replace(writer.path(op), id.String(), "x", 1)
		writer.operator.do(t, op.Method, bad, anyBody(op)).refused(t, 400, "VALIDATION_ERROR", name(op))
	}
}

// Wrong tokens from one address end in 429, and do not lock out the operators behind it.
func TestWrongOperatorTokensAreLimited(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	address := newAddress()
	statuses := map[int]int{}
	for range 40 {
		statuses[n.operator("guess").do(t, "GET", "/audit", "", "X-Forwarded-For", address).status]++
	}
	require.Equal(t, map[int]int{401: 30, 429: 10}, statuses)
	n.operator(writerToken).ok(t, "GET", "/audit", "", "X-Forwarded-For", address)
	n.operator(writerToken).ok(t, "GET", "/audit", "")
}

// adminOfRecord says of admin operations on one record that no sample is about of what kind the record is.
var adminOfRecord = map[string]string{ //nolint:gochecknoglobals // a constant table
	"listProductVariants": "PRODUCT", "createProductVariant": "PRODUCT", "getProductVariant": "PRODUCT", "updateProductVariant": "PRODUCT", "deleteProductVariant": "PRODUCT",
}

// adminBodies are bodies with which operations on records below another one would succeed.
var adminBodies = map[string]string{ //nolint:gochecknoglobals // a constant table
	"createAttributeOption": anOption, "updateAttributeOption": anOption, "createProductVariant": aVariant, "updateProductVariant": aVariant,
}

// Through the path of one company nothing of another company is seen or changed.
func TestEveryAdminOperationStaysInItsCompany(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	theirs := fill(t, n)
	_, mine := n.owner(t)
	me, owner := n.operator(writerToken).in(mine), n.operator(writerToken).in(theirs.company)
	for _, op := range n.admin.Ops() {
		rest := strings.TrimPrefix(op.Path, inCompany)
		if !strings.Contains(rest, "{") {
			continue
		}
		s, body, ok := sampleOf(op)
		entity := s.Entity
		if !ok {
			entity = adminOfRecord[op.ID]
			require.NotEmpty(t, entity, "%s: an operation on one record needs a sample or a row above", op.ID)
		}
		body = fillIn(cmp.Or(adminBodies[op.ID], body), theirs.id)
		path := theirs.at(httpapi.Op{Path: rest}, theirs.id[entity])
		var before string
		if !op.Mutating() {
			before = owner.ok(t, op.Method, path, "").raw
		}
		me.do(t, op.Method, path, body).refused(t, 404, entity+"_NOT_FOUND", name(op))
		if !op.Mutating() {
			require.Equal(t, before, owner.ok(t, op.Method, path, "").raw)
			continue
		}
		me.do(t, op.Method, path, body, "If-Match", `"999"`).refused(t, 404, entity+"_NOT_FOUND", name(op))
	}
}

// Each change is recorded once, with its operator and without secrets; reads, refusals and replays are not.
func TestAdminChangesAreRecorded(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	_, id := n.owner(t)
	me := n.operator(writerToken).in(id)
	unit := `{"code":"box","name":" Box ","shortName":"bx","secretNote":"x"}`
	key := uuid.NewString()
	made := me.ok(t, "POST", "/catalog/units", unit, "X-Idempotency-Key", key, "X-Request-Id", "r-1")
	require.Equal(t, made.raw, me.ok(t, "POST", "/catalog/units", unit, "X-Idempotency-Key", key).raw, "a replay")
	me.do(t, "POST", "/catalog/units", unit).refused(t, 409, "UNIT_CODE_TAKEN", "no change")
	me.do(t, "POST", "/catalog/units", `{}`).refused(t, 400, "VALIDATION_ERROR", "no change")
	me.ok(t, "GET", "/catalog/units", "")
	unitID := made.id(t)
	me.ok(t, "PATCH", "/catalog/units/"+unitID, `{"isActive":false}`)

	list := func(query string) []any {
		return n.operator(readerToken).ok(t, "GET", "/audit?companyId="+id.String()+query, "").body["items"].([]any)
	}
	all := list("")
	require.Len(t, all, 2)
	first := all[1].(map[string]any)
	require.Equal(t, []any{"ann", "createUnit", id.String(), unitID, "r-1"},
		[]any{first["operator"], first["operation"], first["companyId"], first["entityId"], first["requestId"]})
	require.JSONEq(t, `{"code":"box","isActive":true,"name":"Box","shortName":"bx"}`, first["body"].(string))
	require.Equal(t, "updateUnit", all[0].(map[string]any)["operation"], "newest first")
	require.Equal(t, unitID, all[0].(map[string]any)["entityId"])
	for query, want := range map[string]int{
		"&operation=createUnit": 1, "&operator=ann": 2, "&operator=rob": 0, "&entityId=" + unitID: 2, "&entityId=x": 0,
		"&dateFrom=2999-01-01": 0, "&dateTo=2999-01-01": 2, "&dateTo=2000-01-01": 0, "&pageSize=1": 1,
	} {
		require.Len(t, list(query), want, query)
	}
	_, other := n.owner(t)
	require.Empty(t, n.operator(readerToken).ok(t, "GET", "/audit?companyId="+other.String(), "").body["items"])
}

// adminWalk calls operations of the admin API in one company and holds every answer against the description.
type adminWalk struct {
	*promises

	t       *testing.T
	api     *httpapi.API
	company tenant.ID
	seen    map[string][]int // operation → statuses
	changes int
	record  *exampleRecorder
}

func newAdminWalk(t *testing.T, all *domains, company tenant.ID) *adminWalk {
	t.Helper()
	// Refused tokens are limited by address, so each request has its own.
	cfg := httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{}), Release: "test", Proxies: []netip.Prefix{netip.MustParsePrefix(inProcess)}}
	w := &adminWalk{promises: readPromises(t, adminFile), t: t, api: all.newAdminAPI(cfg), company: company, seen: map[string][]int{}}
	w.record = newExampleRecorder(w.promises, schemas.AdminExamples, w.page)
	return w
}

// page reads a list once more.
func (w *adminWalk) page(path string) []byte {
	got := askOf(w.t, w.api, "Bearer "+writerToken, http.MethodGet, httpapi.AdminBasePath+path, "")
	require.Equal(w.t, http.StatusOK, got.status, "%s: %s", path, got.raw)
	return []byte(got.raw)
}

// do calls an operation in the company; args fill the other {parameters}, and one that begins with ? is the query.
func (w *adminWalk) do(status int, op, body string, args ...string) map[string]any {
	w.t.Helper()
	return w.with(writerToken, status, op, body, args...)
}

func (w *adminWalk) with(token string, status int, op, body string, args ...string) map[string]any {
	w.t.Helper()
	method, path, _ := strings.Cut(op, " ")
	if w.ops[op] == nil {
		op = method + " " + inCompany + path
	}
	require.NotNil(w.t, w.ops[op], "%s is not described: run make schemas", op)
	_, path, _ = strings.Cut(op, " ")
	path = strings.Replace(path, "{companyId}", w.company.String(), 1)
	for _, arg := range args {
		if strings.HasPrefix(arg, "?") {
			path += arg
			continue
		}
		before, rest, _ := strings.Cut(path, "{")
		_, after, closed := strings.Cut(rest, "}")
		require.True(w.t, closed, "%s has no parameter for %s", op, arg)
		path = before + arg + after
	}
	got := askOf(w.t, w.api, "Bearer "+token, method, httpapi.AdminBasePath+path, body)
	require.Equal(w.t, status, got.status, "%s %s: %s", method, path, got.raw)
	require.NoError(w.t, w.checkAnswer(op, status, []byte(got.raw)))
	w.seen[op] = append(w.seen[op], status)
	w.record.record(op, path, body, status, got.header.Get("Content-Type"), []byte(got.raw))
	if method != http.MethodGet && status < http.StatusMultipleChoices {
		w.changes++
	}
	return got.body
}

// sample takes a sample through the operations that directories have, and returns its id.
func (w *adminWalk) sample(s domain.Sample, ids map[string]string) string {
	w.t.Helper()
	id, _ := w.do(201, "POST "+s.Path, fillIn(s.Create, ids))["id"].(string)
	require.NotEmpty(w.t, id, s.Entity)
	w.do(200, "GET "+s.Path, "")
	if w.ops["GET "+pathOf(s)+"/{id}"] != nil {
		w.do(200, "GET "+s.Path+"/{id}", "", id)
	}
	if s.Change != "" {
		w.do(200, "PATCH "+s.Path+"/{id}", fillIn(s.Change, ids), id)
	}
	return id
}

// deleteSamples deletes the samples that can be deleted, the last one first.
func (w *adminWalk) deleteSamples(ids map[string]string) {
	for _, s := range slices.Backward(samples()) {
		if op := "DELETE " + pathOf(s) + "/{id}"; s.Admin && w.ops[op] != nil {
			w.do(w.successOf(op), op, "", ids[s.Entity])
		}
	}
}

// refusals has the errors that every operation may answer.
func (w *adminWalk) refusals() {
	for op := range w.ops {
		method, path, _ := strings.Cut(op, " ")
		var nowhere []string
		for part := range strings.SplitSeq(strings.TrimPrefix(path, inCompany), "/") {
			if strings.HasPrefix(part, "{") {
				nowhere = append(nowhere, uuid.NewString())
			}
		}
		w.with("nobody", 401, op, "", nowhere...)
		if method != http.MethodGet {
			w.with(readerToken, 403, op, "", nowhere...)
		}
		if len(nowhere) > 0 {
			nowhere[len(nowhere)-1] = "x"
			w.do(400, op, "", nowhere...)
		}
	}
}

func (w *adminWalk) everyOperationIsSeen() {
	require.NotEmpty(w.t, w.ops)
	for op, description := range w.ops {
		for status := range description["responses"].(map[string]any) {
			n, err := strconv.Atoi(status)
			require.NoError(w.t, err)
			if n < http.StatusMultipleChoices {
				require.True(w.t, slices.Contains(w.seen[op], n), "%s never answered %d: add a step", op, n)
			}
		}
	}
	require.Len(w.t, w.ops, len(w.api.Ops()), "the committed description and the operations differ: run make schemas")
}

// companies has what is special about companies, users and tokens.
func (w *adminWalk) companies(made map[string]string) {
	w.do(200, "GET /plans", "")
	w.do(200, "GET /access", "")
	w.do(200, "GET /companies", "", fmt.Sprintf("?ids=%s&search=cycles&status=active&sort=name&withTotal=true", w.company)) // others may have the name, too
	w.do(201, "POST /companies", `{"name":"Green Street Delivery"}`)
	w.changes-- // in another company
	w.do(200, "GET ", "")
	w.do(200, "PATCH ", `{"timeZone":"Europe/Berlin","maxInFlight":null}`)
	w.do(400, "PATCH ", `{"currency":"eur","plan":"gold"}`)
	w.do(200, "POST /archive", "")
	w.do(200, "POST /restore", "")
	w.do(200, "POST /components", `{"component":"deals","enabled":false}`)
	w.do(200, "POST /components", `{"component":"deals","enabled":true}`)
	w.do(200, "POST /users/{id}/activate", "", made["USER"])
	w.do(200, "POST /users/{id}/block", "", made["USER"])
	w.do(201, "POST /tokens", `{"name":"plain","scopes":["*:read"]}`)
	w.do(200, "POST /tokens/{id}/rotate", `{"overlapHours":1}`, made["TOKEN"])
	w.do(200, "POST /tokens/{id}/revoke", "", made["TOKEN"])
	w.do(409, "POST /tokens/{id}/rotate", "", made["TOKEN"])
	price, _ := w.do(200, "POST /clients/price-lists/{id}/prices", fillIn(aPrice, made), made["PRICE_LIST"])["id"].(string)
	w.do(200, "GET /clients/price-lists/{id}/prices", "", made["PRICE_LIST"])
	w.do(204, "DELETE /clients/price-lists/{id}/prices/{priceId}", "", made["PRICE_LIST"], price)
}

// resources are made by integrations too.
func (w *adminWalk) resources() {
	id := w.do(201, "POST /scheduling/resources", `{"type":"seat","name":"Table 1","capacity":4}`)["id"].(string)
	w.do(200, "GET /scheduling/resources", "", "?type=seat&activeOnly=true")
	w.do(200, "GET /scheduling/resources/{id}", "", id)
	w.do(200, "PATCH /scheduling/resources/{id}", `{"isActive":false}`, id)
}

// warehouses are made by integrations too; which is the default one is for operators to say.
func (w *adminWalk) warehouses(made map[string]string) {
	branch := w.do(201, "POST /branches", `{"name":"Depot"}`)["id"].(string)
	depot := w.do(201, "POST /warehouse/warehouses", `{"name":"Depot","branchId":"`+branch+`"}`)["id"].(string)
	w.do(200, "GET /warehouse/warehouses", "")
	w.do(200, "GET /warehouse/warehouses/{id}", "", depot)
	w.do(200, "PATCH /warehouse/warehouses/{id}", `{"address":"Quay 1"}`, depot)
	w.do(200, "POST /warehouse/warehouses/{id}/default", "", depot)
	w.do(409, "DELETE /warehouse/warehouses/{id}", "", depot)
	w.do(200, "POST /warehouse/warehouses/{id}/default", "", made["WAREHOUSE"])
	w.do(204, "DELETE /warehouse/warehouses/{id}", "", depot)
}

// TestAdminAnswersMatchTheirSchemas goes through every operation of the admin API.
func TestAdminAnswersMatchTheirSchemas(t *testing.T) {
	t.Parallel()
	w := newWalk(t, dbtest.Open(t))
	made := w.samples()
	a := w.admin
	w.attributes(made["PRODUCT"])
	a.companies(made)
	a.warehouses(made)
	a.resources()
	a.deleteSamples(made)
	audit := a.do(200, "GET /audit", "", fmt.Sprintf("?companyId=%s&withTotal=true", w.company))
	require.EqualValues(t, a.changes, audit["total"], "each change is recorded")
	a.refusals()
	a.everyOperationIsSeen()
	a.record.settle(t)
}

// Both APIs serve their changelog and their pages without a token.
func TestChangelogIsServed(t *testing.T) {
	t.Parallel()
	n := newNode(dbtest.Open(t), alone())
	for base, api := range map[string]*httpapi.API{httpapi.BasePath: n.api, httpapi.AdminBasePath: n.admin} {
		got := askOf(t, api, "", "GET", base+"/changelog", "")
		require.Equal(t, 200, got.status)
		require.Equal(t, "text/markdown; charset=utf-8", got.header.Get("Content-Type"))
		require.True(t, strings.HasPrefix(got.raw, "# Changelog"), got.raw)
		index := askOf(t, api, "", "GET", base, "").body
		require.Equal(t, base+"/changelog", index["links"].(map[string]any)["changelog"])
		page := askOf(t, api, "", "GET", base+"/docs", "")
		require.Contains(t, page.raw, "<title>"+index["name"].(string)+"</title>")
		require.Equal(t, index["name"], askOf(t, api, "", "GET", base+"/openapi.json", "").body["info"].(map[string]any)["title"])
		require.Equal(t, 200, askOf(t, api, "", "GET", base+"/health", "").status)
		require.Equal(t, 200, askOf(t, api, "", "GET", base+"/docs/swagger-ui.css", "").status)
	}
}
