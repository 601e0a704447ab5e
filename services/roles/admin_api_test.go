package roles_test

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
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// Every admin operation asks for the token of an operator, which no token of a company is.
func TestEveryAdminOperationNeedsAnOperator(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	owner, id := n.Owner(t)
	me := n.Operator(rolestest.WriterToken).In(id)
	require.NotEmpty(t, n.Admin.Ops())
	for _, op := range n.Admin.Ops() {
		for what, header := range map[string]string{
			"no token": "", "another scheme": "Basic " + rolestest.WriterToken, "no scheme": rolestest.WriterToken, "unknown": "Bearer " + rolestest.WriterToken + "x",
			"of a company": "Bearer " + owner.Token, "the hash": "Bearer " + strings.Split(secret.OperatorLine("a", "read", rolestest.WriterToken), ":")[2],
		} {
			got := rolestest.AskOf(t, n.Admin, header, op.Method, httpapi.AdminBasePath+me.Path(op), rolestest.AnyBody(op))
			got.Refused(t, 401, "AUTH_API_TOKEN_INVALID", what+": "+rolestest.Name(op))
			require.NotEmpty(t, got.Header.Get("WWW-Authenticate"))
		}
	}
	owner.Do(t, "GET", "/token", "").ID(t)
	n.Ask(t, "Bearer "+rolestest.WriterToken, "GET", "/token", "").Refused(t, 401, "AUTH_API_TOKEN_INVALID", "an operator is no caller of the external API")
}

// An operator with the role read changes nothing; unknown companies are 404.
func TestEveryAdminOperationNeedsItsRole(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	_, id := n.Owner(t)
	reader, writer := n.Operator(rolestest.ReaderToken).In(id), n.Operator(rolestest.WriterToken).In(id)
	for _, op := range n.Admin.Ops() {
		got := reader.Operator.Do(t, op.Method, reader.Path(op), rolestest.AnyBody(op))
		if op.Mutating() {
			require.Equal(t, "write", got.Refused(t, 403, "ADMIN_ROLE_INSUFFICIENT", rolestest.Name(op))["role"])
		} else {
			require.Contains(t, []int{200, 404}, got.Status, "%s: %s", rolestest.Name(op), got.Raw)
		}
		if !strings.HasPrefix(op.Path, inCompany) {
			require.True(t, op.Platform, op.ID)
			continue
		}
		nowhere := n.Operator(rolestest.WriterToken).In(tenant.NewID())
		nowhere.Operator.Do(t, op.Method, nowhere.Path(op), rolestest.AnyBody(op)).Refused(t, 404, "COMPANY_NOT_FOUND", rolestest.Name(op))
		bad := strings.Replace(writer.Path(op), id.String(), "x", 1)
		writer.Operator.Do(t, op.Method, bad, rolestest.AnyBody(op)).Refused(t, 400, "VALIDATION_ERROR", rolestest.Name(op))
	}
}

// Wrong tokens from one address end in 429, and do not lock out the operators behind it.
func TestWrongOperatorTokensAreLimited(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	address := rolestest.NewAddress()
	statuses := map[int]int{}
	for range 40 {
		statuses[n.Operator("guess").Do(t, "GET", "/audit", "", "X-Forwarded-For", address).Status]++
	}
	require.Equal(t, map[int]int{401: 30, 429: 10}, statuses)
	n.Operator(rolestest.WriterToken).OK(t, "GET", "/audit", "", "X-Forwarded-For", address)
	n.Operator(rolestest.WriterToken).OK(t, "GET", "/audit", "")
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
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	theirs := fill(t, n)
	_, mine := n.Owner(t)
	me, owner := n.Operator(rolestest.WriterToken).In(mine), n.Operator(rolestest.WriterToken).In(theirs.company)
	for _, op := range n.Admin.Ops() {
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
		body = rolestest.FillIn(cmp.Or(adminBodies[op.ID], body), theirs.id)
		path := theirs.at(httpapi.Op{Path: rest}, theirs.id[entity])
		var before string
		if !op.Mutating() {
			before = owner.OK(t, op.Method, path, "").Raw
		}
		me.Do(t, op.Method, path, body).Refused(t, 404, entity+"_NOT_FOUND", rolestest.Name(op))
		if !op.Mutating() {
			require.Equal(t, before, owner.OK(t, op.Method, path, "").Raw)
			continue
		}
		me.Do(t, op.Method, path, body, "If-Match", `"999"`).Refused(t, 404, entity+"_NOT_FOUND", rolestest.Name(op))
	}
}

// Each change is recorded once, with its operator and without secrets; reads, refusals and replays are not.
func TestAdminChangesAreRecorded(t *testing.T) {
	t.Parallel()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	_, id := n.Owner(t)
	me := n.Operator(rolestest.WriterToken).In(id)
	unit := `{"code":"box","name":" Box ","shortName":"bx","secretNote":"x"}`
	key := uuid.NewString()
	made := me.OK(t, "POST", "/catalog/units", unit, "X-Idempotency-Key", key, "X-Request-Id", "r-1")
	require.Equal(t, made.Raw, me.OK(t, "POST", "/catalog/units", unit, "X-Idempotency-Key", key).Raw, "a replay")
	me.Do(t, "POST", "/catalog/units", unit).Refused(t, 409, "UNIT_CODE_TAKEN", "no change")
	me.Do(t, "POST", "/catalog/units", `{}`).Refused(t, 400, "VALIDATION_ERROR", "no change")
	me.OK(t, "GET", "/catalog/units", "")
	unitID := made.ID(t)
	me.OK(t, "PATCH", "/catalog/units/"+unitID, `{"isActive":false}`)

	list := func(query string) []any {
		return n.Operator(rolestest.ReaderToken).OK(t, "GET", "/audit?companyId="+id.String()+query, "").Body["items"].([]any)
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
	_, other := n.Owner(t)
	require.Empty(t, n.Operator(rolestest.ReaderToken).OK(t, "GET", "/audit?companyId="+other.String(), "").Body["items"])
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

func newAdminWalk(t *testing.T, all *roles.Domains, company tenant.ID) *adminWalk {
	t.Helper()
	// Refused tokens are limited by address, so each request has its own.
	cfg := httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{}), Release: "test", Proxies: []netip.Prefix{netip.MustParsePrefix(rolestest.InProcess)}}
	w := &adminWalk{promises: readPromises(t, adminFile), t: t, api: all.NewAdminAPI(cfg), company: company, seen: map[string][]int{}}
	w.record = newExampleRecorder(w.promises, schemas.AdminExamples, w.page)
	return w
}

// page reads a list once more.
func (w *adminWalk) page(path string) []byte {
	got := rolestest.AskOf(w.t, w.api, "Bearer "+rolestest.WriterToken, http.MethodGet, httpapi.AdminBasePath+path, "")
	require.Equal(w.t, http.StatusOK, got.Status, "%s: %s", path, got.Raw)
	return []byte(got.Raw)
}

// do calls an operation in the company; args fill the other {parameters}, and one that begins with ? is the query.
func (w *adminWalk) do(status int, op, body string, args ...string) map[string]any {
	w.t.Helper()
	return w.with(rolestest.WriterToken, status, op, body, args...)
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
	got := rolestest.AskOf(w.t, w.api, "Bearer "+token, method, httpapi.AdminBasePath+path, body)
	require.Equal(w.t, status, got.Status, "%s %s: %s", method, path, got.Raw)
	require.NoError(w.t, w.checkAnswer(op, status, []byte(got.Raw)))
	require.NoError(w.t, w.checkHeaders(op, status, got.Header))
	w.seen[op] = append(w.seen[op], status)
	w.record.record(op, path, body, status, got.Header.Get("Content-Type"), []byte(got.Raw))
	if method != http.MethodGet && status < http.StatusMultipleChoices {
		w.changes++
	}
	return got.Body
}

// sample takes a sample through the operations that directories have, and returns its id.
func (w *adminWalk) sample(s domain.Sample, ids map[string]string) string {
	w.t.Helper()
	id, _ := w.do(201, "POST "+s.Path, rolestest.FillIn(s.Create, ids))["id"].(string)
	require.NotEmpty(w.t, id, s.Entity)
	w.do(200, "GET "+s.Path, "")
	if w.ops["GET "+pathOf(s)+"/{id}"] != nil {
		w.do(200, "GET "+s.Path+"/{id}", "", id)
	}
	if s.Change != "" {
		w.do(200, "PATCH "+s.Path+"/{id}", rolestest.FillIn(s.Change, ids), id)
	}
	return id
}

// deleteSamples deletes the samples that can be deleted, the last one first.
func (w *adminWalk) deleteSamples(ids map[string]string) {
	for _, s := range slices.Backward(rolestest.Samples()) {
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
			w.with(rolestest.ReaderToken, 403, op, "", nowhere...)
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
	price, _ := w.do(200, "POST /clients/price-lists/{id}/prices", rolestest.FillIn(aPrice, made), made["PRICE_LIST"])["id"].(string)
	w.do(200, "GET /clients/price-lists/{id}/prices", "", made["PRICE_LIST"])
	w.do(204, "DELETE /clients/price-lists/{id}/prices/{priceId}", "", made["PRICE_LIST"], price)
}

// resources are made by integrations too.
func (w *adminWalk) resources() {
	id := w.do(201, "POST /scheduling/resources", `{"type":"seat","name":"Table 1","capacity":4}`)["id"].(string)
	w.do(200, "GET /scheduling/resources", "", "?type=seat&activeOnly=true")
	w.do(200, "GET /scheduling/resources/{id}", "", id)
	w.do(200, "PATCH /scheduling/resources/{id}", `{"isActive":false}`, id)
	closed := w.do(201, "POST /scheduling/exceptions", `{"name":"Christmas","dateFrom":"2040-12-25","dateTo":"2040-12-26"}`)["id"].(string)
	w.do(200, "GET /scheduling/exceptions", "", "?dateFrom=2040-12-01&dateTo=2040-12-31")
	w.do(200, "GET /scheduling/exceptions/{id}", "", closed)
	w.do(200, "PATCH /scheduling/exceptions/{id}", `{"hours":[{"from":"10:00","to":"14:00"}]}`, closed)
	w.do(204, "DELETE /scheduling/exceptions/{id}", "", closed)
}

// directories of customers are kept by integrations too.
func (w *adminWalk) directories() {
	list := w.do(201, "POST /clients/price-lists", `{"name":"Fleets"}`)["id"].(string)
	w.do(200, "GET /clients/price-lists", "")
	w.do(200, "GET /clients/price-lists/{id}", "", list)
	w.do(200, "PATCH /clients/price-lists/{id}", `{"name":"Large fleets"}`, list)
	group := w.do(201, "POST /clients/groups", `{"name":"Couriers","priceListId":"`+list+`"}`)["id"].(string)
	w.do(200, "GET /clients/groups", "")
	w.do(200, "GET /clients/groups/{id}", "", group)
	w.do(200, "PATCH /clients/groups/{id}", `{"name":"Bike couriers"}`, group)
	w.do(204, "DELETE /clients/groups/{id}", "", group)
	w.do(204, "DELETE /clients/price-lists/{id}", "", list)
}

// taxRates are made by integrations too.
func (w *adminWalk) taxRates() {
	id := w.do(201, "POST /catalog/tax-rates", `{"name":"Reduced rate","percent":7,"kind":"reduced"}`)["id"].(string)
	w.do(200, "GET /catalog/tax-rates", "", "?kind=reduced&isActive=true")
	w.do(200, "GET /catalog/tax-rates/{id}", "", id)
	w.do(200, "PATCH /catalog/tax-rates/{id}", `{"isActive":false}`, id)
}

// codes are made by integrations too.
func (w *adminWalk) codes() {
	id := w.do(201, "POST /channels", `{"code":"flea_market","name":"Flea market"}`)["id"].(string)
	w.do(200, "GET /channels", "")
	w.do(200, "GET /channels/{id}", "", id)
	w.do(200, "PATCH /channels/{id}", `{"isActive":false}`, id)
	id = w.do(201, "POST /delivery-methods", `{"code":"trailer","name":"Bike trailer"}`)["id"].(string)
	w.do(200, "GET /delivery-methods", "")
	w.do(200, "GET /delivery-methods/{id}", "", id)
	w.do(200, "PATCH /delivery-methods/{id}", `{"name":"Trailer"}`, id)
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
	a.directories()
	a.taxRates()
	a.codes()
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
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	for base, api := range map[string]*httpapi.API{httpapi.BasePath: n.API, httpapi.AdminBasePath: n.Admin} {
		got := rolestest.AskOf(t, api, "", "GET", base+"/changelog", "")
		require.Equal(t, 200, got.Status)
		require.Equal(t, "text/markdown; charset=utf-8", got.Header.Get("Content-Type"))
		require.True(t, strings.HasPrefix(got.Raw, "# Changelog"), got.Raw)
		index := rolestest.AskOf(t, api, "", "GET", base, "").Body
		require.Equal(t, base+"/changelog", index["links"].(map[string]any)["changelog"])
		page := rolestest.AskOf(t, api, "", "GET", base+"/docs", "")
		require.Contains(t, page.Raw, "<title>"+index["name"].(string)+"</title>")
		require.Equal(t, index["name"], rolestest.AskOf(t, api, "", "GET", base+"/openapi.json", "").Body["info"].(map[string]any)["title"])
		require.Equal(t, 200, rolestest.AskOf(t, api, "", "GET", base+"/health", "").Status)
		require.Equal(t, 200, rolestest.AskOf(t, api, "", "GET", base+"/docs/swagger-ui.css", "").Status)
	}
}
