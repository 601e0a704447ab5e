package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/platform/audit"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
)

// integration calls the external API for a company.
type integration struct {
	p   *pages
	api *httpapi.API
	by  httpapi.InternalCaller
}

// calls is an integration of the company.
func (p *pages) calls(s premises) integration {
	p.t.Helper()
	reached, err := p.Company.Access(p.t.Context(), s.id)
	require.NoError(p.t, err)
	owner := s.people[company.RoleOwner]
	return integration{p, p.external, httpapi.InternalCaller{
		Principal: reached.Principal(owner.ID, "integration", access.Scopes{"*:write"}), Address: netip.MustParseAddr("192.0.2.7"),
	}}
}

// do makes a request, which must succeed, and decodes the answer.
func (c integration) do(method, target string, body any) map[string]any {
	c.p.t.Helper()
	answer, err := apitest.Inside(c.p.t.Context(), c.api, c.by, method, target, body)
	require.NoError(c.p.t, err, "%s %s", method, target)
	got := map[string]any{}
	if answer[0] == '[' {
		got["items"] = []any{}
		var all []any
		require.NoError(c.p.t, json.Unmarshal(answer, &all))
		got["items"] = all
		return got
	}
	require.NoError(c.p.t, json.Unmarshal(answer, &got))
	return got
}

func (c integration) id(method, target string, body any) string {
	c.p.t.Helper()
	id, ok := c.do(method, target, body)["id"].(string)
	require.True(c.p.t, ok)
	return id
}

// first is the id of the first record of a list.
func (c integration) first(target string) string {
	c.p.t.Helper()
	items, _ := c.do(http.MethodGet, target, nil)["items"].([]any)
	require.NotEmpty(c.p.t, items, target)
	return fmt.Sprint(items[0].(map[string]any)["id"])
}

// boardShop is a company with one record of each kind that a board shows.
func (p *pages) boardShop() premises {
	p.t.Helper()
	s := p.emptyShop()
	c := p.calls(s)
	product := c.id("POST", "/catalog/products", map[string]any{"name": "Bell " + s.name, "sku": "BELL-1", "price": 990, "hasStock": true, "barcode": "4006381333931"})
	warehouse := c.do("GET", "/warehouse/warehouses", nil)["items"].([]any)[0].(map[string]any)["id"]
	c.do("POST", "/warehouse/stocks/adjust", map[string]any{"productId": product, "warehouseId": warehouse, "targetQty": 5, "reason": "counted", "reorderPoint": 6})
	kind := c.do("GET", "/deals/types", nil)["items"].([]any)[1].(map[string]any)["id"]
	deal := c.id("POST", "/deals", map[string]any{"typeId": kind, "customerName": s.name, "items": []any{map[string]any{"kind": "product", "refId": product, "qty": 2}}})
	resource := p.resource(s, map[string]any{"type": "staff", "name": "Noah " + s.name, "timeZone": "UTC"})
	at := time.Now().UTC().AddDate(0, 0, 1).Truncate(24 * time.Hour).Add(10 * time.Hour)
	booking := c.id("POST", "/scheduling/bookings", map[string]any{"resourceId": resource, "startAt": at, "customerName": s.name, "customerPhone": "+49 30 23125 707", "durationMinutes": 60})
	shift := c.id("POST", "/shifts/open", map[string]any{"openingCash": 10000})
	for at, id := range map[string]string{"/deals": deal, "/bookings": booking, "/shifts": shift, "/stock": product, "resource": resource, "warehouse": fmt.Sprint(warehouse)} {
		s.records[at] = id
	}
	return s
}

// resource makes a resource by the admin API.
func (p *pages) resource(s premises, body map[string]any) string {
	p.t.Helper()
	api := p.NewAdminAPI(httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{})})
	answer, err := apitest.Inside(p.t.Context(), api, p.calls(s).by, "POST", "/companies/"+s.id.String()+"/scheduling/resources", body)
	require.NoError(p.t, err)
	var made struct{ ID string }
	require.NoError(p.t, json.Unmarshal(answer, &made))
	return made.ID
}

func (v *visitor) load(path string) page {
	v.t.Helper()
	return v.ask(http.MethodGet, path, nil)
}

func (v *visitor) submit(path string, pairs ...string) page {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return v.ask(http.MethodPost, path, form)
}

// What is typed leads to its page, whatever it is; nobody finds what the role or the company does not have.
func TestFindAnything(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s, other := p.boardShop(), p.boardShop()
	c, root := p.calls(s), "/c/"+s.id.String()
	client := c.id("POST", "/clients", map[string]any{"kind": "individual", "displayName": "Mira Voss", "phone": "+49 30 555 0100", "email": "mira@example.com", "externalId": "crm-77", "source": "crm"})
	service := c.id("POST", "/catalog/services", map[string]any{"name": "Wheel truing", "sku": "SRV-9", "price": 1500})
	var order string
	for range 3 { // numbers 1 to 3: only orders have a third one
		order = c.id("POST", "/orders", map[string]any{"customerName": "Mira Voss", "items": []any{map[string]any{"refId": s.records["/stock"], "qty": 1}}})
	}
	v := p.signedIn(s.people[company.RoleViewer])
	for text, want := range map[string]string{
		"№ 3": "/orders/" + order, "#3": "/orders/" + order, order: "/orders/" + order,
		"BELL-1": "/products/" + s.records["/stock"], "bell-1": "/products/" + s.records["/stock"], "4006381333931": "/products/" + s.records["/stock"], s.records["/stock"]: "/products/" + s.records["/stock"],
		"+493055 50100": "/clients/" + client, "030 555 0100": "/clients/" + client, "0049 30 5550100": "/clients/" + client, "MIRA@example.com": "/clients/" + client, "crm-77": "/clients/" + client, client: "/clients/" + client,
		"srv-9": "/services/" + service, "Wheel truing": "/services/" + service, s.records["/deals"]: "/deals/" + s.records["/deals"], s.records["/bookings"]: "/bookings/" + s.records["/bookings"],
		s.records["/shifts"]: "/shifts/" + s.records["/shifts"], s.records["/webhooks"]: "/webhooks/" + s.records["/webhooks"], s.records["/webhooks/deliveries"]: "/webhooks/deliveries/" + s.records["/webhooks/deliveries"],
		s.records["/events"]: "/events/" + s.records["/events"], s.records["/requests"]: "/events?request=" + s.records["/requests"], "  ": "/",
	} {
		got := v.load(root + "/find?q=" + url.QueryEscape(text))
		require.Equal(t, root+want, got.location, "%q: %d", text, got.status)
	}
	owner := p.signedIn(s.people[company.RoleOwner])
	for _, of := range []string{"/requests", "/tokens"} {
		require.Equal(t, root+of+"/"+s.records[of], owner.load(root+"/find?q="+s.records[of]).location)
		require.NotEqual(t, root+of+"/"+s.records[of], v.load(root+"/find?q="+s.records[of]).location, "a viewer does not see it")
	}
	got := v.load(root + "/find?q=1")
	require.Equal(t, 200, got.status)
	for _, kind := range []string{"/orders/", "/deals/", "/bookings/"} {
		require.Contains(t, got.body, root+kind, "several records have this number")
	}
	got = v.load(root + "/find?q=Mira")
	require.Contains(t, got.body, root+"/clients/"+client, "a part of a name is a short list")
	for _, text := range []string{"nothing like it", "zz", other.records["/stock"], other.records["/webhooks/deliveries"], other.records["/shifts"], strings.Repeat("x", 300), "<b>", "%", "\x00"} {
		got = v.load(root + "/find?q=" + url.QueryEscape(text))
		require.Equal(t, 404, got.status, text)
		require.NotContains(t, got.body, "“<b>", "what was typed is a text")
	}
	_, err := roles.ChangeWith(t.Context(), p.DB, "test", s.id, p.Company.SetComponent, company.Switch{Component: "clients", On: false})
	require.NoError(t, err)
	require.Equal(t, 404, v.load(root+"/find?q=crm-77").status, "the company has no clients any more")
}

// cardOf is the card of a deal on the board.
func cardOf(t *testing.T, body, deal string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)<article[^>]*id="d-` + deal + `".*?</article>`).FindString(body)
	require.NotEmpty(t, found, body)
	return found
}

func TestDealsAreMovedOnTheBoard(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.boardShop()
	c, root, deal := p.calls(s), "/c/"+s.id.String(), s.records["/deals"]
	stages := map[string]string{}
	for _, st := range c.do("GET", "/deals/types", nil)["items"].([]any)[1].(map[string]any)["stages"].([]any) {
		stages[st.(map[string]any)["name"].(string)] = st.(map[string]any)["id"].(string)
	}
	reason := c.do("GET", "/deals/lost-reasons", nil)["items"].([]any)[0].(map[string]any)["id"].(string)
	owner, viewer := p.signedIn(s.people[company.RoleOwner]), p.signedIn(s.people[company.RoleViewer])

	got := owner.load(root + "/deals")
	require.Contains(t, cardOf(t, got.body, deal), s.name)
	require.Contains(t, cardOf(t, got.body, deal), "19.80")
	require.NotContains(t, cardOf(t, got.body, deal), "<button", "a card has no controls")
	require.Regexp(t, `(?s)data-stage="`+stages["New"]+`".*?>1<.*?19\.80`, got.body, "a column has its sum")
	require.NotRegexp(t, `<section[^>]*data-stage="`+stages["Won"]+`"`, got.body, "what has ended is no column")
	require.Regexp(t, `<a href="[^"]*stageId=`+stages["Won"]+`" data-stage="`+stages["Won"]+`" data-outcome="won">`, got.body)
	seen := viewer.load(root + "/deals").body
	require.NotContains(t, seen, "data-menu", "who changes nothing is offered nothing")
	require.NotContains(t, seen, "draggable")
	require.NotContains(t, viewer.load(root+"/deals/"+deal+"/menu").body, "/deals/"+deal+"/move")
	require.Equal(t, 403, viewer.submit(root+"/deals/"+deal+"/move", "stage", stages["Won"]).status)

	menu := owner.load(root + "/deals/" + deal + "/menu").body
	require.Regexp(t, `value="`+stages["Qualification"]+`">To Qualification`, menu)
	require.NotContains(t, menu, "Back to", "it is in the first stage")
	require.Regexp(t, `name="lostReason" value="`+reason+`"`, menu)

	got = owner.submit(root+"/deals/"+deal+"/move", "stage", stages["Qualification"], "version", "1")
	require.Equal(t, 303, got.status, got.body)
	got = owner.load(got.location)
	require.Contains(t, got.body, "is in Qualification now")
	require.Contains(t, cardOf(t, got.body, deal), "autofocus")
	require.Contains(t, owner.load(root+"/deals/"+deal+"/menu").body, "Back to New")

	got = owner.submit(root+"/deals/"+deal+"/move", "stage", stages["Won"], "version", "1")
	require.Equal(t, 422, got.status)
	require.Contains(t, got.body, `class="note bad" role="alert"`, "somebody else has changed it")
	require.Contains(t, cardOf(t, got.body, deal), `data-version="2"`, "it can be moved again")
	require.Equal(t, stages["Qualification"], c.do("GET", "/deals/"+deal, nil)["stageId"])

	got = owner.submit(root+"/deals/"+deal+"/move", "stage", stages["Lost"], "version", "2")
	require.Equal(t, 422, got.status)
	require.Contains(t, got.body, "Say why the deal is lost.")
	got = owner.submit(root+"/deals/"+deal+"/move", "stage", stages["Lost"], "version", "2", "lostReason", reason)
	require.Equal(t, 303, got.status)
	require.Equal(t, "lost", c.do("GET", "/deals/"+deal, nil)["outcome"])
	got = owner.load(got.location)
	require.Regexp(t, `name="stage" value="`+stages["Qualification"]+`"`, got.body, "the move can be undone")
	require.Regexp(t, `(?s)data-outcome="lost">.*?1 deal<.*?19\.80`, got.body)
	require.Regexp(t, `aria-current="true">This month</a>`, got.body)
	before := owner.load(root + "/deals?endedFrom=2020-01-01&endedTo=2020-01-31").body
	require.Regexp(t, `(?s)data-outcome="lost">.*?0 deals<`, before, "none was lost on these days")
	require.Contains(t, owner.load(root+"/deals?endedFrom=2020-02-31&endedTo=x").body, `aria-current="true">This month</a>`)
	require.Equal(t, 422, owner.submit(root+"/deals/"+deal+"/move", "stage", uuid.NewString()).status)
	require.Equal(t, 404, owner.load(root+"/deals?type="+uuid.NewString()).status)
	require.Equal(t, 404, owner.load(root+"/deals?moved="+uuid.NewString()+"&from="+stages["Won"]).status)

	found, err := p.Console.Changes(t.Context(), access.Caller{Principal: &access.Principal{}}, audit.Filter{Params: list.Params{PageSize: 50}, CompanyID: &s.id})
	require.NoError(t, err)
	moves := 0
	for _, change := range found.Items {
		if change.Operation == "moveDeal" {
			moves++
			require.Equal(t, s.people[company.RoleOwner].ID, *change.UserID)
		}
	}
	require.Equal(t, 2, moves, "each move is recorded, and no refusal")
}

// A script gets the two columns of a move, which take the place of those on the page, and a way back.
func TestAMoveAnswersBothColumns(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.boardShop()
	c, root, deal := p.calls(s), "/c/"+s.id.String(), s.records["/deals"]
	stages := c.do("GET", "/deals/types", nil)["items"].([]any)[1].(map[string]any)["stages"].([]any)
	stage := func(i int) string { return stages[i].(map[string]any)["id"].(string) }
	owner := p.signedIn(s.people[company.RoleOwner])
	move := func(stage, version string) page {
		return owner.ask(http.MethodPost, root+"/deals/"+deal+"/move", url.Values{"stage": {stage}, "version": {version}}, func(r *http.Request) { r.Header.Set("HX-Request", "true") })
	}
	got := move(stage(1), "1")
	require.Equal(t, 200, got.status)
	require.Equal(t, 2, strings.Count(got.body, "<section id=\"stage-"))
	for _, i := range []int{0, 1} {
		require.Regexp(t, `<section id="stage-`+stage(i)+`"[^>]*hx-swap-oob="true"`, got.body)
	}
	require.Contains(t, got.body, `<b id="open" hx-swap-oob="true">`, "what is late elsewhere stays in the sentence behind it")
	undo := regexp.MustCompile(`name="stage" value="([^"]*)"><input type="hidden" name="version" value="2"`).FindStringSubmatch(got.body)
	require.NotNil(t, undo, got.body)
	require.Equal(t, 200, move(undo[1], "2").status)
	require.Equal(t, stage(0), c.do("GET", "/deals/"+deal, nil)["stageId"])
}

func TestColumnsOfABoardAreBounded(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.boardShop()
	c, root := p.calls(s), "/c/"+s.id.String()
	kind := c.do("GET", "/deals/types", nil)["items"].([]any)[1].(map[string]any)["id"]
	for i := range 21 {
		c.do("POST", "/deals", map[string]any{"typeId": kind, "customerName": fmt.Sprint("Customer ", i), "items": []any{}})
	}
	body := p.signedIn(s.people[company.RoleViewer]).load(root + "/deals").body
	require.Equal(t, 20, strings.Count(body, "<article "))
	require.Contains(t, body, "More of this stage")
	require.Regexp(t, `>22</span><b class="num">\$19\.80`, body, "the sum is of all, not of those that are shown")
}

func TestBookingsAreMadeMovedAndCancelled(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.boardShop()
	c, root := p.calls(s), "/c/"+s.id.String()
	v := p.signedIn(s.people[company.RoleOwner])
	day := time.Now().UTC().AddDate(0, 0, 7).Format(time.DateOnly)
	got := v.load(root + "/bookings/free?resource=" + s.records["resource"] + "&day=" + day)
	slot := regexp.MustCompile(`href="(/c/[^"]*/bookings\?[^"]*)">10:00<`).FindStringSubmatch(got.body)
	require.NotNil(t, slot, got.body)
	address := strings.ReplaceAll(slot[1], "&amp;", "&")
	got = v.load(address)
	require.Contains(t, got.body, "10:00")
	u, err := url.Parse(address)
	require.NoError(t, err)
	book := func(name, phone string) page {
		return v.submit(root+"/bookings/book", "with", u.Query().Get("with"), "at", u.Query().Get("at"), "customerName", name, "customerPhone", phone)
	}
	got = book("", "")
	require.Equal(t, 422, got.status)
	require.Contains(t, got.body, `aria-invalid="true"`)
	got = book("Mira Voss", "+49 30 555")
	require.Equal(t, 303, got.status, got.body)
	got = v.load(got.location)
	require.Contains(t, got.body, "The booking was made.")
	require.Contains(t, got.body, "10:00 to 10:30, Mira Voss")
	require.Contains(t, got.body, `id="panel"`, "the booking is open")
	got = book("Kim", "+49 30 556")
	require.Equal(t, 422, got.status)
	require.Contains(t, got.body, "Kim", "what was typed stays")
	require.Contains(t, got.body, `role="alert"`, "the place is taken")

	items := c.do("GET", "/scheduling/bookings?search=Mira", nil)["items"].([]any)
	id := items[0].(map[string]any)["id"].(string)
	at := root + "/bookings/" + id
	require.Equal(t, 303, v.submit(at+"/status", "do", "confirm", "version", "1", "day", day).status)
	got = v.submit(at+"/status", "do", "confirm", "version", "1", "day", day)
	require.Equal(t, 422, got.status)
	require.Contains(t, got.body, `class="note bad" role="alert"`)
	got = v.load(at + "/reschedule")
	to := regexp.MustCompile(`name="slot" value="([^"]*T15:00:00Z)">15:00<`).FindStringSubmatch(got.body)
	require.NotNil(t, to, got.body)
	got = v.submit(at+"/reschedule", "slot", to[1], "version", "2")
	require.Equal(t, 303, got.status, got.body)
	require.Equal(t, day+"T15:00:00.000Z", c.do("GET", "/scheduling/bookings/"+id, nil)["startAt"])
	require.Equal(t, 422, v.submit(at+"/reschedule", "slot", "nonsense").status)
	require.Equal(t, 303, v.submit(at+"/status", "do", "cancel", "day", day).status)
	require.Equal(t, "cancelled", c.do("GET", "/scheduling/bookings/"+id, nil)["status"])
	require.NotContains(t, v.load(root+"/bookings?day="+day).body, "Mira Voss")
	require.Equal(t, 303, v.submit(at+"/status", "do", "explode").status, "nothing else is done")
	week := v.load(root + "/bookings?view=week&day=" + time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly))
	require.Contains(t, week.body, "10:00 "+s.name)
}

func TestShiftWithItsCash(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.boardShop()
	c, root := p.calls(s), "/c/"+s.id.String()
	v := p.signedIn(s.people[company.RoleOwner])
	at := root + "/shifts/" + s.records["/shifts"]
	sale := c.id("POST", "/sales", map[string]any{"shiftId": s.records["/shifts"], "paymentMethod": "cash", "items": []any{map[string]any{"kind": "product", "refId": s.records["/stock"], "qty": 2}}})
	require.Contains(t, v.load(at).body, "must hold $119.80")
	got := v.submit(at+"/cash", "type", "out", "amount", "500", "reason", "bank")
	require.Equal(t, 422, got.status)
	require.Contains(t, got.body, `value="500"`, "what was typed stays, as it was typed")
	require.Contains(t, got.body, "drawer")
	got = v.submit(at+"/cash", "type", "out", "amount", "20,50", "reason", "bank deposit")
	require.Equal(t, 303, got.status, got.body)
	c.do("POST", "/sales/"+sale+"/refund", map[string]any{})
	got = v.load(got.location)
	require.Contains(t, got.body, "must hold $79.50")
	require.Contains(t, got.body, "bank deposit")
	require.Contains(t, got.body, "/sales/"+sale)
	require.Regexp(t, `(?s)kind=refund[^>]*><span[^>]*>Refunds</span><b>1</b>`, got.body)
	require.Equal(t, 422, v.submit(at+"/close", "closingCash", "lots").status)
	empty := v.submit(at+"/close", "closingCash", " ")
	require.Equal(t, 422, empty.status, "nobody can count it afterwards")
	require.Contains(t, empty.body, "close it without a count")
	require.Equal(t, 303, v.submit(at+"/close", "closingCash", "79.00").status)
	got = v.load(at)
	require.Contains(t, got.body, "0.50")
	require.Contains(t, got.body, "was missing in the drawer")
	require.NotContains(t, got.body, "/close\"", "a closed shift offers nothing")
	require.Equal(t, 422, v.submit(at+"/close", "closingCash", "79.00").status)
	got = v.submit(root+"/shifts/open", "openingCash", "100.00")
	require.Equal(t, 303, got.status, got.body)
	opened := v.load(got.location).body
	require.Contains(t, opened, "must hold $100.00")
	require.NotContains(t, opened, "an integration", "a person has opened it")
	second := got.location[:strings.Index(got.location, "?")]
	got = v.submit(root+"/shifts/open", "openingCash", "100.00")
	require.Equal(t, 422, got.status, "one shift at a time")
	require.Equal(t, 303, v.submit(second+"/close", "closingCash", "", "uncounted", "yes").status)
}

func TestStockIsAdjusted(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.boardShop()
	c, root := p.calls(s), "/c/"+s.id.String()
	v := p.signedIn(s.people[company.RoleOwner])
	require.Contains(t, v.load(root+"/stock").body, "reorder point: 1")
	require.Contains(t, v.load(root+"/stock?level=reorder").body, "Bell "+s.name)
	require.NotContains(t, v.load(root+"/stock?level=negative").body, "Bell "+s.name)
	at := root + "/stock/" + s.records["/stock"]
	got := v.load(at + "?warehouseId=" + s.records["warehouse"])
	require.Contains(t, got.body, `name="expectedQty" value="5"`)
	got = v.submit(at+"/adjust", "warehouseId", s.records["warehouse"], "targetQty", "8", "expectedQty", "4", "reason", "counted")
	require.Equal(t, 422, got.status)
	require.Contains(t, got.body, "there are 5 now")
	got = v.submit(at+"/adjust", "warehouseId", s.records["warehouse"], "targetQty", "8.5", "reason", "")
	require.Equal(t, 422, got.status)
	got = v.submit(at+"/adjust", "warehouseId", s.records["warehouse"], "targetQty", "8", "expectedQty", "5", "reason", "counted again")
	require.Equal(t, 303, got.status, got.body)
	got = v.load(got.location)
	require.Contains(t, got.body, "counted again")
	require.Contains(t, got.body, "&#43;3")
	require.Contains(t, v.load(root+"/stock").body, "Nothing has to be ordered again")
	require.InDelta(t, 8, c.do("GET", "/warehouse/stocks", nil)["items"].([]any)[0].(map[string]any)["qty"], 0)
}

// Each figure of the day is what its list has, by the filters in its address.
func TestFiguresOfTheDayAreThoseOfTheirLists(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.boardShop()
	c, root := p.calls(s), "/c/"+s.id.String()
	line := []any{map[string]any{"kind": "product", "refId": s.records["/stock"], "qty": 1}}
	for range 3 {
		c.do("POST", "/sales", map[string]any{"shiftId": s.records["/shifts"], "paymentMethod": "card", "items": line})
	}
	sale := c.id("POST", "/sales", map[string]any{"shiftId": s.records["/shifts"], "paymentMethod": "card", "items": line})
	c.do("POST", "/sales/"+sale+"/refund", map[string]any{})
	order := c.id("POST", "/orders", map[string]any{"items": line})
	c.do("POST", "/orders", map[string]any{"items": line})
	c.do("POST", "/orders/"+order+"/status/cancelled", nil)
	body := p.signedIn(s.people[company.RoleViewer]).load(root + "/").body
	require.Contains(t, body, "$39.60 so far", "three sales and an order; what was refunded and cancelled does not count")
	figure := regexp.MustCompile(`<a class="card figure" href="([^"]*)"><span class="muted">([^<]*)</span><b>([^<]*)</b>`)
	lists := map[string]string{"/orders": "/orders", "/bookings/list": "/scheduling/bookings"}
	checked, values := 0, map[string]string{}
	for _, m := range figure.FindAllStringSubmatch(body, -1) {
		values[m[2]] = m[3]
		u, err := url.Parse(strings.ReplaceAll(m[1], "&amp;", "&"))
		require.NoError(t, err)
		at, ok := lists[strings.TrimPrefix(u.Path, root)]
		if !ok {
			continue
		}
		checked++
		require.Equal(t, m[3], fmt.Sprint(c.do("GET", at+"?"+u.RawQuery, nil)["total"]), m[2])
	}
	require.Equal(t, 2, checked)
	require.Equal(t, "$29.70", values["Money in"], "less the refund")
	require.Equal(t, "$9.90", values["Average sale"])
	require.Contains(t, body, `<rect width="100" height="8"/>`, "all of it by card")
}

// The home page says what has to be done, each with what does it for those who may.
func TestHomeSaysWhatToDo(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.boardShop()
	c, root := p.calls(s), "/c/"+s.id.String()
	line := []any{map[string]any{"kind": "product", "refId": s.records["/stock"], "qty": 1}}
	yesterday := time.Now().UTC().AddDate(0, 0, -1)
	late := c.id("POST", "/orders", map[string]any{"items": line, "dueAt": yesterday, "customerName": "Mira Voss"})
	over := c.id("POST", "/orders", map[string]any{"items": line, "dueAt": yesterday})
	c.do("POST", "/orders/"+over+"/status/cancelled", nil)
	for range 3 {
		c.do("POST", "/orders", map[string]any{"items": line, "dueAt": time.Now().UTC()})
	}
	owner, viewer := p.signedIn(s.people[company.RoleOwner]), p.signedIn(s.people[company.RoleViewer])
	body := owner.load(root + "/").body
	require.Contains(t, body, "things need you")
	require.Contains(t, body, "Order 1 was promised for "+yesterday.Format("2 January"))
	require.Contains(t, body, `href="`+root+"/orders/"+late+`">Open the order`)
	require.NotContains(t, body, `href="`+root+"/orders/"+over+`">Open the order`)
	require.Contains(t, body, "Further orders are due or late", "three are named")
	require.Equal(t, 3, strings.Count(body, ">Open the order"))
	require.Contains(t, body, "Products to reorder: 1.")
	require.Contains(t, body, root+"/stock/reorder")
	require.Contains(t, body, `href="`+root+`/orders/new"`)
	confirm := root + "/bookings/" + s.records["/bookings"] + "/status"
	require.Contains(t, body, confirm)
	require.Contains(t, body, `href="tel:&#43;493023125707" aria-label="Call `+s.name+`"`)
	require.NotContains(t, body, `href="tel:"`, "an order without a number cannot be called")
	require.NotContains(t, body, `class="list happened"`, "nobody has changed anything in the console yet")

	seen := viewer.load(root + "/").body
	require.Contains(t, seen, "Products to reorder: 1.")
	for _, button := range []string{confirm, root + "/stock/reorder", `href="` + root + `/orders/new"`} {
		require.NotContains(t, seen, button, "a viewer changes nothing")
	}

	got := owner.submit(confirm, "do", "confirm", "from", "home")
	require.Equal(t, root+"/?done=bookings.confirm", got.location)
	body = owner.load(got.location).body
	require.NotContains(t, body, confirm)
	require.Contains(t, body, "The booking is confirmed.")
	require.Regexp(t, `(?s)class="list happened">.*/bookings/`+s.records["/bookings"]+`">[^<]*Confirm`, body, "what was changed, in words")
	require.NotContains(t, viewer.load(root+"/").body, "happened", "who does not see the record of changes does not see its end")
}

// A company that has nothing yet is told how to begin, and sees no figures.
func TestHomeOfACompanyThatHasNothing(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.emptyShop()
	root := "/c/" + s.id.String()
	body := p.signedIn(s.people[company.RoleOwner]).load(root + "/").body
	for _, step := range []string{"/products/import", "/orders/new", "/shifts/open", "/people/invite"} {
		require.Contains(t, body, root+step)
		require.Equal(t, 200, p.signedIn(s.people[company.RoleOwner]).load(root+step).status, step)
	}
	require.NotContains(t, body, `class="figures"`)
	require.NotContains(t, p.signedIn(s.people[company.RoleViewer]).load(root+"/").body, root+"/orders/new")
}
