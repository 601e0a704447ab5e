package console_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
	"github.com/tradegrid/tradegrid/services/platform/audit"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// pages is the console of a test, with operators of its own.
type pages struct {
	*roles.Domains

	t               *testing.T
	app             *web.App
	external, admin *httpapi.API
	read, write     string // tokens of operators
}

const consolePassword = "four small words here"

func newPages(t *testing.T, edit ...func(*roles.DomainConfig)) *pages {
	t.Helper()
	return newPagesOn(t, dbtest.Open(t), edit...)
}

func newPagesOn(t *testing.T, d *db.DB, edit ...func(*roles.DomainConfig)) *pages {
	t.Helper()
	p := &pages{t: t, read: secret.NewOperatorToken(), write: secret.NewOperatorToken()}
	operators, err := secret.ParseOperators(secret.OperatorLine("ann", secret.RoleRead, p.read) + "\n" + secret.OperatorLine("bob", secret.RoleWrite, p.write))
	require.NoError(t, err)
	cfg := roles.DomainConfig{Policy: rolestest.DefaultPolicy(), AllowInsecure: true, Keys: rolestest.Keys(), Operators: operators, ConsoleURL: "https://console.example.com"}
	for _, e := range edit {
		e(&cfg)
	}
	p.Domains = roles.NewDomains(d, cfg)
	p.app = p.newApp(roles.WebConfig{URL: "https://console.example.com", Gallery: true, Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, TraceURL: "https://traces.example.com/trace/{traceId}"})
	return p
}

// newApp makes the console with both APIs.
func (p *pages) newApp(cfg roles.WebConfig) *web.App {
	p.t.Helper()
	if cfg.Rate == nil {
		var asked atomic.Int64 // a second goes by with each look at the clock: a test asks for more pages than a person may
		cfg.Rate = ratelimit.New(ratelimit.Config{Now: func() time.Time { return time.Now().Add(time.Duration(asked.Add(1)) * time.Second) }})
	}
	of := httpapi.Config{Limiter: cfg.Rate}
	p.external, p.admin = p.NewAPI(of), p.NewAdminAPI(of)
	app, err := p.NewWeb(cfg, p.external, p.admin)
	require.NoError(p.t, err)
	return app
}

// premises are a company with a person of each role, and a record of each kind that a page shows.
type premises struct {
	id      tenant.ID
	name    string
	people  map[string]company.User
	records map[string]string // by the part of the path before the id
}

func (p *pages) shop() premises {
	p.t.Helper()
	s := p.emptyShop()
	p.business(s)
	s.records["/stock"], s.records["/shifts"] = s.records["/products"], p.calls(s).first("/shifts")
	return s
}

// emptyShop is a company without records of its business.
func (p *pages) emptyShop() premises {
	p.t.Helper()
	s := premises{name: "Shop " + uuid.NewString(), people: map[string]company.User{}}
	c, err := p.CreateCompany(p.t.Context(), company.NewCompany{Name: s.name, Plan: "business"})
	require.NoError(p.t, err)
	s.id = c.ID
	for _, role := range append(company.Roles(), "sales") {
		s.people[role] = p.person(s.id, role)
	}
	sub := p.subscription(s.id, "http://127.0.0.1:1/"+s.id.String())
	test, err := roles.Change(p.t.Context(), p.DB, "test", s.id, func(ctx context.Context, tx *db.Tx, by access.Caller) (webhooks.TestStarted, error) {
		by.Scopes = access.Scopes{"*:write"}
		return p.Webhooks.SendTest(ctx, tx, by, sub.ID, nil)
	})
	require.NoError(p.t, err)
	token, err := roles.ChangeWith(p.t.Context(), p.DB, "test", s.id, p.Company.IssueToken, company.NewToken{Name: s.name, Scopes: []string{"orders:read"}})
	require.NoError(p.t, err)
	event, entity, request := uuid.Must(uuid.NewV7()), uuid.New(), uuid.Must(uuid.NewV7())
	body := fmt.Sprintf(`{"event":"order.created","companyId":%q,"occurredAt":%q,"actorId":"system","data":{"id":%q,"number":7,"customerName":%q},"eventId":%q}`,
		s.id, time.Now().UTC().Format(time.RFC3339), entity, s.name, event)
	_, err = p.DB.Exec(p.t.Context(), `INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
VALUES ($1, 1, $2, 'order.created', 'order', $3, 1, $4, $5, $6)`, s.id, event, entity, []byte(body), time.Now().UTC(), time.Now().Add(time.Hour))
	require.NoError(p.t, err)
	replay, err := roles.ChangeWith(p.t.Context(), p.DB, "test", s.id, func(ctx context.Context, tx *db.Tx, by access.Caller, in webhooks.ReplayInput) (job.Record, error) {
		by.Scopes = access.Scopes{"*:write"}
		return p.Webhooks.Replay(ctx, tx, by, sub.ID, in)
	}, webhooks.ReplayInput{Status: "failed", Rate: 1})
	require.NoError(p.t, err)
	_, err = p.DB.Exec(p.t.Context(), `INSERT INTO api_requests (company_id, id, created_at, method, route, operation, scope, path, status, duration_ms, token_id, token_name, address, represents, body_bytes)
VALUES ($1, $2, $3, 'GET', '/orders/{id}', 'getOrder', 'orders', $4, 404, 3, $5, $6, '192.0.2.1', 1, 0)`, s.id, request, time.Now().UTC(), "/orders/"+entity.String(), token.ID, s.name)
	require.NoError(p.t, err)
	s.records = map[string]string{
		"/tokens": token.ID.String(), "/requests": request.String(), "/event-catalog": "order.created",
		"/live/webhooks": sub.ID.String(), "/live/replays": sub.ID.String(), "/webhooks/replays": replay.ID.String(), "/live/deliveries": test.DeliveryID.String(), "/live/events": event.String(),
		"/webhooks": sub.ID.String(), "/webhooks/deliveries": test.DeliveryID.String(), "/events": event.String(), "/go": event.String(), "/people": s.people["sales"].ID.String(),
	}
	return s
}

func (p *pages) subscription(id tenant.ID, address string) webhooks.SubscriptionWithSecret {
	p.t.Helper()
	sub, err := roles.ChangeWith(p.t.Context(), p.DB, "test", id, func(ctx context.Context, tx *db.Tx, by access.Caller, in webhooks.SubscriptionInput) (webhooks.SubscriptionWithSecret, error) {
		by.Scopes = access.Scopes{"*:write"}
		return p.Webhooks.CreateSubscription(ctx, tx, by, in)
	}, webhooks.SubscriptionInput{SubscriptionFields: webhooks.SubscriptionFields{URL: address, Events: []string{"*"}, IsActive: true}})
	require.NoError(p.t, err)
	return sub
}

// toDelete are the records with one that a page may delete.
func (p *pages) toDelete(s premises) map[string]string {
	records := maps.Clone(s.records)
	records["/webhooks"] = p.subscription(s.id, "http://127.0.0.1:1/"+uuid.NewString()).ID.String()
	return records
}

func (p *pages) person(id tenant.ID, role string) company.User {
	p.t.Helper()
	u, err := roles.ChangeWith(p.t.Context(), p.DB, "test", id, p.Company.InviteUser, company.Invitation{Email: uuid.NewString() + "@example.com", Role: role})
	require.NoError(p.t, err)
	u, err = roles.ChangeWith(p.t.Context(), p.DB, "test", id, p.Company.ActivateUser, u.ID)
	require.NoError(p.t, err)
	require.NoError(p.t, p.DB.RunTx(p.t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		return p.Accounts.SetPassword(ctx, tx, accounts.Owner{Company: id, User: u.ID}, *u.Email, accounts.Password{})
	}))
	_, err = p.DB.Exec(p.t.Context(), `UPDATE accounts SET password_hash = $3 WHERE company_id = $1 AND user_id = $2`, id, u.ID, consoleHash())
	require.NoError(p.t, err)
	return u
}

// consoleHash is the hash of consolePassword, which costs less than one that the program makes: that takes 30 ms to compare.
var consoleHash = sync.OnceValue(func() string { //nolint:gochecknoglobals // a constant
	hash, err := argon2id.CreateHash(consolePassword, &argon2id.Params{Memory: 64, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32})
	if err != nil {
		panic(err)
	}
	return hash
})

// visitor is a browser.
type visitor struct {
	*pages

	cookies map[string]*http.Cookie
	address string
}

func (p *pages) visitor() *visitor {
	id := uuid.New()
	return &visitor{pages: p, cookies: map[string]*http.Cookie{}, address: netip.AddrFrom16(id).String()}
}

type page struct {
	status   int
	location string
	body     string
	header   http.Header
}

func (v *visitor) ask(method, path string, form url.Values, edit ...func(*http.Request)) page {
	v.t.Helper()
	req := httptest.NewRequestWithContext(v.t.Context(), method, "https://console.example.com"+path, strings.NewReader(form.Encode()))
	req.RemoteAddr = "192.0.2.1:1234"
	req.Header.Set("X-Forwarded-For", v.address)
	req.Header.Set("Accept-Encoding", "gzip")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for _, c := range v.cookies {
		req.AddCookie(c)
	}
	for _, e := range edit {
		e(req)
	}
	rec := httptest.NewRecorder()
	v.app.ServeHTTP(rec, req)
	res := rec.Result()
	defer func() { _ = res.Body.Close() }()
	for _, c := range res.Cookies() {
		require.True(v.t, c.Secure && c.HttpOnly && strings.HasPrefix(c.Name, "__Host-"), c.Name)
		if v.cookies[c.Name] = c; c.MaxAge < 0 {
			delete(v.cookies, c.Name)
		}
	}
	var body io.Reader = res.Body
	if res.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		require.NoError(v.t, err)
		body = z
	}
	text, err := io.ReadAll(body)
	require.NoError(v.t, err)
	return page{res.StatusCode, res.Header.Get("Location"), string(text), res.Header}
}

// signedIn is the browser of a person.
func (p *pages) signedIn(u company.User) *visitor {
	p.t.Helper()
	v := p.visitor()
	got := v.ask(http.MethodPost, "/sign-in", url.Values{"email": {*u.Email}, "password": {consolePassword}})
	require.Equal(p.t, http.StatusSeeOther, got.status, got.body)
	return v
}

func (p *pages) operator(token string) *visitor {
	p.t.Helper()
	v := p.visitor()
	got := v.ask(http.MethodPost, "/sign-in/operator", url.Values{"token": {token}})
	require.Equal(p.t, "/companies", got.location, got.body)
	return v
}

var hole = regexp.MustCompile(`\{(\w+)\}|\{\$\}`)

// address fills a pattern with a company and with the records of another, or of the same.
func address(pattern string, of tenant.ID, records map[string]string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	before, after, inCompany := strings.Cut(path, "{company}")
	if !inCompany {
		return method, hole.ReplaceAllStringFunc(path, func(string) string { return uuid.NewString() })
	}
	path = before + of.String()
	for {
		at := hole.FindStringIndex(after)
		if at == nil {
			return method, path + after
		}
		if after[at[0]:at[1]] == "{$}" {
			return method, path + after[:at[0]]
		}
		path += after[:at[0]] + records[strings.TrimSuffix(after[:at[0]], "/")]
		after = after[at[1]:]
	}
}

// who may do what, said once more than in the table of package web, so that a slip there is seen.
var (
	businessAreas  = []web.Area{web.Till, web.Orders, web.Deals, web.Bookings, web.Sales, web.Catalog, web.Clients, web.Leads, web.Warehouse}
	developerAreas = []web.Area{web.Webhooks, web.Events, web.Requests, web.Tokens, web.Explorer, web.EventCatalog, web.QuickStart}
	ownerAreas     = slices.Concat([]web.Area{web.Home, web.CompanySettings, web.Directories, web.People, web.Audit}, businessAreas, developerAreas)

	mayOpen = map[string][]web.Area{
		company.RoleOwner: ownerAreas, company.RoleAdmin: ownerAreas, "ann": ownerAreas, "bob": ownerAreas,
		company.RoleDeveloper: slices.Concat([]web.Area{web.Home, web.CompanySettings, web.Directories}, businessAreas, developerAreas),
		company.RoleViewer:    slices.Concat([]web.Area{web.Home, web.Webhooks, web.Events, web.EventCatalog, web.Directories}, businessAreas),
	}

	ownersChange = slices.Concat([]web.Area{web.Webhooks, web.CompanySettings, web.Directories, web.People, web.Tokens, web.Explorer, web.EventCatalog}, businessAreas)
	mayChange    = map[string][]web.Area{
		company.RoleOwner: ownersChange, company.RoleAdmin: ownersChange, company.RoleDeveloper: {web.Webhooks}, "bob": ownersChange,
	}
)

// TestEveryPageOfTheConsoleKeepsCompaniesApart walks every route with every role: of the own company, of another one, and with ids of
// another one in the own.
func TestEveryPageOfTheConsoleKeepsCompaniesApart(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, other := p.shop(), p.shop()
	maps.Copy(own.records, p.entries(own.id))
	maps.Copy(other.records, p.entries(other.id))
	visitors := map[string]*visitor{"ann": p.operator(p.read), "bob": p.operator(p.write)}
	for _, role := range company.Roles() {
		visitors[role] = p.signedIn(own.people[role])
	}
	secrets := []string{other.name, other.id.String()}
	for _, id := range other.records {
		if _, err := uuid.Parse(id); err == nil { // names of events are those of all
			secrets = append(secrets, id)
		}
	}
	walked := 0
	for _, route := range p.app.Pages() {
		if route.Audience != web.OfCompany {
			continue
		}
		for role, v := range visitors {
			walked++
			operator := role == "ann" || role == "bob"
			name := role + " " + route.Pattern()
			allowed := slices.Contains(mayOpen[role], route.Area)
			records := own.records
			if route.Area == web.Webhooks && strings.HasSuffix(route.Path, "/delete") && slices.Contains(mayChange[role], route.Area) {
				records = p.toDelete(own)
			}
			method, path := address(route.Pattern(), own.id, records)
			if method == http.MethodPost && !route.Open {
				allowed = slices.Contains(mayChange[role], route.Area)
			}
			if route.Area == web.Account {
				allowed = !operator // what people have of their own
			}
			got := v.ask(method, path, nil)
			if allowed && strings.HasSuffix(route.Path, "/delete") { // for the next one
				maps.Copy(own.records, p.entries(own.id))
			}
			if allowed {
				require.NotContains(t, []int{403, 404, 500}, got.status, "%s: %s", name, got.body)
				require.False(t, method == http.MethodGet && got.status == http.StatusBadRequest, "%s: %s", name, got.body)
			} else {
				require.Equal(t, http.StatusForbidden, got.status, "%s: %s", name, got.body)
			}
			for _, secret := range secrets {
				require.NotContains(t, got.body+got.location, secret, name)
			}
			if !operator { // of another company there is nothing
				method, path = address(route.Pattern(), other.id, other.records)
				got = v.ask(method, path, nil)
				require.Equal(t, http.StatusNotFound, got.status, "%s in another company: %s", name, got.body)
				require.NotContains(t, got.body, other.name, name)
			}
			if !strings.Contains(route.Path, "{id}") || !allowed {
				continue
			}
			method, path = address(route.Pattern(), own.id, other.records)
			got = v.ask(method, path, nil)
			require.Equal(t, http.StatusNotFound, got.status, "%s with an id of another company: %s", name, got.body)
			require.NotContains(t, got.body, other.name, name)
		}
	}
	require.Greater(t, walked, 80)
}

func TestEveryPageOfTheConsoleNeedsASession(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	maps.Copy(own.records, p.entries(own.id))
	own.records["/files"] = uuid.NewString()
	v := p.visitor()
	open := 0
	for _, route := range p.app.Pages() {
		method, path := address(route.Pattern(), own.id, own.records)
		got := v.ask(method, path, nil)
		if route.Audience == web.Anyone {
			open++
			require.NotEqual(t, http.StatusInternalServerError, got.status, route.Pattern())
			require.NotContains(t, got.body, own.name)
			continue
		}
		require.Equal(t, http.StatusSeeOther, got.status, route.Pattern())
		require.True(t, strings.HasPrefix(got.location, "/sign-in"), "%s: %s", route.Pattern(), got.location)
	}
	require.Equal(t, 17, open, "a page that lets everybody in is rare: count it here")
	got := v.ask(http.MethodGet, "/c/"+own.id.String()+"/events?event=order.*", nil)
	back, err := url.Parse(got.location)
	require.NoError(t, err)
	require.Equal(t, "/c/"+own.id.String()+"/events?event=order.*", back.Query().Get("next"), "one comes back to where one was")
}

func TestPagesSpeakTheLanguageOfTheBrowser(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	russian := func(r *http.Request) { r.Header.Set("Accept-Language", "ru-RU,ru;q=0.9,en;q=0.5") }
	got := p.visitor().ask(http.MethodGet, "/sign-in", nil, russian)
	for _, want := range []string{`<html lang="ru">`, "Вход", "Забыли пароль?", "Войти"} {
		require.Contains(t, got.body, want)
	}
	viewer := p.signedIn(own.people[company.RoleViewer])
	got = viewer.ask(http.MethodGet, "/c/"+own.id.String()+"/orders", nil, russian)
	for _, want := range []string{`<html lang="ru">`, "Заказы", "Статус оплаты", "Срок сегодня"} {
		require.Contains(t, got.body, want)
	}
	require.Contains(t, viewer.ask(http.MethodGet, "/c/"+own.id.String()+"/orders", nil).body, `<html lang="en">`)
}

func TestWhoMayNotSignInToTheConsole(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	v := p.visitor()
	got := v.ask(http.MethodPost, "/sign-in", url.Values{"email": {*own.people["sales"].Email}, "password": {consolePassword}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status, "a user that records refer to is nobody who signs in")

	viewer, owner := p.signedIn(own.people[company.RoleViewer]), p.signedIn(own.people[company.RoleOwner])
	home := "/c/" + own.id.String() + "/"
	require.Equal(t, 200, viewer.ask(http.MethodGet, home, nil).status)
	require.Equal(t, 303, owner.ask(http.MethodPost, home+"people/"+own.people[company.RoleViewer].ID.String()+"/block", nil).status)
	require.Equal(t, 303, viewer.ask(http.MethodGet, home, nil).status, "who is blocked is out at once")
	got = owner.ask(http.MethodPost, home+"people/"+own.people[company.RoleOwner].ID.String()+"/block", nil)
	require.Equal(t, http.StatusConflict, got.status, "nobody blocks oneself")
	admin := p.signedIn(own.people[company.RoleAdmin])
	require.Equal(t, http.StatusForbidden, admin.ask(http.MethodPost, home+"people/"+own.people[company.RoleOwner].ID.String()+"/block", nil).status)
	require.Equal(t, http.StatusUnprocessableEntity, admin.ask(http.MethodPost, home+"people/invite", url.Values{"email": {"x@example.com"}, "role": {"owner"}}).status)

	_, err := roles.Change(t.Context(), p.DB, "test", own.id, p.Company.Archive)
	require.NoError(t, err)
	require.Equal(t, http.StatusForbidden, owner.ask(http.MethodGet, home, nil).status)
	require.Equal(t, 200, p.operator(p.read).ask(http.MethodGet, home, nil).status, "operators look into archived companies, too")
}

// Operators have no account of their own: its pages say so, and change nothing.
func TestOperatorsHaveNoAccountToChange(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	v := p.operator(p.write)
	for _, route := range p.app.Pages() {
		if route.Audience != web.SignedIn {
			continue
		}
		method, path := address(route.Pattern(), tenant.ID{}, nil)
		got := v.ask(method, path, url.Values{"password": {consolePassword}})
		require.NotEqual(t, http.StatusInternalServerError, got.status, "%s: %s", route.Pattern(), got.body)
		require.NotContains(t, got.location, "done=", route.Pattern())
	}
}

func TestConsoleRefusesOtherSites(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	owner := p.signedIn(own.people[company.RoleOwner])
	path := "/c/" + own.id.String() + "/webhooks/" + own.records["/webhooks"] + "/test"
	for name, edit := range map[string]func(*http.Request){
		"another site": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"a sibling":    func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"an old origin": func(r *http.Request) {
			r.Header.Del("Sec-Fetch-Site")
			r.Header.Set("Origin", "https://evil.example.com")
		},
		"neither": func(r *http.Request) { r.Header.Del("Sec-Fetch-Site") },
	} {
		require.Equal(t, http.StatusForbidden, owner.ask(http.MethodPost, path, nil, edit).status, name)
	}
	require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, path, nil).status)
	for _, next := range []string{"https://evil.example.com/", "//evil.example.com", `/\evil.example.com`, "javascript:alert(1)", "/\t/evil.example.com"} {
		require.Equal(t, "/", web.Next(next), next)
	}
	got := owner.ask(http.MethodGet, "/c/"+own.id.String()+"/", nil)
	require.Contains(t, got.header.Get("Content-Security-Policy"), "default-src 'none'")
	require.NotContains(t, got.header.Get("Content-Security-Policy"), "unsafe")
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	require.NotRegexp(t, `<[^>]+ (style|on\w+)="`, got.body, "the policy refuses inline styles and scripts")
	got = owner.ask(http.MethodPost, path, url.Values{"x": {strings.Repeat("x", 70<<10)}})
	require.Equal(t, http.StatusRequestEntityTooLarge, got.status, "a form has a bound")
}

// Every change leaves a line in the record that the admin API has, with what was before and after.
func TestChangesInTheConsoleAreRecorded(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	owner := p.signedIn(own.people[company.RoleOwner])
	root := "/c/" + own.id.String()
	viewer := own.people[company.RoleViewer].ID.String()
	for _, path := range []string{"/people/" + viewer + "/block", "/people/" + viewer + "/activate", "/webhooks/" + own.records["/webhooks"] + "/test"} {
		require.Equal(t, 303, owner.ask(http.MethodPost, root+path, nil).status, path)
	}
	require.Equal(t, 303, owner.ask(http.MethodPost, root+"/people/invite", url.Values{"email": {"kim-" + viewer + "@example.com"}, "role": {"viewer"}}).status)
	found, err := p.Console.Changes(t.Context(), access.Caller{Principal: &access.Principal{}}, audit.Filter{Params: list.Params{PageSize: 50}, CompanyID: &own.id})
	require.NoError(t, err)
	got := map[string]audit.Change{}
	for _, c := range found.Items {
		got[c.Operation] = c
		require.Equal(t, *own.people[company.RoleOwner].Email, c.Operator)
		require.Equal(t, own.people[company.RoleOwner].ID, *c.UserID)
	}
	require.Contains(t, got, "inviteUser")
	require.Contains(t, got, "testWebhookSubscription")
	require.Contains(t, *got["blockUser"].Before, `"status":"active"`)
	require.Contains(t, *got["blockUser"].After, `"status":"blocked"`)
	page := owner.ask(http.MethodGet, root+"/audit", nil)
	require.Contains(t, page.body, "blockUser")
	require.Contains(t, page.body, "<del>active</del>", "what it was")
	require.Contains(t, page.body, "<ins>blocked</ins>")
}

// A person who is invited sets a password by the link of the mail, and is in.
func TestInvitationByMail(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own := p.shop()
	email := "kim-" + own.id.String() + "@example.com"
	owner := p.signedIn(own.people[company.RoleOwner])
	got := owner.ask(http.MethodPost, "/c/"+own.id.String()+"/people/invite", url.Values{"email": {email}, "name": {"Kim"}, "role": {"developer"}})
	require.Equal(t, 303, got.status, got.body)
	var mail string
	require.NoError(t, p.DB.QueryRow(t.Context(), `SELECT body FROM notices WHERE company_id = $1 AND recipient = $2`, own.id, email).Scan(&mail))
	link := regexp.MustCompile(`https://console\.example\.com(/link/\S+)`).FindStringSubmatch(mail)
	require.NotNil(t, link, mail)
	kim := p.visitor()
	require.Contains(t, kim.ask(http.MethodGet, link[1], nil).body, email)
	got = kim.ask(http.MethodPost, link[1], url.Values{"password": {"short"}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, "t least 12 characters")
	require.Equal(t, "/", kim.ask(http.MethodPost, link[1], url.Values{"password": {consolePassword}}).location)
	require.Equal(t, "/c/"+own.id.String()+"/", kim.ask(http.MethodGet, "/", nil).location, "who sets a password is signed in")
	require.Equal(t, http.StatusGone, kim.ask(http.MethodPost, link[1], url.Values{"password": {consolePassword}}).status)
	got = kim.ask(http.MethodPost, "/sign-in", url.Values{"email": {email}, "password": {consolePassword}})
	require.Equal(t, "/", got.location, got.body)
	require.Equal(t, "/c/"+own.id.String()+"/", kim.ask(http.MethodGet, "/", nil).location)
	require.Contains(t, kim.ask(http.MethodGet, "/c/"+own.id.String()+"/", nil).body, "Kim")
}

// The find field, and /go, lead to the page of any id that the person may see.
func TestAnyIDLeadsToItsPage(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, other := p.shop(), p.shop()
	viewer := p.signedIn(own.people[company.RoleViewer])
	root := "/c/" + own.id.String()
	for kind, id := range own.records {
		if !slices.Contains([]string{"/webhooks", "/webhooks/deliveries", "/events"}, kind) {
			continue
		}
		require.Equal(t, root+kind+"/"+id, viewer.ask(http.MethodGet, root+"/go/"+id, nil).location)
		require.Equal(t, root+kind+"/"+id, viewer.ask(http.MethodGet, root+"/find?q=+"+id+"+", nil).location)
	}
	require.Equal(t, root+"/go/"+own.records["/events"], viewer.ask(http.MethodGet, "/go/"+own.records["/events"], nil).location)
	request := own.records["/requests"]
	require.Equal(t, root+"/events?request="+request, viewer.ask(http.MethodGet, root+"/go/"+request, nil).location, "viewers do not see the log")
	require.Equal(t, root+"/requests/"+request, p.signedIn(own.people[company.RoleDeveloper]).ask(http.MethodGet, root+"/go/"+request, nil).location)
	for kind, id := range other.records {
		require.Equal(t, 404, viewer.ask(http.MethodGet, root+"/go/"+id, nil).status, kind)
	}
	require.Equal(t, 404, viewer.ask(http.MethodGet, root+"/find?q=nothing", nil).status)
}

func TestOperatorsTokenThatIsGoneEndsTheirSessions(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	v := p.operator(p.write)
	require.Equal(t, 200, v.ask(http.MethodGet, "/companies", nil).status)
	others, err := secret.ParseOperators(secret.OperatorLine("bob", secret.RoleWrite, secret.NewOperatorToken()))
	require.NoError(t, err)
	p.Operators = others
	p.app = p.newApp(roles.WebConfig{URL: "https://console.example.com"})
	require.Equal(t, 303, v.ask(http.MethodGet, "/companies", nil).status)
	require.Equal(t, http.StatusUnprocessableEntity, p.visitor().ask(http.MethodPost, "/sign-in/operator", url.Values{"token": {"guess"}}).status)
}
