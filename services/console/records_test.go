package console_test

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// pagesOf are the resources whose records have pages made of the table of resources.
func pagesOf() []resources.Resource {
	return slices.DeleteFunc(resources.All(), func(r resources.Resource) bool { return r.Get == "" || r.Elsewhere })
}

// call calls an operation as a token with all scopes would, and returns the answer.
func (p *pages) call(s premises, api *httpapi.API, method, path, body string) map[string]any {
	p.t.Helper()
	reached, err := p.Company.Access(p.t.Context(), s.id)
	require.NoError(p.t, err)
	by := httpapi.InternalCaller{Principal: reached.Principal(s.people[company.RoleOwner].ID, "test", access.Scopes{"*:write"}), Address: netip.MustParseAddr("192.0.2.9")}
	var sent any
	if body != "" {
		sent = json.RawMessage(body)
	}
	raw, err := apitest.Inside(p.t.Context(), api, by, method, path, sent)
	require.NoError(p.t, err, "%s %s", method, path)
	var answer map[string]any
	require.NoError(p.t, json.Unmarshal(raw, &answer), string(raw))
	return answer
}

// business makes a record of each kind that has a page, from the samples of the domains.
func (p *pages) business(s premises) {
	p.t.Helper()
	ids := map[string]string{}
	_, err := roles.ChangeWith(p.t.Context(), p.DB, "test", s.id, p.Company.CreateBranch, company.BranchFields{Name: "Annex"}) // for the second warehouse
	require.NoError(p.t, err)
	for _, one := range rolestest.Samples() {
		api, path := p.external, cmp.Or(one.CreatePath, one.Path)
		if one.Admin {
			api, path = p.admin, "/companies/"+s.id.String()+path
		}
		id, _ := p.call(s, api, http.MethodPost, path, rolestest.FillIn(one.Create, ids))["id"].(string)
		ids[one.Entity] = id
		for _, res := range pagesOf() {
			if list, _ := p.external.Operation(res.List); list.Path == one.Path {
				s.records[res.Page] = id
			}
		}
	}
	s.records["/invoices"], _ = p.call(s, p.external, http.MethodPost, "/orders/"+ids["ORDER"]+"/invoices", `{}`)["id"].(string)
	s.records["/pictures"] = p.pictureOf(s)
	s.records["/files"] = s.records["/pictures"]
	p.checkedImports(s)
	s.records["/exports"], _ = p.call(s, p.external, http.MethodPost, "/exports", `{"resource":"suppliers"}`)["id"].(string)
	s.records["/jobs"] = s.records["/exports"]
}

// shopWithBusiness is a company with people and records, and where its pages are.
func (p *pages) shopWithBusiness() (s premises, root string) {
	p.t.Helper()
	s = p.shop()
	return s, "/c/" + s.id.String()
}

// work runs the jobs of the platform until the test ends.
func (p *pages) work() {
	p.t.Helper()
	apitest.Background(p.t, func(ctx context.Context) error { return p.NewWorker(1, slog.New(slog.DiscardHandler)).Run(ctx) })
}

// lists are the addresses of all lists of records.
func (p *pages) lists() (all []string) {
	for _, route := range p.app.Pages() {
		if at, ok := strings.CutSuffix(route.Path, "/filter"); ok {
			all = append(all, at)
		}
	}
	return all
}

// Every list shows the records of the company, its filters and columns, and can be sorted; each row leads to its record.
func TestEveryListOfRecordsIsShown(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	order := "/orders/" + p.call(own, p.external, http.MethodPost, "/orders", `{"items":[{"kind":"custom","name":"Bell","unitPrice":900}]}`)["id"].(string)
	p.call(own, p.external, http.MethodPost, order+"/shipments", `{}`)
	p.call(own, p.external, http.MethodPost, order+"/returns", `{}`) // no sample has one
	product := "/catalog/products/" + p.call(own, p.external, http.MethodPost, "/catalog/products", `{"name":"Bell","price":900}`)["id"].(string)
	p.call(own, p.external, http.MethodPost, product+"/variants", `{"name":"Brass"}`)
	owner := p.signedIn(own.people[company.RoleOwner])
	lists := p.lists()
	require.Len(t, lists, len(resources.All()))
	for _, at := range lists {
		page := owner.ask(http.MethodGet, root+at, nil)
		require.Equal(t, 200, page.status, "%s: %s", at, page.body)
		require.Contains(t, page.body, "<tbody>", at)
		require.NotContains(t, page.body, "records.", "%s shows the key of a text", at)
		for _, link := range regexp.MustCompile(`<th [^>]*><a href="([^"]+)"`).FindAllStringSubmatch(page.body, -1) {
			sorted := owner.ask(http.MethodGet, strings.ReplaceAll(link[1], "&amp;", "&"), nil)
			require.Equal(t, 200, sorted.status, link[1])
			require.Contains(t, sorted.body, "aria-sort=", link[1])
			require.NotContains(t, sorted.body, "were refused", link[1])
		}
		form := owner.ask(http.MethodGet, root+at+"/filter", nil)
		require.Equal(t, 200, form.status, "%s: %s", at, form.body)
		require.NotContains(t, form.body, "records.", "%s shows the key of a text", at)
		all := url.Values{}
		for _, column := range regexp.MustCompile(`name="columns" value="(\w+)"`).FindAllStringSubmatch(form.body, -1) {
			all.Add("columns", column[1])
		}
		require.Greater(t, len(all["columns"]), 2, at)
		wide := owner.ask(http.MethodGet, root+at+"?"+all.Encode(), nil)
		require.Equal(t, http.StatusSeeOther, wide.status, "an address says each thing once")
		wide = owner.ask(http.MethodGet, wide.location, nil)
		require.Equal(t, len(all["columns"]), strings.Count(wide.body, "<th "), at)
	}
	for at, id := range own.records {
		if at == "/bookings" || at == "/deals" || at == "/leads" {
			at += "/list"
		}
		if page := owner.ask(http.MethodGet, root+at, nil); page.status == 200 && strings.Contains(strings.Join(lists, " ")+" ", at+" ") {
			require.Contains(t, page.body, strings.TrimSuffix(at, "/list")+"/"+id, "the row leads to its record")
		}
	}
}

func TestFiltersOfListsStandInTheAddress(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	viewer := p.signedIn(own.people[company.RoleViewer])
	order, client := own.records["/orders"], own.records["/clients"]
	row := "/orders/" + order + `"`

	page := viewer.ask(http.MethodGet, root+"/orders?status=new&status=ready&paymentStatus=&dateFrom=2020-01-01", nil)
	require.Equal(t, root+"/orders?dateFrom=2020-01-01&status=new%2Cready", page.location)
	page = viewer.ask(http.MethodGet, page.location, nil)
	require.Contains(t, page.body, row)
	require.Contains(t, page.body, "new, ready")
	require.Contains(t, page.body, "1 Jan 2020")
	require.Contains(t, page.body, "<b>1 order</b>")
	require.Contains(t, page.body, `aria-label="Remove the filter Status"`)
	require.Contains(t, page.body, "/orders/filter?dateFrom=2020-01-01&amp;only=status&amp;status=new%2Cready", "a chip leads to the form of its filter")
	one := viewer.ask(http.MethodGet, root+"/orders/filter?dateFrom=2020-01-01&only=paymentStatus", nil)
	require.Contains(t, one.body, `name="dateFrom" value="2020-01-01"`, "the other filters stay")
	require.NotContains(t, one.body, `name="columns"`)
	require.Equal(t, 404, viewer.ask(http.MethodGet, root+"/orders/filter?only=unheard", nil).status)
	page = viewer.ask(http.MethodGet, root+"/orders?status=completed", nil)
	require.NotContains(t, page.body, row)
	require.Contains(t, page.body, "Nothing passes the filters")
	page = viewer.ask(http.MethodGet, root+"/orders?customerId="+client, nil)
	require.Contains(t, page.body, row)
	require.NotContains(t, page.body, `</span> `+client, "the chip has the name of the client, not its id")
	page = viewer.ask(http.MethodGet, root+"/orders?status=unheard&customerId=x", nil)
	require.Equal(t, 200, page.status)
	require.Contains(t, page.body, "The filters were refused")
	require.Contains(t, page.body, "status")
	require.Equal(t, 200, viewer.ask(http.MethodGet, root+"/orders?cursor=broken&sort=secret&pageSize=100000&unknown=1", nil).status)
	require.NotContains(t, viewer.ask(http.MethodGet, root+`/orders?search=%3Cscript%3Ealert(1)%3C%2Fscript%3E`, nil).body, "<script>alert")
}

// A list that takes too long says what to narrow, and keeps the form that does.
func TestListsThatTakeTooLong(t *testing.T) {
	t.Parallel()
	p := newPagesOn(t, dbtest.OpenNew(t))
	own, root := p.shopWithBusiness()
	p.Lists = list.NewNode(list.NodeConfig{Limit: 100 * time.Millisecond})
	p.app = p.newApp(roles.WebConfig{URL: "https://console.example.com"})
	viewer := p.signedIn(own.people[company.RoleViewer])
	var columns string
	require.NoError(t, p.DB.QueryRow(t.Context(), `SELECT string_agg('o.' || column_name, ', ' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 'orders'`).Scan(&columns))
	for _, sql := range []string{"ALTER TABLE orders RENAME TO all_orders", "CREATE VIEW orders AS SELECT " + columns + " FROM all_orders o, (SELECT pg_sleep(1)) AS s"} {
		_, err := p.DB.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	page := viewer.ask(http.MethodGet, root+"/orders?status=new", nil)
	require.Equal(t, 200, page.status, page.body)
	require.Contains(t, page.body, "This list takes too long with these filters.")
	require.Contains(t, page.body, "Narrow them, or sort by something else.")
	require.Contains(t, page.body, "/orders/filter?status=new")
}

// Days of filters are those of the company.
func TestDaysOfFiltersAreThoseOfTheCompany(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	p.call(own, p.admin, http.MethodPatch, "/companies/"+own.id.String(), `{"timeZone":"Pacific/Kiritimati"}`) // UTC+14
	zone, err := time.LoadLocation("Pacific/Kiritimati")
	require.NoError(t, err)
	owner := p.signedIn(own.people[company.RoleOwner])
	today := time.Now().In(zone)
	row := "/orders/" + own.records["/orders"] + `"`
	for day, shown := range map[time.Time]bool{today: true, today.AddDate(0, 0, -1): false, today.AddDate(0, 0, 1): false} {
		text := day.Format(time.DateOnly)
		page := owner.ask(http.MethodGet, root+"/orders?dateFrom="+text+"&dateTo="+text, nil)
		require.Equal(t, shown, strings.Contains(page.body, row), "%s, and it is %s", text, today)
	}
}

// The page of a record has each list that the API has about it, and buttons only for those who may press them. The list and the find
// field lead to it.
func TestEveryPageOfARecord(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner, viewer := p.signedIn(own.people[company.RoleOwner]), p.signedIn(own.people[company.RoleViewer])
	tabs, forms := 0, 0
	for _, res := range pagesOf() {
		at, id := res.Page, own.records[res.Page]
		page := owner.ask(http.MethodGet, root+at+"/"+id, nil)
		require.Equal(t, 200, page.status, "%s: %s", at, page.body)
		get, _ := p.external.Operation(res.Get)
		title := fmt.Sprint(p.call(own, p.external, http.MethodGet, strings.Replace(get.Path, "{id}", id, 1), "")[res.Title])
		require.Contains(t, page.body, title, at)
		require.Contains(t, owner.ask(http.MethodGet, root+res.Address, nil).body, title, res.Address)
		if res.Find != nil && res.Find.Names {
			found := owner.ask(http.MethodGet, root+"/find?q="+url.QueryEscape(title), nil)
			require.Contains(t, found.location+found.body, at+"/"+id, "%s is not found by its name", at)
		}
		require.NotContains(t, page.body, "records.", "%s shows the key of a text", at)
		require.Contains(t, page.body, "&#34;id&#34;: &#34;"+id, "the answer of the API is on the page")
		require.Contains(t, page.body, "curl -sS")
		require.Contains(t, page.body, "/do/", at)
		require.NotContains(t, viewer.ask(http.MethodGet, root+at+"/"+id, nil).body, "/do/", at)
		for _, link := range regexp.MustCompile(`href="[^"]*(\?tab=\w+)"`).FindAllStringSubmatch(page.body, -1) {
			tabs++
			tab := owner.ask(http.MethodGet, root+at+"/"+id+link[1], nil)
			require.Equal(t, 200, tab.status, "%s%s: %s", at, link[1], tab.body)
			require.NotContains(t, tab.body, "records.", "%s%s shows the key of a text", at, link[1])
		}
		for _, link := range regexp.MustCompile(`href="`+regexp.QuoteMeta(root+at+"/"+id)+`(/do/\w+)"`).FindAllStringSubmatch(page.body, -1) {
			forms++
			form := owner.ask(http.MethodGet, root+at+"/"+id+link[1], nil)
			require.Equal(t, 200, form.status, "%s%s: %s", at, link[1], form.body)
			require.NotContains(t, form.body, "records.", "%s%s shows the key of a text", at, link[1])
			require.Equal(t, root+at+"/"+id, viewer.ask(http.MethodGet, root+at+"/"+id+link[1], nil).location, "%s%s", at, link[1])
		}
	}
	require.Greater(t, tabs, 30)
	require.Greater(t, forms, 20)
	require.Contains(t, owner.ask(http.MethodGet, root+"/orders/"+own.records["/orders"]+"?tab=unheard", nil).body, `aria-current="page">Overview`)
}

// A report has a page with its sums, for the days and by what people ask for.
func TestReportsOfLists(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	viewer := p.signedIn(own.people[company.RoleViewer])
	for _, res := range resources.All() {
		if res.Report == "" {
			continue
		}
		at := root + res.Address + "/report"
		require.Contains(t, viewer.ask(http.MethodGet, root+res.Address, nil).body, `href="`+at+`"`, "the list leads to it")
		days := "?from=" + rolestest.Today(-30) + "&to=" + rolestest.Today(0)
		if res.Name == "bookings" { // the booking is to come
			days = "?from=2040-01-01&to=2040-12-30"
		}
		page := viewer.ask(http.MethodGet, at+days, nil)
		require.Equal(t, 200, page.status, "%s: %s", at, page.body)
		require.NotContains(t, page.body, "records.", "%s shows the key of a text", at)
		require.Contains(t, page.body, "<tfoot", at)
		op, _ := p.external.Operation(res.Report)
		for _, param := range op.Params {
			if param.Name != "groupBy" {
				continue
			}
			for _, by := range param.Item.Enum {
				of := viewer.ask(http.MethodGet, at+days+"&groupBy="+by, nil)
				more := map[string]int{"tax": 1, "product": 3}[by] // the rate and its percentage; kind, SKU and name, and the quantity
				if by == "category" {
					more = 1 // the quantity
				}
				require.Equal(t, strings.Count(page.body, "<th ")+more, strings.Count(of.body, "<th "), "%s by %s", at, by)
			}
			both := viewer.ask(http.MethodGet, at+days+"&groupBy="+strings.Join(param.Item.Enum, "&groupBy="), nil)
			require.Equal(t, len(param.Item.Enum) < 5, strings.Contains(both.body, "<tfoot"), at)
		}
	}
	page := viewer.ask(http.MethodGet, root+"/orders/report?groupBy=&groupBy=status&from=", nil)
	require.Contains(t, page.body, "<td>new</td>")
	page = viewer.ask(http.MethodGet, root+"/orders/report?from=2026-02-01&to=2026-01-01", nil)
	require.Equal(t, 200, page.status)
	require.Contains(t, page.body, "ust not exceed to")
	page = viewer.ask(http.MethodGet, root+"/orders/report?from=2020-01-01&to=2020-01-02", nil)
	require.Contains(t, page.body, "Nothing on these days")
}

// A report is compared with the days before, drawn, and written to a file whose name and heads people read.
func TestReportsAreComparedAndWritten(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	viewer := p.signedIn(own.people[company.RoleViewer])
	from, to := rolestest.Today(-1), rolestest.Today(1)
	today := viewer.ask(http.MethodGet, root+"/orders/report?from="+from+"&to="+to, nil)
	require.Contains(t, today.body, "<h1>Orders by day")
	require.Contains(t, today.body, `<figure class="chart">`)
	require.Contains(t, today.body, `>Last week</a>`)
	require.NotContains(t, today.body, "Change</th>")

	later := viewer.ask(http.MethodGet, root+"/orders/report?compare=previous&from="+rolestest.Today(2)+"&to="+rolestest.Today(4), nil)
	require.Contains(t, later.body, "−100%", "what only the days before had")
	both := viewer.ask(http.MethodGet, root+"/orders/report?compare=previous&groupBy=status&from="+rolestest.Today(0)+"&to="+rolestest.Today(0), nil)
	require.Contains(t, both.body, "Change</th>")
	require.Equal(t, strings.Count(today.body, "<th "), strings.Count(both.body, "<th ")-2)

	file := viewer.ask(http.MethodGet, root+"/orders/report/file?format=csv&groupBy=status&from="+from+"&to="+to, nil)
	require.Equal(t, http.StatusOK, file.status)
	require.Contains(t, file.header.Get("Content-Disposition"), `"Orders by status `+from+` to `+to+`.csv"`)
	head, rows, _ := strings.Cut(strings.TrimPrefix(file.body, "\ufeff"), "\n")
	require.Contains(t, head, `Status,Orders count,Cancelled count,"Total, USD",`)
	require.Contains(t, rows, "New,")
	sheet := viewer.ask(http.MethodGet, root+"/orders/report/file?format=xlsx&from="+from+"&to="+to, nil)
	require.Contains(t, sheet.header.Get("Content-Disposition"), `.xlsx"`)
	require.True(t, strings.HasPrefix(sheet.body, "PK"))
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`)

// formOf reads the hidden fields of the form on a page.
func formOf(p page) url.Values {
	form := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(p.body, -1) {
		form.Set(m[1], m[2])
	}
	return form
}

// A sale is refunded in parts by a form with a quantity for each line, once however often it is sent.
func TestRefundThroughTheForm(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	at := root + "/sales/" + own.records["/sales"]
	sale := p.call(own, p.external, http.MethodGet, "/sales/"+own.records["/sales"], "")
	line, _ := sale["lines"].([]any)[0].(map[string]any)["id"].(string)

	page := owner.ask(http.MethodGet, at+"/do/refund", nil)
	require.Contains(t, page.body, `name="qty.`+line+`" value="1.5"`, "all that is left, until somebody types less")
	form := formOf(page)
	form.Set("qty."+line, "2")
	form.Set("reason", "Too large & <b>heavy</b>")
	page = owner.ask(http.MethodPost, at+"/do/refund", form)
	require.Equal(t, http.StatusUnprocessableEntity, page.status)
	require.Regexp(t, `class="fault"[^>]*>[^<]*at most 1\.5`, page.body, "what the API says stands beside the quantity")
	require.Contains(t, page.body, "Too large &amp; &lt;b&gt;heavy&lt;/b&gt;", "what was typed stays")

	form = formOf(page)
	form.Set("qty."+line, "0,5")
	form.Set("reason", "Too large")
	page = owner.ask(http.MethodPost, at+"/do/refund", form)
	require.Equal(t, http.StatusSeeOther, page.status, page.body)
	require.NotContains(t, page.location, own.records["/sales"], "it leads to the refund")
	require.Equal(t, page.location, owner.ask(http.MethodPost, at+"/do/refund", form).location, "sent twice, it is the same refund")
	page = owner.ask(http.MethodGet, page.location, nil)
	require.Contains(t, page.body, "Too large")
	require.NotContains(t, page.body, "/do/refund", "a refund is not refunded")
	page = owner.ask(http.MethodGet, at, nil)
	require.Contains(t, page.body, "partial")
	require.Equal(t, 1, strings.Count(owner.ask(http.MethodGet, at+"?tab=refunds", nil).body, ">Too large</td>"))
}

// Amounts are typed and shown in units of the currency, and sent as the API has them.
func TestPaymentsAreTypedAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	order := p.call(own, p.external, http.MethodPost, "/orders", `{"items":[{"kind":"custom","name":"Frame","unitPrice":123456}]}`)
	id, _ := order["id"].(string)
	at := root + "/orders/" + id
	require.Contains(t, owner.ask(http.MethodGet, at, nil).body, "$1,234.56")
	form := formOf(owner.ask(http.MethodGet, at+"/do/pay", nil))
	stale := formOf(owner.ask(http.MethodGet, at+"/do/pay", nil))
	for name, value := range map[string]string{"amount": "1 000,50", "method": "transfer", "paidAt": "", "reference": "R-1", "note": ""} {
		form.Set(name, value)
		stale.Set(name, value)
	}
	for _, wrong := range []string{"12.345", "1e3", "much", "-5"} {
		form.Set("amount", wrong)
		page := owner.ask(http.MethodPost, at+"/do/pay", form)
		require.Equal(t, http.StatusUnprocessableEntity, page.status, wrong)
		require.Contains(t, page.body, `id="e-amount"`, wrong)
		require.Contains(t, page.body, `value="`+wrong+`"`, "what was typed stays")
		form.Set("key", formOf(page).Get("key"))
	}
	form.Set("amount", "1 000,50")
	require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, at+"/do/pay", form).status)
	require.InDelta(t, 100050, p.call(own, p.external, http.MethodGet, "/orders/"+id, "")["prepaidAmount"], 0)

	page := owner.ask(http.MethodPost, at+"/do/pay", stale)
	require.Equal(t, http.StatusUnprocessableEntity, page.status, "the order is no longer the one that the form was made from")
	require.Contains(t, page.body, "Somebody has changed the record")
	require.Contains(t, page.body, `value="R-1"`)
	again := formOf(page)
	require.NotEqual(t, stale.Get("version"), again.Get("version"))
	require.Equal(t, http.StatusBadRequest, owner.ask(http.MethodPost, at+"/do/pay", url.Values{"amount": {"1"}, "method": {"cash"}}).status, "a form has the version of what it was made from")
}

// Moves are buttons; one that the state no longer allows is refused with the reason of the API.
func TestOrdersAreMovedByButtons(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	order := p.call(own, p.external, http.MethodPost, "/orders", `{"items":[{"kind":"custom","name":"Frame","unitPrice":100}]}`)
	id, _ := order["id"].(string)
	at := root + "/orders/" + id
	move := func(next, version string) page {
		return owner.ask(http.MethodPost, at+"/do/move", url.Values{"part": {next}, "version": {version}, "key": {uuid.NewString()}})
	}
	require.Contains(t, owner.ask(http.MethodGet, at, nil).body, "Confirm the order")
	require.Equal(t, http.StatusSeeOther, move("confirmed", "1").status)
	page := owner.ask(http.MethodGet, at, nil)
	require.NotContains(t, page.body, "Confirm the order")
	require.Contains(t, page.body, "what it reserved is free again", "a move that cannot be taken back says what will happen")
	page = move("ready", "1")
	require.Equal(t, http.StatusUnprocessableEntity, page.status)
	require.Contains(t, page.body, "Somebody has changed the record")
	page = move("new", "2")
	require.Equal(t, http.StatusUnprocessableEntity, page.status)
	require.Contains(t, page.body, "The change was refused")
	require.Contains(t, owner.ask(http.MethodGet, at+"?tab=history", nil).body, "confirmed")
}

// A new record is made by a form from the body of its operation.
func TestClientsAreMadeAndChangedByForms(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	form := formOf(owner.ask(http.MethodGet, root+"/clients/new", nil))
	form.Set("kind", "individual")
	form.Set("displayName", "Ada")
	form.Set("email", "nonsense")
	form.Set("creditLimit", "250")
	page := owner.ask(http.MethodPost, root+"/clients/new", form)
	require.Equal(t, http.StatusUnprocessableEntity, page.status)
	require.Contains(t, page.body, `id="e-email"`)
	require.Contains(t, page.body, `value="Ada"`)
	form.Set("key", formOf(page).Get("key"))
	form.Set("email", "ada@example.com")
	page = owner.ask(http.MethodPost, root+"/clients/new", form)
	require.Equal(t, http.StatusSeeOther, page.status, page.body)
	at := strings.TrimSuffix(page.location, "?done=records")
	page = owner.ask(http.MethodGet, at+"/do/edit", nil)
	require.Contains(t, page.body, `value="250.00"`)
	form = formOf(page)
	form.Set("displayName", "Ada L.")
	form.Set("creditLimit", "300.00")
	require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, at+"/do/edit", form).status)
	page = owner.ask(http.MethodGet, at, nil)
	require.Contains(t, page.body, "<h1>Ada L.")
	require.Contains(t, page.body, "300.00")
}

// Views that most shops need are there at once, with the days of today, and each is counted.
func TestViewsThatEverybodyHas(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	viewer := p.signedIn(own.people[company.RoleViewer])
	due := p.call(own, p.external, http.MethodPost, "/orders", `{"dueAt":"`+time.Now().UTC().Format(time.RFC3339)+`","items":[{"kind":"custom","name":"Bell","unitPrice":900}]}`)["id"].(string)
	page := viewer.ask(http.MethodGet, root+"/orders?dueFrom=today&dueTo=today&status=new%2Cconfirmed%2Cin_progress%2Cready", nil)
	require.Contains(t, page.body, `aria-current="page">Due today<`)
	require.Contains(t, page.body, "Due until: today")
	require.Contains(t, page.body, "/orders/"+due)
	require.NotContains(t, page.body, "/orders/"+own.records["/orders"]+`"`)
	counts := viewer.ask(http.MethodGet, root+"/orders/counts", nil)
	for view, n := range map[string]string{"All": "2", "To do": "2", "Due today": "1", "Late": "0"} {
		require.Regexp(t, "<li>"+view+` <span class="n" id="n-\d">`+n+"</span>", counts.body)
	}
	require.NotContains(t, viewer.ask(http.MethodGet, root+"/suppliers", nil).body, `id="views"`, "a list without views has no tabs for them")
}

func TestSavedViews(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner, viewer := p.signedIn(own.people[company.RoleOwner]), p.signedIn(own.people[company.RoleViewer])
	save := func(v *visitor, name string, more ...string) page {
		form := url.Values{"list": {"orders"}, "query": {"status=new&columns=number,total&sort=total&secret=1&cursor=x"}, "name": {name}}
		for i := 0; i+1 < len(more); i += 2 {
			form.Set(more[i], more[i+1])
		}
		return v.ask(http.MethodPost, root+"/views", form)
	}
	page := save(owner, "New ones", "shared", "true")
	require.Equal(t, root+"/orders?columns=number%2Ctotal&done=records_view&sort=total&status=new", page.location)
	require.Equal(t, http.StatusSeeOther, save(viewer, "Mine").status)
	require.Equal(t, http.StatusForbidden, save(viewer, "Ours", "shared", "true").status, "a viewer shares nothing")
	require.Equal(t, http.StatusUnprocessableEntity, save(viewer, " ").status)
	require.Equal(t, http.StatusBadRequest, save(viewer, "x", "list", "unheard").status)
	page = viewer.ask(http.MethodGet, root+"/orders", nil)
	require.Contains(t, page.body, ">New ones<")
	require.Contains(t, page.body, ">Mine<")
	require.NotContains(t, owner.ask(http.MethodGet, root+"/orders", nil).body, ">Mine<")

	id := regexp.MustCompile(`name="id" value="([^"]+)"`).FindStringSubmatch(viewer.ask(http.MethodGet, root+"/views", nil).body)
	require.NotNil(t, id)
	require.Equal(t, 404, owner.ask(http.MethodPost, root+"/views/delete", url.Values{"id": {id[1]}}).status, "a view is its owner's")
	require.Equal(t, http.StatusForbidden, viewer.ask(http.MethodPost, root+"/views/change", url.Values{"id": {id[1]}, "name": {"Ours"}, "shared": {"true"}}).status)
	require.Equal(t, http.StatusSeeOther, viewer.ask(http.MethodPost, root+"/views/change", url.Values{"id": {id[1]}, "name": {"My own"}}).status)
	require.Contains(t, viewer.ask(http.MethodGet, root+"/orders", nil).body, ">My own<")
	require.Equal(t, http.StatusSeeOther, viewer.ask(http.MethodPost, root+"/views/delete", url.Values{"id": {id[1]}}).status)
	require.NotContains(t, viewer.ask(http.MethodGet, root+"/orders", nil).body, ">My own<")
	require.Contains(t, owner.ask(http.MethodGet, root+"/audit", nil).body, "deleteView")
}

// Every list becomes a file with the columns that are shown, and the filters that are set.
func TestListsAreExportedAsTheyAreShown(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	p.work()
	owner, viewer := p.signedIn(own.people[company.RoleOwner]), p.signedIn(own.people[company.RoleViewer])
	finish := func(location string) page {
		t.Helper()
		require.Contains(t, location, "/exports/")
		var got page
		require.Eventually(t, func() bool {
			got = owner.ask(http.MethodGet, location, nil)
			return !strings.Contains(got.body, `hx-trigger="every`)
		}, time.Minute, 20*time.Millisecond)
		require.Contains(t, got.body, "The file is ready", location)
		return got
	}
	for _, at := range p.lists() {
		if at == "/categories" {
			continue // it has no export
		}
		form := owner.ask(http.MethodGet, root+at+"/filter", nil)
		var all []string
		for _, column := range regexp.MustCompile(`name="columns" value="(\w+)"`).FindAllStringSubmatch(form.body, -1) {
			all = append(all, column[1])
		}
		page := owner.ask(http.MethodPost, root+at+"/export", url.Values{"format": {"xlsx"}, "query": {"columns=" + strings.Join(all, ",")}})
		require.Equal(t, http.StatusSeeOther, page.status, "%s: %s", at, page.body)
		finish(page.location)
	}
	p.call(own, p.external, http.MethodPost, "/orders", `{"items":[{"kind":"custom","name":"Frame","unitPrice":123456}]}`)
	started := owner.ask(http.MethodPost, root+"/orders/export", url.Values{"format": {"csv"}, "query": {"columns=number,total&sort=total&dateFrom=2020-01-01&status=new"}})
	finish(started.location)
	file, _, _ := strings.Cut(started.location, "?")
	got := viewer.ask(http.MethodGet, file+"/file", nil)
	require.Equal(t, "text/csv; charset=utf-8", got.header.Get("Content-Type"))
	require.Contains(t, got.header.Get("Content-Disposition"), "attachment")
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(got.body, "\ufeff"))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"number", "total", "currency"}, rows[0])
	require.Len(t, rows, 3)
	require.Equal(t, []string{"1234.56", "USD"}, rows[1][1:])
	require.Equal(t, http.StatusForbidden, viewer.ask(http.MethodPost, root+"/orders/export", url.Values{"format": {"csv"}}).status)
	require.NotContains(t, viewer.ask(http.MethodGet, root+"/orders", nil).body, "/export")
	require.Equal(t, http.StatusBadRequest, owner.ask(http.MethodPost, root+"/orders/export", url.Values{"format": {"csv"}, "query": {"customerId=x"}}).status)
}
