package console_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/operations"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
	"github.com/tradegrid/tradegrid/topics"
)

// do calls an operation of an API as somebody who may do anything in a company.
func (p *pages) do(api *httpapi.API, id tenant.ID, method, target string, body any) map[string]any {
	p.t.Helper()
	reached, err := p.Company.Access(p.t.Context(), id)
	require.NoError(p.t, err)
	by := httpapi.InternalCaller{Principal: reached.Principal(uuid.New(), "test", access.Scopes{"*:write"})}
	if api == p.admin {
		target = "/companies/" + id.String() + target
	}
	answer, err := apitest.Inside(p.t.Context(), api, by, method, target, body)
	require.NoError(p.t, err, "%s %s", method, target)
	var got map[string]any
	require.NoError(p.t, json.Unmarshal(answer, &got))
	return got
}

// entries are an entry of each directory, by the part of the path before the id.
func (p *pages) entries(id tenant.ID) map[string]string {
	p.t.Helper()
	name := "n" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
	all := map[string]string{}
	add := func(key, path string, body map[string]any) string {
		p.t.Helper()
		all[key], _ = p.do(p.admin, id, http.MethodPost, path, body)["id"].(string)
		return all[key]
	}
	add("/directories/units", "/catalog/units", map[string]any{"code": name, "name": name, "shortName": "n"})
	add("/directories/tax-rates", "/catalog/tax-rates", map[string]any{"name": name, "percent": 7})
	add("/directories/channels", "/channels", map[string]any{"code": name, "name": name})
	add("/directories/delivery-methods", "/delivery-methods", map[string]any{"code": name, "name": name})
	attribute := add("/directories/attributes", "/catalog/attributes", map[string]any{"name": name, "type": "select"})
	add("/options", "/catalog/attributes/"+attribute+"/options", map[string]any{"label": name})
	prices := add("/directories/price-lists", "/clients/price-lists", map[string]any{"name": name})
	product, _ := p.do(p.external, id, http.MethodPost, "/catalog/products", map[string]any{"name": name, "sku": name, "price": 1250})["id"].(string)
	add("/prices", "/clients/price-lists/"+prices+"/prices", map[string]any{"refId": product, "price": 990})
	add("/directories/client-groups", "/clients/groups", map[string]any{"name": name, "priceListId": prices})
	kind := add("/directories/deal-types", "/deals/types", map[string]any{"name": name, "alias": name})
	add("/stages", "/deals/stages", map[string]any{"typeId": kind, "name": name, "sortOrder": 9})
	add("/directories/lost-reasons", "/deals/lost-reasons", map[string]any{"name": name})
	add("/directories/sources", "/deals/sources", map[string]any{"name": name})
	branch := add("/directories/branches", "/branches", map[string]any{"name": name})
	add("/directories/warehouses", "/warehouse/warehouses", map[string]any{"name": name, "branchId": branch})
	add("/directories/resources", "/scheduling/resources", map[string]any{"name": name, "type": "seat"})
	add("/directories/exceptions", "/scheduling/exceptions", map[string]any{"name": name, "dateFrom": "2040-12-24"})
	return all
}

// Every operation of the admin API can be reached from a page of directories or records, or is named here with whose it is.
func TestTheConsoleReachesTheAdminAPI(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	elsewhere := map[string]string{
		"listAdminChanges": "audit log", "getAccess": "page of a company for operators", "listPlans": "choice of a plan", "listCompanies": "companies", "getCompany": "settings",
		"listUsers": "people", "inviteUser": "people", "getUser": "people", "activateUser": "people", "blockUser": "people", "updateUser": "people",
		"listTokens": "tokens", "issueToken": "tokens", "getToken": "tokens", "revokeToken": "tokens", "rotateToken": "tokens", "updateToken": "tokens",
		"createCompany": "companies", "updateCompany": "settings", "archiveCompany": "companies", "restoreCompany": "companies", "setCompanyComponent": "companies",
		"listDealStages": "page of a deal type, which has them", "getProductVariant": "page of a product, whose variants are listed whole",
	}
	var source strings.Builder
	for _, area := range []string{"directories", "records", "resources"} {
		files, err := filepath.Glob(area + "/*.go")
		require.NoError(t, err)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			source.Write(raw)
		}
	}
	for _, op := range p.admin.Ops() {
		if elsewhere[op.ID] == "" {
			require.Contains(t, source.String(), `"`+op.ID+`"`, "no page reaches %s", op.ID)
		}
	}
}

func TestDirectoriesInTheConsole(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	owner, viewer := p.signedIn(own.people[company.RoleOwner]), p.signedIn(own.people[company.RoleViewer])
	root := "/c/" + own.id.String() + "/directories"
	index := owner.ask(http.MethodGet, root, nil)
	require.Contains(t, index.body, "Price lists")

	got := owner.ask(http.MethodPost, root+"/units/new", url.Values{"name": {"Pallet"}, "code": {"Pa llet"}, "shortName": {"pal"}, "isActive": {"true"}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, `value="Pallet"`, "what was typed stays")
	require.Contains(t, got.body, "It has to be 1 to 16 of a-z, 0-9 and _")
	got = owner.ask(http.MethodPost, root+"/units/new", url.Values{"name": {"Pallet"}, "code": {"pallet"}, "shortName": {"pal"}, "isActive": {"true"}})
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	got = owner.ask(http.MethodPost, root+"/units/new", url.Values{"name": {"Pallet"}, "code": {"pallet"}, "shortName": {"pal"}})
	require.Contains(t, got.body, "Another unit has this code. Choose another code.", "a conflict stands beside the field that it names")
	require.Contains(t, got.body, `id="e-code"`)
	list := viewer.ask(http.MethodGet, root+"/units", nil)
	require.Contains(t, list.body, "Pallet")
	require.NotContains(t, list.body, "New unit", "who may not make one is not offered it")
	require.Equal(t, http.StatusForbidden, viewer.ask(http.MethodPost, root+"/units/new", url.Values{"name": {"x"}}).status)

	all := p.entries(own.id)
	group := root + "/client-groups/" + all["/directories/client-groups"]
	require.Contains(t, viewer.ask(http.MethodGet, group, nil).body, "Price list")
	prices := root + "/price-lists/" + all["/directories/price-lists"]
	got = owner.ask(http.MethodPost, prices+"/delete", nil)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, "1 group have the price list", "the refusal says what has it")
	require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, group+"/delete", nil).status)
	require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, prices+"/delete", nil).status)
	require.Equal(t, http.StatusNotFound, owner.ask(http.MethodGet, prices, nil).status)

	version := regexp.MustCompile(`name="version" value="(\d+)"`).FindStringSubmatch(owner.ask(http.MethodGet, root+"/branches/"+all["/directories/branches"], nil).body)
	require.NotNil(t, version)
	p.do(p.admin, own.id, http.MethodPatch, "/branches/"+all["/directories/branches"], map[string]any{"name": "Harbour"})
	got = owner.ask(http.MethodPost, root+"/branches/"+all["/directories/branches"], url.Values{"name": {"Old town"}, "version": {version[1]}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status, "what somebody else has changed meanwhile is not overwritten")
}

// The order of stages is changed by a button or by dragging, and only as far as needed.
func TestStagesAreOrdered(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	owner := p.signedIn(own.people[company.RoleOwner])
	made := p.do(p.admin, own.id, http.MethodPost, "/deals/types", map[string]any{"name": "Rental", "alias": "rental"})
	kind, _ := made["id"].(string)
	at := "/c/" + own.id.String() + "/directories/deal-types/" + kind
	row := regexp.MustCompile(`<tr data-id="([0-9a-f-]+)"[^>]*><td><a[^>]*>([^<]+)</a>`)
	order := func() (ids, names []string) {
		for _, m := range row.FindAllStringSubmatch(owner.ask(http.MethodGet, at, nil).body, -1) {
			ids, names = append(ids, m[1]), append(names, m[2])
		}
		return ids, names
	}
	ids, names := order()
	require.Equal(t, []string{"New", "Qualification", "Proposal", "Won", "Lost"}, names)
	got := owner.ask(http.MethodPost, at+"/stages/order", url.Values{"up": {ids[2]}})
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	require.Contains(t, got.location, "moved="+ids[2])
	_, names = order()
	require.Equal(t, []string{"New", "Proposal", "Qualification", "Won", "Lost"}, names)
	require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, at+"/stages/order", url.Values{"order": {strings.Join([]string{ids[1], ids[0], ids[2]}, ",")}}).status)
	_, names = order()
	require.Equal(t, []string{"Qualification", "New", "Proposal", "Won", "Lost"}, names, "those that the order does not name stay at the end")
	got = owner.ask(http.MethodPost, at+"/stages/new", url.Values{"name": {"Delivery"}})
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	_, names = order()
	require.Equal(t, "Delivery", names[5], "a new stage is the last")
}

func TestWorkingHoursInTheConsole(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	owner := p.signedIn(own.people[company.RoleOwner])
	made := p.do(p.admin, own.id, http.MethodPost, "/scheduling/resources", map[string]any{"name": "Chair", "type": "seat"})
	id, _ := made["id"].(string)
	at := "/c/" + own.id.String() + "/directories/resources/" + id
	require.Contains(t, owner.ask(http.MethodGet, at, nil).body, "No hours are set")
	got := owner.ask(http.MethodPost, at+"/hours", url.Values{"day1": {"9-12"}, "day2": {"late"}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Regexp(t, `id="e-day2">late: It has to be a time`, got.body)
	got = owner.ask(http.MethodPost, at+"/hours", url.Values{"day1": {"9-12, 18–13:00"}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, "It must end after")
	require.Contains(t, got.body, "9-12, 18–13:00", "what was typed stays")
	got = owner.ask(http.MethodPost, at+"/hours", url.Values{"day1": {"9-12, 13:00–18:30"}, "copy": {"1"}})
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, 5, strings.Count(got.body, `value="09:00–12:00, 13:00–18:30"`), "Monday to Friday")
	got = owner.ask(http.MethodPost, at+"/hours", url.Values{"day1": {"9-12, 13:00–18:30"}, "day7": {"0:00 to 24"}})
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	stored := p.do(p.admin, own.id, http.MethodGet, "/scheduling/resources/"+id, nil)
	require.Equal(t, []any{
		map[string]any{"weekday": 1.0, "from": "09:00", "to": "12:00"}, map[string]any{"weekday": 1.0, "from": "13:00", "to": "18:30"}, map[string]any{"weekday": 7.0, "from": "00:00", "to": "24:00"},
	}, stored["workingHours"])
	require.Contains(t, owner.ask(http.MethodGet, at, nil).body, "Monday 13:00–18:30")
}

// A shop enters a holiday, and the hours of another day as people say them.
func TestDaysOffInTheConsole(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	owner := p.signedIn(own.people[company.RoleOwner])
	made := p.do(p.admin, own.id, http.MethodPost, "/scheduling/resources", map[string]any{"name": "Chair", "type": "seat"})
	id, _ := made["id"].(string)
	at := "/c/" + own.id.String() + "/directories/exceptions"
	require.Contains(t, owner.ask(http.MethodGet, at+"/new", nil).body, `<option value="" selected>All</option>`)
	got := owner.ask(http.MethodPost, at+"/new", url.Values{"name": {"Winter break"}, "resourceId": {""}, "dateFrom": {"2040-12-28"}, "dateTo": {"2040-12-29"}, "hours": {""}})
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	form := url.Values{"name": {"Half day"}, "resourceId": {id}, "dateFrom": {"2040-12-27"}, "hours": {"9-12, 18–13:00"}}
	got = owner.ask(http.MethodPost, at+"/new", form)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, "18:00–13:00: Each end comes after its beginning")
	require.Contains(t, got.body, `value="9-12, 18–13:00"`, "what was typed stays")
	form.Set("hours", "9-12, 13:00–16")
	require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, at+"/new", form).status)
	all := p.do(p.admin, own.id, http.MethodGet, "/scheduling/exceptions?sort=dateFrom&order=asc&dateFrom=2040-12-27", nil)
	items, _ := all["items"].([]any)
	require.Len(t, items, 2)
	eve, _ := items[0].(map[string]any)
	require.Equal(t, []any{"2040-12-27", id, []any{map[string]any{"from": "09:00", "to": "12:00"}, map[string]any{"from": "13:00", "to": "16:00"}}}, []any{eve["dateTo"], eve["resourceId"], eve["hours"]})
	page := owner.ask(http.MethodGet, at, nil).body
	require.Regexp(t, `(?s)Winter break<.*All<.*28 Dec 2040<.*29 Dec 2040<.*Closed<.*Half day<.*Chair<.*27 Dec 2040<.*09:00–12:00, 13:00–16:00<`, page)
	entry, _ := eve["id"].(string)
	require.Contains(t, owner.ask(http.MethodGet, at+"/"+entry, nil).body, `value="09:00–12:00, 13:00–16:00"`)
	require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, at+"/"+entry, url.Values{"hours": {""}, "name": {"Half day"}}).status)
	require.Equal(t, []any{}, p.do(p.admin, own.id, http.MethodGet, "/scheduling/exceptions/"+entry, nil)["hours"])
	require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, at+"/"+entry+"/delete", nil).status)

	day := owner.ask(http.MethodGet, "/c/"+own.id.String()+"/bookings?day=2040-12-28", nil).body
	require.Regexp(t, `Chair</a> <span class="muted">Winter break`, day)
	week := owner.ask(http.MethodGet, "/c/"+own.id.String()+"/bookings?view=week&day=2040-12-28", nil).body
	require.Equal(t, 2*strings.Count(week, `scope="row"`), strings.Count(week, `<span class="off">Winter break</span>`))
}

func TestPricesInTheConsole(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	owner := p.signedIn(own.people[company.RoleOwner])
	all := p.entries(own.id)
	product := p.do(p.external, own.id, http.MethodPost, "/catalog/products", map[string]any{"name": "Blue helmet", "sku": "HEL-1", "price": 4900})
	id, _ := product["id"].(string)
	at := "/c/" + own.id.String() + "/directories/price-lists/" + all["/directories/price-lists"]
	require.Contains(t, owner.ask(http.MethodGet, at+"?item=HEL-1", nil).body, `name="refId" value="`+id+`"`)
	require.Contains(t, owner.ask(http.MethodGet, at+"?item=nowhere", nil).body, "Nothing is called nowhere")
	form := url.Values{"kind": {"product"}, "refId": {id}, "price": {"a lot"}}
	got := owner.ask(http.MethodPost, at+"/prices", form)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	form.Set("price", "39,90")
	got = owner.ask(http.MethodPost, at+"/prices", form)
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	page := owner.ask(http.MethodGet, at, nil).body
	require.Contains(t, page, "Blue helmet · HEL-1")
	require.Contains(t, page, "$39.90")
	require.Contains(t, page, "$49.00", "beside the usual price")
}

// People change what is theirs, and only that: plan and limits are agreed with the operators.
func TestCompanySettingsInTheConsole(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	owner, developer := p.signedIn(own.people[company.RoleOwner]), p.signedIn(own.people[company.RoleDeveloper])
	at := "/c/" + own.id.String() + "/settings"
	got := owner.ask(http.MethodPost, at, url.Values{"name": {"Nordic"}, "timeZone": {"Mars/Olympus"}, "currency": {"EUR"}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, `value="Mars/Olympus"`)
	require.Contains(t, got.body, `id="e-timeZone"`)
	got = owner.ask(http.MethodPost, at, url.Values{"name": {"Nordic"}, "timeZone": {"Europe/Oslo"}, "plan": {"enterprise"}, "maxInFlight": {"9999"}, "homeRegion": {"moon"}})
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	c, err := p.Company.Get(t.Context(), own.id)
	require.NoError(t, err)
	require.Equal(t, []any{"Nordic", "Europe/Oslo", "business", ""}, []any{c.Name, c.TimeZone, c.Plan, c.HomeRegion})
	require.Nil(t, c.MaxInFlight)
	page := owner.ask(http.MethodGet, at, nil)
	form := owner.filledIn(page)
	form["reminder.time"], form["reminder.unit"] = []string{"1", "2"}, []string{"days", "hours"}
	got = owner.ask(http.MethodPost, at, form)
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	c, err = p.Company.Get(t.Context(), own.id)
	require.NoError(t, err)
	require.Equal(t, []int32{1440, 120}, c.BookingReminders)
	form["reminder.time"] = []string{"1", "soon"}
	got = owner.ask(http.MethodPost, at, form)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, `id="e-bookingReminders"`)
	require.Contains(t, got.body, `value="soon"`)
	page = developer.ask(http.MethodGet, at, nil)
	require.Contains(t, page.body, "Europe/Oslo")
	require.NotContains(t, page.body, "<form class=\"form\"")
}

// Pages of operators do not exist for others, and those who may only read change nothing on them.
func TestPagesOfOperators(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	owner, reader := p.signedIn(own.people[company.RoleOwner]), p.operator(p.read)
	walked := 0
	for _, route := range p.app.Pages() {
		if route.Audience != web.Operators {
			continue
		}
		walked++
		method, path := address(route.Pattern(), own.id, nil)
		path = strings.Replace(path, "/companies/"+segment(path, 2), "/companies/"+own.id.String(), 1)
		if path == "/companies/"+own.id.String() && strings.HasSuffix(route.Path, "/new") {
			path = route.Path
		}
		got := owner.ask(method, path, nil)
		require.Equal(t, http.StatusNotFound, got.status, route.Pattern())
		got = reader.ask(method, path, nil)
		if method == http.MethodPost || strings.HasSuffix(route.Path, "/new") {
			require.Equal(t, http.StatusForbidden, got.status, route.Pattern())
		} else {
			require.Equal(t, http.StatusOK, got.status, "%s: %s", route.Pattern(), got.body)
			require.NotContains(t, got.body, `<form class="form" method="post"`, route.Pattern())
		}
	}
	require.Greater(t, walked, 15)
}

// segment is a part of a path; "" if it has no such one.
func segment(path string, i int) string {
	parts := strings.Split(path, "/")
	if i >= len(parts) || parts[1] != "companies" {
		return "\x00"
	}
	return parts[i]
}

func TestOperatorsMakeCompanies(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	bob := p.operator(p.write)
	email := uuid.NewString() + "@example.com"
	form := url.Values{"name": {""}, "plan": {"business"}, "isTest": {"true"}, "currency": {"EUR"}, "timeZone": {"Europe/Berlin"}, "locale": {"de-DE"}, "countryPrefix": {"+49"}, "email": {""}}
	got := bob.ask(http.MethodPost, "/companies/new", form)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, `id="e-name"`)
	require.Contains(t, got.body, `id="e-email"`, "all that is missing is said at once")
	form.Set("name", "Nordic "+email)
	form.Set("email", "nobody")
	require.Equal(t, http.StatusUnprocessableEntity, bob.ask(http.MethodPost, "/companies/new", form).status)
	form.Set("email", email)
	got = bob.ask(http.MethodPost, "/companies/new", form)
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	at, _, _ := strings.Cut(got.location, "?")
	id := tenant.ID(uuid.MustParse(strings.TrimPrefix(at, "/companies/")))
	found := bob.ask(http.MethodGet, "/companies?kind=test&q="+url.QueryEscape("Nordic "+email), nil).body
	require.Equal(t, 1, strings.Count(found, `href="`+at+`"`), "an input that is refused makes no company")
	var mail string
	require.NoError(t, p.DB.QueryRow(t.Context(), `SELECT body FROM notices WHERE company_id = $1 AND recipient = $2`, id, email).Scan(&mail))
	require.Contains(t, mail, "/link/")

	page := bob.ask(http.MethodGet, at, nil).body
	require.Contains(t, page, "Marketing")
	require.Equal(t, 303, bob.ask(http.MethodPost, at+"/components", url.Values{"component": {"marketing"}, "enabled": {"false"}}).status)
	require.Equal(t, http.StatusUnprocessableEntity, bob.ask(http.MethodPost, at+"/components", url.Values{"component": {"core"}, "enabled": {"false"}}).status)
	require.Equal(t, 303, bob.ask(http.MethodPost, at, url.Values{"plan": {"enterprise"}, "maxInFlight": {"7"}}).status)
	require.Equal(t, 303, bob.ask(http.MethodPost, at+"/archive", nil).status)
	c, err := p.Company.Get(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []any{"archived", "enterprise", int32(7)}, []any{c.Status, c.Plan, *c.MaxInFlight})
	require.NotContains(t, c.Components, "marketing")
	require.Equal(t, 303, bob.ask(http.MethodPost, at+"/restore", nil).status)
	require.Contains(t, bob.ask(http.MethodGet, at+"/usage?days=1", nil).body, time.Now().UTC().Format(time.DateOnly))
	var n int
	require.NoError(t, p.DB.QueryRow(t.Context(), `SELECT count(*) FROM admin_changes WHERE of_company = $1 AND operator = 'bob'`, id).Scan(&n))
	require.Equal(t, 5, n, "each change has its record")
}

// The pages of the platform show what the command line does, and work without brokers as far as they can.
func TestPlatformPages(t *testing.T) {
	t.Parallel()
	g := rolestest.NewGraveyard(t, 2004)
	p := newPages(t)
	broker := kafka.Config{Brokers: strings.Split(strings.TrimPrefix(g.Brokers, "--kafka-brokers="), ","), ClientID: "test"}
	without := p.operator(p.write)
	for _, path := range []string{"/platform/pipeline", "/platform/dead-letters", "/platform/topics"} {
		got := without.ask(http.MethodGet, path, nil)
		require.Equal(t, http.StatusOK, got.status, path)
		require.Contains(t, got.body, "--kafka-brokers", path)
	}
	require.Contains(t, without.ask(http.MethodGet, "/platform/dead-letters?source=outbox", nil).body, "MESSAGE_TOO_LARGE", "the outbox is in the database")
	require.NotContains(t, without.ask(http.MethodGet, "/platform/pipeline", nil).body, "/platform/mail", "there is no mailbox in production")

	mails := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(mails, "account.1.eml"), []byte("To: kim@example.com\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nDate: Tue, 24 Nov 2026 10:00:00 +0000\r\n"+
		"Content-Transfer-Encoding: quoted-printable\r\n\r\nOpen https://console.example.com/link/a=3Db.\r\n<script>x</script>\r\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(mails), "secret.eml"), []byte("Subject: no\r\n\r\n"), 0o600))
	platform := p.NewPlatformWith(operations.Config{Brokers: &broker, Topics: topics.Local(), Replicas: 1})
	defer platform.Close()
	p.app = p.newApp(roles.WebConfig{URL: "https://console.example.com", Platform: platform, MailDir: mails})
	bob := p.operator(p.write)
	pipeline := bob.ask(http.MethodGet, "/platform/pipeline?hours=24", nil).body
	require.Contains(t, pipeline, "Consumer groups")
	require.Contains(t, pipeline, `<a href="/platform/pipeline?hours=24" aria-current="true">`)
	letters := bob.ask(http.MethodGet, "/platform/dead-letters?source=events", nil).body
	require.Contains(t, letters, "unexpected end")
	require.Contains(t, letters, "/c/"+g.Company.String()+"/events/"+g.IDs[operations.DeadEvents].String())
	got := bob.ask(http.MethodPost, "/platform/dead-letters/redeliver", url.Values{"source": {"events"}})
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Equal(t, 1, g.Count(t, `SELECT count(*) FROM outbox WHERE company_id = $1 AND id = $2`, g.IDs[operations.DeadEvents]))
	require.Equal(t, 1, g.Count(t, `SELECT count(*) FROM admin_changes WHERE of_company = $1 AND operation = 'redeliverDeadLetters' AND operator = 'bob'`))
	require.Equal(t, http.StatusBadRequest, bob.ask(http.MethodPost, "/platform/dead-letters/purge", url.Values{"source": {"webhooks"}}).status)
	require.Contains(t, bob.ask(http.MethodGet, "/platform/topics", nil).body, "differences", "the topics of this broker are those of tests")

	mail := bob.ask(http.MethodGet, "/platform/mail", nil).body
	require.Contains(t, mail, "Grüße")
	one := bob.ask(http.MethodGet, "/platform/mail/account.1.eml", nil).body
	require.Contains(t, one, `href="https://console.example.com/link/a=b"`)
	require.NotContains(t, one, "<script>x")
	for _, name := range []string{"..%2Fsecret.eml", "other.eml", ".eml", "account.1.txt"} {
		require.Equal(t, http.StatusNotFound, bob.ask(http.MethodGet, "/platform/mail/"+name, nil).status, name)
	}
}

func TestChecksAndJobsOfThePlatform(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	bob := p.operator(p.write)
	got := bob.ask(http.MethodGet, "/platform/checks?check=events&last=1h&company="+own.id.String(), nil)
	require.Equal(t, http.StatusOK, got.status)
	require.Regexp(t, "Even: all|deliveries are missing", got.body)
	require.Equal(t, http.StatusUnprocessableEntity, bob.ask(http.MethodGet, "/platform/checks?check=stock&stock-of=mine", nil).status)

	product := p.do(p.external, own.id, http.MethodPost, "/catalog/products", map[string]any{"name": "Lamp", "price": 100, "hasStock": true})
	warehouse := p.do(p.admin, own.id, http.MethodGet, "/warehouse/warehouses", nil)
	first, _ := warehouse["items"].([]any)[0].(map[string]any)
	p.do(p.external, own.id, http.MethodPost, "/warehouse/stocks/adjust", map[string]any{"productId": product["id"], "warehouseId": first["id"], "targetQty": 5, "reason": "count"})
	check := "/platform/checks?check=stock&stock-of=" + own.id.String()
	require.Contains(t, bob.ask(http.MethodGet, check, nil).body, "The stock is the sum of its parts")
	_, err := p.DB.Exec(t.Context(), `UPDATE stocks SET qty = 7 WHERE company_id = $1 AND product_id = $2`, own.id, product["id"])
	require.NoError(t, err)
	require.Contains(t, bob.ask(http.MethodGet, check, nil).body, "1 quantity differs")
	require.Equal(t, 303, bob.ask(http.MethodPost, "/platform/checks/stock", url.Values{"stock-of": {own.id.String()}}).status)
	require.Contains(t, bob.ask(http.MethodGet, check, nil).body, "The stock is the sum of its parts")

	_, err = p.DB.Exec(t.Context(), `INSERT INTO jobs (company_id, id, type, status, resources, caller, input, state, steps, done, total, result_bytes, tries, run_at, served_at, lease_owner, lease_epoch,
 lease_until, created_at, updated_at, ended_at, expires_at, error)
VALUES ($1, $2, 'export/2', 'failed', '{}', '{}', '{}', '{}', 0, 3, 9, 0, 0, $3, $3, '', 0, $3, $3, $3, $3, $4, '{"code":"EXPORT_FAILED","message":"<b>no</b>","meta":{}}')`, own.id, uuid.New(), time.Now(), time.Now().Add(time.Hour))
	require.NoError(t, err)
	for _, path := range []string{"/platform/jobs?state=failed", "/platform/jobs?company=" + own.id.String()} {
		page := bob.ask(http.MethodGet, path, nil).body
		require.Contains(t, page, "EXPORT_FAILED", path)
		require.Contains(t, page, "&lt;b&gt;no", path)
		require.Contains(t, page, own.name, path)
	}
	require.NotContains(t, bob.ask(http.MethodGet, "/platform/jobs", nil).body, "EXPORT_FAILED", "it has ended")
	_, err = p.DB.Exec(t.Context(), `INSERT INTO processes (id, node, role, release, contracts, started_at, expires_at) VALUES ($1, 'pod-1', 'relay', 'v9.8.7', '{}', $2, $3)`,
		uuid.New(), time.Now(), time.Now().Add(time.Minute))
	require.NoError(t, err)
	require.Contains(t, bob.ask(http.MethodGet, "/platform/nodes", nil).body, "v9.8.7")
}
