package console_test

import (
	"context"
	"fmt"
	"log/slog"
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
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/platform/requests"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// workshop is a company in a console whose API logs requests.
type workshop struct {
	*pages

	node *rolestest.Node
	own  premises
	root string
}

func newWorkshop(t *testing.T, isTest bool) *workshop {
	t.Helper()
	p := newPages(t)
	w := &workshop{pages: p, node: &rolestest.Node{Domains: p.Domains, Limiter: rolestest.Alone(), Served: requests.NewLog(requests.LogConfig{DB: p.DB, Log: slog.New(slog.DiscardHandler)})}}
	of := httpapi.Config{Limiter: w.node.Limiter, Requests: w.node.Served, Release: "test", Proxies: []netip.Prefix{netip.MustParsePrefix(rolestest.InProcess)}}
	w.node.API, w.node.Admin = p.NewAPI(of), p.NewAdminAPI(of)
	var err error
	p.app, err = p.NewWeb(roles.WebConfig{Rate: ratelimit.New(ratelimit.Config{}), URL: "https://console.example.com", API: roles.APIURL("https://api.example.com"), Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}, w.node.API, w.node.Admin)
	require.NoError(t, err)
	c, err := p.CreateCompany(t.Context(), company.NewCompany{Name: "Workshop " + uuid.NewString(), Plan: "business", IsTest: isTest})
	require.NoError(t, err)
	w.own, w.root = premises{id: c.ID, name: c.Name, people: map[string]company.User{}}, "/c/"+c.ID.String()
	for _, role := range company.Roles() {
		w.own.people[role] = p.person(c.ID, role)
	}
	return w
}

func (w *workshop) as(role string) *visitor { return w.signedIn(w.own.people[role]) }

var tokenText = regexp.MustCompile(`svc_(live|test)_\w+`)

// issue issues a token by the form.
func (w *workshop) issue(v *visitor, form url.Values) rolestest.Client {
	w.t.Helper()
	got := v.ask(http.MethodPost, w.root+"/tokens/new", form)
	require.Equal(w.t, 200, got.status, got.body)
	text := tokenText.FindString(got.body)
	require.Len(w.t, text, 58)
	require.Contains(w.t, got.body, "curl -sS &#39;https://api.example.com/api/external/v1/token&#39;")
	require.Equal(w.t, "no-store", got.header.Get("Cache-Control"))
	return w.node.Client(text)
}

// used stores when tokens were last used, and what was logged.
func (w *workshop) used() {
	w.t.Helper()
	ended, end := context.WithCancel(w.t.Context())
	end()
	require.NoError(w.t, w.Company.Run(ended))
	w.node.LogRequests(w.t)
}

var idInPath = regexp.MustCompile(`/(tokens|requests)/([0-9a-f-]{36})`)

// A token is issued, used, looked at, changed, rotated and revoked; its secret is shown once.
func TestTokensInTheConsole(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, false)
	owner, developer, viewer := w.as(company.RoleOwner), w.as(company.RoleDeveloper), w.as(company.RoleViewer)
	require.Contains(t, owner.ask(http.MethodGet, w.root+"/tokens", nil).body, "An integration needs one")
	form := owner.ask(http.MethodGet, w.root+"/tokens/new", nil).body
	for _, scope := range w.Access.Scopes() {
		resource, _, _ := strings.Cut(scope, ":")
		require.Contains(t, form, `name="scope.`+resource+`"`)
	}
	require.NotContains(t, form, ">scope.", "each resource has its name and what it opens in words")
	require.NotContains(t, form, `name="scope.events" value="write"`, "there is no such scope")

	got := owner.ask(http.MethodPost, w.root+"/tokens/new", url.Values{"name": {"Shop"}, "expires": {"date"}, "until": {"2020-01-01"}, "addresses": {"nowhere"}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	for _, want := range []string{`value="Shop"`, "ame at least one of", "ust be above 0 and at most 3 years", "s not a range", "nowhere</textarea>"} {
		require.Contains(t, got.body, want, "what was typed stays, with all faults")
	}
	shop := w.issue(owner, url.Values{"name": {"Shop"}, "expires": {"30"}, "scope.orders": {"write"}, "scope.company": {"read"}, "scope.clients": {"none"}})
	list := owner.ask(http.MethodGet, w.root+"/tokens", nil).body
	require.NotContains(t, list, shop.Token)
	require.Contains(t, list, "reads Company; changes Orders")
	require.Contains(t, list, *w.own.people[company.RoleOwner].Email, "who issued it")
	id := idInPath.FindStringSubmatch(list)[2]
	page := w.root + "/tokens/" + id
	require.Contains(t, owner.ask(http.MethodGet, page, nil).body, "It has not been used yet")

	shop.OK(t, "GET", "/orders", "")
	require.Equal(t, 403, shop.Do(t, "POST", "/clients", `{"kind":"individual","displayName":"Kim"}`).Status)
	w.used()
	require.Contains(t, owner.ask(http.MethodGet, page, nil).body, "It was last used at")

	require.Equal(t, 303, owner.ask(http.MethodPost, page+"/change", url.Values{"name": {"Web shop"}, "expires": {"keep"}, "scope.clients": {"write"}}).status)
	shop.OK(t, "POST", "/clients", `{"kind":"individual","displayName":"Kim"}`)
	require.Equal(t, 403, shop.Do(t, "GET", "/orders", "").Status, "a change of scopes holds at once")

	got = owner.ask(http.MethodPost, page+"/rotate", url.Values{"overlap": {"1"}})
	require.Equal(t, 200, got.status)
	next := w.node.Client(tokenText.FindString(got.body))
	require.NotEqual(t, shop.Token, next.Token)
	shop.OK(t, "GET", "/token", "")
	next.OK(t, "GET", "/token", "")
	require.Contains(t, owner.ask(http.MethodGet, page, nil).body, "Older secret works until")
	require.Equal(t, 400, owner.ask(http.MethodPost, page+"/rotate", url.Values{"overlap": {"9999"}}).status)

	require.Contains(t, owner.ask(http.MethodGet, page, nil).body, "Requests with Web shop are answered 401 within two seconds")
	require.Equal(t, 303, owner.ask(http.MethodPost, page+"/revoke", nil).status)
	require.Equal(t, 401, next.Do(t, "GET", "/token", "").Status)
	require.Equal(t, 401, shop.Do(t, "GET", "/token", "").Status)
	body := owner.ask(http.MethodGet, page, nil).body
	require.Contains(t, body, "The API nodes are being told")
	require.Contains(t, body, `hx-trigger="every 1s"`)
	_, err := w.DB.Exec(t.Context(), `DELETE FROM outbox WHERE company_id = $1`, w.own.id)
	require.NoError(t, err)
	body = owner.ask(http.MethodGet, page, nil).body
	require.Contains(t, body, "The API nodes have been told")
	require.NotContains(t, body, `hx-trigger="every`)
	require.NotContains(t, owner.ask(http.MethodGet, w.root+"/tokens", nil).body, "Web shop")
	require.Contains(t, owner.ask(http.MethodGet, w.root+"/tokens?show=all", nil).body, "Web shop")
	audit := owner.ask(http.MethodGet, w.root+"/audit", nil).body
	for _, operation := range []string{"issueToken", "updateToken", "rotateToken", "revokeToken"} {
		require.Contains(t, audit, operation)
	}
	require.NotContains(t, audit, shop.Token)
	require.NotContains(t, audit, next.Token)

	require.Contains(t, developer.ask(http.MethodGet, page, nil).body, "Web shop")
	require.Equal(t, w.root+"/tokens", developer.ask(http.MethodGet, w.root+"/tokens/new", nil).location)
	require.Equal(t, 403, developer.ask(http.MethodPost, w.root+"/tokens/new", url.Values{"name": {"x"}, "expires": {"30"}, "scope.orders": {"read"}}).status)
	require.Equal(t, 403, viewer.ask(http.MethodGet, w.root+"/tokens", nil).status)
}

// The log shows what tokens asked, with the filters of the API, and counts what was refused by its code.
func TestRequestsInTheConsole(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, false)
	owner, developer := w.as(company.RoleOwner), w.as(company.RoleDeveloper)
	require.Contains(t, developer.ask(http.MethodGet, w.root+"/requests", nil).body, "No requests yet")
	shop := w.issue(owner, url.Values{"name": {"Shop"}, "expires": {"never"}, "scope.clients": {"write"}})
	made := shop.OK(t, "POST", "/clients", `{"kind":"individual","displayName":"Kim"}`)
	client, _ := made.Body["id"].(string)
	for range 2 {
		require.Equal(t, 400, shop.Do(t, "POST", "/clients", `{"kind":"robot","displayName":"<script>"}`).Status)
	}
	require.Equal(t, 403, shop.Do(t, "GET", "/orders", "").Status)
	require.Equal(t, 412, shop.Do(t, "PATCH", "/clients/"+client, `{"note":"x"}`, "If-Match", `"99"`).Status)
	shop.OK(t, "GET", "/clients/"+client, "")
	w.used()

	list := developer.ask(http.MethodGet, w.root+"/requests", nil).body
	require.Contains(t, list, "GET /clients/"+client[:8]+"…")
	require.Contains(t, list, "VALIDATION_ERROR")
	groups := developer.ask(http.MethodGet, w.root+"/requests/errors", nil).body
	require.Regexp(t, `(?s)VALIDATION_ERROR.*<td class="num">2</td>.*AUTH_API_SCOPE_INSUFFICIENT.*<td class="num">1</td>`, groups)
	require.Contains(t, groups, "Refused in the last 7 days: 4.")
	one := developer.ask(http.MethodGet, w.root+"/requests?code=VALIDATION_ERROR", nil).body
	require.Equal(t, 2, strings.Count(one, ">POST /clients<"))
	require.NotContains(t, one, "GET /orders")
	require.Contains(t, developer.ask(http.MethodGet, w.root+"/requests?entityId="+client, nil).body, "PATCH /clients/"+client[:8])
	for _, wrong := range []string{"entityId=x", "tokenId=x", "status=x", "dateFrom=x", "dateFrom=2026-11-20T00:00:00Z&dateTo=2026-11-19T00:00:00Z"} {
		got := developer.ask(http.MethodGet, w.root+"/requests?"+wrong, nil)
		require.Equal(t, 200, got.status, wrong)
		require.Contains(t, got.body, `class="fault"`, wrong)
	}
	require.Contains(t, developer.ask(http.MethodGet, w.root+"/requests?code=NEVER", nil).body, "No request passes the filter")

	refused := developer.ask(http.MethodGet, w.root+idInPath.FindString(one[strings.Index(one, ">POST /clients<")-80:]), nil)
	require.Equal(t, 200, refused.status)
	require.Contains(t, refused.body, "It was refused.")
	require.Contains(t, refused.body, "&#34;kind&#34;: &#34;robot&#34;", "what was sent")
	require.NotContains(t, refused.body, "<script>\"")
	read := developer.ask(http.MethodGet, w.root+idInPath.FindString(list), nil) // the newest
	require.Contains(t, read.body, "Open in explorer")
	again := regexp.MustCompile(`href="([^"]+/explorer\?[^"]+)"`).FindAllStringSubmatch(read.body, -1)
	address := strings.ReplaceAll(again[0][1], "&amp;", "&")
	require.Contains(t, address, "path-id="+client)
	failed := regexp.MustCompile(`href="([^"]+/explorer\?[^"]+)"`).FindAllStringSubmatch(refused.body, -1)
	opened := developer.ask(http.MethodGet, strings.ReplaceAll(failed[0][1], "&amp;", "&"), nil)
	require.NotContains(t, failed[0][1], "robot", "no body in an address")
	require.Contains(t, opened.body, "&#34;kind&#34;: &#34;robot&#34;", "with the body that was sent")
	require.Contains(t, opened.body, "which was answered 400")
	require.Less(t, strings.Index(opened.body, ">Send</button>"), strings.Index(opened.body, `name="json"`), "Send stands on top")
	require.Regexp(t, `(?s)<details class="optional">.*name="header-If-Match"`, developer.ask(http.MethodGet, w.root+"/explorer?operation=updateClient", nil).body)
	require.Equal(t, 404, developer.ask(http.MethodGet, w.root+"/explorer?operation=createOrder&request="+idInPath.FindString(refused.body)[len("/requests/"):], nil).status, "of another operation")
	explorer := developer.ask(http.MethodGet, address, nil).body
	require.Contains(t, explorer, `value="`+client+`"`)
	require.Contains(t, explorer, "GET /clients/{id}")
}

// The explorer sends with a token of the company, never as the person; the browser alone keeps the token, sealed for one session.
func TestExplorer(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, false)
	owner, developer := w.as(company.RoleOwner), w.as(company.RoleDeveloper)
	at := w.root + "/explorer"
	body := developer.ask(http.MethodGet, at, nil).body
	require.Contains(t, body, "Your sign-in is never used for the API")
	require.NotContains(t, body, "explorer/token/make", "a developer issues no tokens")
	require.NotContains(t, developer.ask(http.MethodGet, at+"?find=bookings", nil).body, "POST /orders")
	require.Equal(t, 404, developer.ask(http.MethodGet, at+"?operation=nothing", nil).status)
	got := developer.ask(http.MethodPost, at+"/send", url.Values{"operation": {"listClients"}})
	require.Equal(t, 422, got.status)
	require.Contains(t, got.body, "Not sent.")
	require.Equal(t, 403, developer.ask(http.MethodPost, at+"/token/make", url.Values{"scope.clients": {"read"}}).status)

	require.Equal(t, 422, owner.ask(http.MethodPost, at+"/token/make", nil).status, "no scope was chosen")
	got = owner.ask(http.MethodPost, at+"/token/make", url.Values{"scope.clients": {"write"}, "operation": {"createClient"}})
	require.Equal(t, at+"?operation=createClient", got.location)
	page := owner.ask(http.MethodGet, got.location, nil).body
	require.Contains(t, page, "Requests are sent with the token API explorer of")
	require.Contains(t, page, "displayName", "the recorded example is filled in")
	require.NotRegexp(t, tokenText, page)
	kept := owner.cookies["__Host-tradegrid-explorer"]
	require.NotContains(t, kept.Value, "svc_")
	require.LessOrEqual(t, kept.MaxAge, 3600)
	developer.cookies[kept.Name] = kept
	require.Contains(t, developer.ask(http.MethodGet, at, nil).body, "There is no token", "the cookie is of no use in another session")
	delete(developer.cookies, kept.Name)

	create := url.Values{"operation": {"createClient"}, "json": {`{"kind":"individual","displayName":"Explored"}`}}
	got = owner.ask(http.MethodPost, at+"/send", create)
	require.Equal(t, 422, got.status, "the company is live")
	require.Contains(t, got.body, "is a live company")
	create.Set("sure", "yes")
	create.Set("header-X-Idempotency-Key", uuid.NewString())
	got = owner.ask(http.MethodPost, at+"/send", create)
	require.Equal(t, 200, got.status)
	require.Contains(t, got.body, "201 Created")
	require.Contains(t, got.body, "Explored")
	first := idInPath.FindString(got.body)
	require.Contains(t, owner.ask(http.MethodPost, at+"/send", create).body, "201 Created", "the same key answers the same")
	got = owner.ask(http.MethodPost, at+"/send", url.Values{"operation": {"listClients"}, "query-limit": {"5"}})
	require.Contains(t, got.body, "200 OK")
	require.Equal(t, 1, strings.Count(got.body, "&#34;displayName&#34;: &#34;Explored&#34;"))
	require.Contains(t, owner.ask(http.MethodPost, at+"/send", url.Values{"operation": {"listOrders"}}).body, "AUTH_API_SCOPE_INSUFFICIENT", "the token's scopes hold, not the person's")
	fields := url.Values{"operation": {"createClient"}, "body": {"fields"}, "kind": {"individual"}, "displayName": {"By fields"}, "sure": {"yes"}}
	require.Contains(t, owner.ask(http.MethodPost, at+"/send", fields).body, "201 Created")
	create.Set("json", "{broken")
	create.Set("header-X-Idempotency-Key", uuid.NewString())
	got = owner.ask(http.MethodPost, at+"/send", create)
	require.Contains(t, got.body, "400 Bad Request", "the API says what is wrong with what was typed")
	require.Contains(t, got.body, "{broken")
	for _, id := range []string{"", "..", "a/b"} {
		require.Equal(t, 422, owner.ask(http.MethodPost, at+"/send", url.Values{"operation": {"getClient"}, "path-id": {id}}).status, id)
	}
	w.used()
	logged := owner.ask(http.MethodGet, w.root+first, nil)
	require.Equal(t, 200, logged.status, "requests of the explorer are in the log")
	require.Contains(t, logged.body, "API explorer of")

	tokens, err := w.Company.Tokens(t.Context(), access.System(w.own.id), false)
	require.NoError(t, err)
	require.Len(t, tokens, 1)
	require.WithinDuration(t, time.Now().Add(time.Hour), tokens[0].ExpiresAt.Std(), time.Minute)
	require.Equal(t, 303, owner.ask(http.MethodPost, at+"/token/make", url.Values{"scope.orders": {"read"}}).status)
	tokens, err = w.Company.Tokens(t.Context(), access.System(w.own.id), false)
	require.NoError(t, err)
	require.Len(t, tokens, 1, "it takes the place of the one before")
	require.Equal(t, 303, owner.ask(http.MethodPost, at+"/token/forget", nil).status)
	tokens, err = w.Company.Tokens(t.Context(), access.System(w.own.id), false)
	require.NoError(t, err)
	require.Empty(t, tokens, "forgotten is revoked")
	require.Contains(t, owner.ask(http.MethodGet, at, nil).body, "There is no token")

	own, other := w.node.Issue(t, w.own.id, []string{"clients:read"}), w.node.Issue(t, w.shop().id, []string{"clients:read"})
	require.Contains(t, developer.ask(http.MethodPost, at+"/token/use", url.Values{"token": {other.Text}}).body, "a token of another company")
	require.Contains(t, developer.ask(http.MethodPost, at+"/token/use", url.Values{"token": {"guess"}}).body, "missing, unknown, revoked")
	require.Contains(t, developer.ask(http.MethodPost, at+"/token/use", url.Values{"token": {"a\r\nb"}}).body, "This is not a token")
	require.Equal(t, 303, developer.ask(http.MethodPost, at+"/token/use", url.Values{"token": {own.Text}}).status)
	require.Contains(t, developer.ask(http.MethodPost, at+"/send", url.Values{"operation": {"listClients"}}).body, "200 OK")
	elsewhere := roles.NewDomains(w.DB, roles.DomainConfig{Policy: rolestest.DefaultPolicy(), Keys: rolestest.Keys()}) // as another process
	_, err = roles.ChangeWith(t.Context(), w.DB, "test", w.own.id, elsewhere.Company.RevokeToken, own.ID)
	require.NoError(t, err)
	require.Contains(t, developer.ask(http.MethodPost, at+"/send", url.Values{"operation": {"listClients"}}).body, "401 Unauthorized")
}

// Each event has a page, and can be made to happen in a test company.
func TestEventCatalogInTheConsole(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, true)
	owner, viewer := w.as(company.RoleOwner), w.as(company.RoleViewer)
	at := w.root + "/event-catalog"
	_, err := roles.ChangeWith(t.Context(), w.DB, "test", w.own.id, func(ctx context.Context, tx *db.Tx, by access.Caller, in webhooks.SubscriptionInput) (webhooks.SubscriptionWithSecret, error) {
		by.Scopes = access.Scopes{"*:write"}
		return w.Webhooks.CreateSubscription(ctx, tx, by, in)
	}, webhooks.SubscriptionInput{SubscriptionFields: webhooks.SubscriptionFields{URL: "http://127.0.0.1:1/hook", Events: []string{"client.*"}, IsActive: true}})
	require.NoError(t, err)
	list := viewer.ask(http.MethodGet, at, nil).body
	for _, e := range w.Events.All() {
		require.Contains(t, list, "/event-catalog/"+e.Name)
		got := viewer.ask(http.MethodGet, at+"/"+e.Name, nil)
		require.Equal(t, 200, got.status, e.Name)
		require.Contains(t, got.body, "&#34;event&#34;: &#34;"+e.Name+"&#34;", "its example")
		require.Regexp(t, `<span class="id">\w+</span>`, got.body, "its fields")
	}
	require.Equal(t, 404, viewer.ask(http.MethodGet, at+"/order.gone", nil).status)
	require.Contains(t, viewer.ask(http.MethodGet, at+"/client.created", nil).body, "127.0.0.1:1", "who wants it")
	require.Contains(t, viewer.ask(http.MethodGet, at+"/lead.created", nil).body, "No subscription wants this event")
	require.Equal(t, 403, viewer.ask(http.MethodPost, at+"/client.created/trigger", nil).status)

	got := owner.ask(http.MethodPost, at+"/order.shipped/trigger", nil)
	require.Equal(t, at+"/order.shipped?done=triggered", got.location, got.body)
	var shipped int
	require.NoError(t, w.DB.QueryRow(t.Context(), `SELECT count(*) FROM outbox WHERE company_id = $1 AND event = 'order.shipped'`, w.own.id).Scan(&shipped))
	require.Equal(t, 1, shipped)
	got = owner.ask(http.MethodPost, at+"/token.expiring/trigger", nil)
	require.Equal(t, 422, got.status)
	require.Contains(t, got.body, "cannot be triggered")
	_, err = w.setComponentOff("warehouse")
	require.NoError(t, err)
	got = owner.ask(http.MethodPost, at+"/warehouse.receipt.created/trigger", nil)
	require.Equal(t, 422, got.status)
	require.Contains(t, got.body, "The event was not caused")

	live := newWorkshop(t, false)
	require.Equal(t, 409, live.as(company.RoleOwner).ask(http.MethodPost, live.root+"/event-catalog/client.created/trigger", nil).status)
}

func (w *workshop) setComponentOff(alias string) (company.Company, error) {
	return roles.ChangeWith(w.t.Context(), w.DB, "test", w.own.id, w.Company.SetComponent, company.Switch{Component: alias})
}

// Each step of the quick start looks at the company itself, and the last one ends it.
func TestQuickStart(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, true)
	owner, developer := w.as(company.RoleOwner), w.as(company.RoleDeveloper)
	at := w.root + "/quick-start"
	progress := func(done int) {
		t.Helper()
		require.Contains(t, developer.ask(http.MethodGet, at, nil).body, fmt.Sprintf("%d of 5 steps %s done", done, map[bool]string{true: "is", false: "are"}[done == 1]))
	}
	progress(0)
	for lang, want := range map[string]string{"curl": "curl -sS &#34;$BASE/company&#34;", "go": "package main", "node": "await fetch", "python": "import urllib.request"} {
		body := developer.ask(http.MethodGet, at+"?lang="+lang, nil).body
		require.Contains(t, body, want)
		require.Regexp(t, `signed\(|def signed`, body, "the function that verifies")
	}
	shop := w.issue(owner, url.Values{"name": {"Shop"}, "expires": {"30"}, "scope.webhooks": {"write"}})
	progress(1)
	shop.OK(t, "GET", "/company", "")
	w.used()
	progress(2)
	sub := shop.OK(t, "POST", "/webhooks/subscriptions", `{"url":"http://127.0.0.1:1/hook","events":["*"]}`)
	progress(3)
	require.Contains(t, developer.ask(http.MethodGet, at, nil).body, "/test", "a test can be sent from here")
	_, err := w.DB.Exec(t.Context(), `UPDATE webhook_subscriptions SET last_success_at = $3 WHERE company_id = $1 AND id = $2`, w.own.id, sub.Body["id"], time.Now())
	require.NoError(t, err)
	body := developer.ask(http.MethodGet, at, nil).body
	require.Contains(t, body, "Your first webhook has arrived")
	require.Contains(t, body, "/event-catalog", "what comes next")
	require.NotContains(t, body, `hx-trigger="every`)
	require.Equal(t, 403, w.as(company.RoleViewer).ask(http.MethodGet, at, nil).status)
}
