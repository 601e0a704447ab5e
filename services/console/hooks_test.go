package console_test

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
)

// get opens a page of the company, which has to be there.
func (v *visitor) get(path string) string {
	v.t.Helper()
	got := v.ask(http.MethodGet, path, nil)
	require.Equal(v.t, http.StatusOK, got.status, "%s: %s", path, got.body)
	return got.body
}

var (
	inSecret  = regexp.MustCompile(`id="secret">([^<]+)<`)
	inVersion = regexp.MustCompile(`name="version" value="(\d+)"`)
	inKey     = regexp.MustCompile(`name="key" value="([0-9a-f-]+)"`)
	inLive    = regexp.MustCompile(`data-live="([^"]+)"`)
)

// secretIn is the secret that a page shows.
func secretIn(t *testing.T, body string) string {
	t.Helper()
	found := inSecret.FindStringSubmatch(body)
	require.Len(t, found, 2, body)
	return html.UnescapeString(found[1])
}

// A subscription is made in a form that keeps what was typed, is changed, paused, resumed and deleted, and shows its secret once.
func TestConsoleMakesASubscription(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	v := p.signedIn(s.people[company.RoleDeveloper])
	root := "/c/" + s.id.String()
	form := v.get(root + "/webhooks/new")
	require.Contains(t, form, `value="order.*"`)
	require.Contains(t, form, `value="order.created"`)
	key := inKey.FindStringSubmatch(form)[1]

	typed := url.Values{"url": {"ftp://example.com"}, "name": {"Mirror"}, "events": {"order.created"}, "filter": {`{"data.number":7,"data..x":1}`}, "headers": {"X-Api-Key: hush"}, "key": {key}}
	got := v.ask(http.MethodPost, root+"/webhooks/new", typed)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, `id="e-url"`)
	require.Contains(t, got.body, `value="Mirror"`, "what was typed stays")
	require.Regexp(t, `value="order.created" checked`, got.body)

	typed["do"], typed["filter"] = []string{"try"}, []string{`{"data.number":8}`}
	got = v.ask(http.MethodPost, root+"/webhooks/new", typed)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Contains(t, got.body, "0 of the last 1 event")
	require.Contains(t, got.body, `<span class="id">data.number</span>`, "the key that fails")
	require.Contains(t, got.body, `<span class="id">7</span>`, "what was found")
	typed["filter"] = []string{`{"data.number":7}`}
	require.Contains(t, v.ask(http.MethodPost, root+"/webhooks/new", typed).body, "1 of the last 1 event")

	typed.Del("do")
	typed["url"] = []string{"http://127.0.0.1:1/mirror"}
	got = v.ask(http.MethodPost, root+"/webhooks/new", typed)
	require.Equal(t, http.StatusOK, got.status, got.body)
	secret := secretIn(t, got.body)
	require.NoError(t, webhook.CheckSecret(secret))
	require.Equal(t, secret, secretIn(t, v.ask(http.MethodPost, root+"/webhooks/new", typed).body), "a repeat of the form makes no second one")
	page := regexp.MustCompile(root + `/webhooks/[0-9a-f-]{36}`).FindString(got.body)
	settings := v.get(page + "?tab=settings")
	require.NotContains(t, settings, secret)
	require.NotContains(t, settings, "hush")
	require.Contains(t, settings, "X-Api-Key")
	require.Contains(t, settings, "curl -sS")

	edit := v.get(page + "?tab=edit")
	version := inVersion.FindStringSubmatch(edit)[1]
	change := url.Values{"url": {"http://127.0.0.1:1/mirror"}, "name": {"Other"}, "events": {"order.*"}, "version": {version}}
	require.Equal(t, http.StatusSeeOther, v.ask(http.MethodPost, page+"/edit", change).status)
	got = v.ask(http.MethodPost, page+"/edit", change)
	require.Equal(t, http.StatusUnprocessableEntity, got.status, "somebody else has changed it since the form was opened")
	require.Contains(t, got.body, `role="alert"`)
	settings = v.get(page + "?tab=settings")
	require.Contains(t, settings, "X-Api-Key", "what was not typed stays")

	require.Equal(t, http.StatusSeeOther, v.ask(http.MethodPost, page+"/pause", nil).status)
	require.Contains(t, v.get(page), "is paused")
	require.Equal(t, http.StatusSeeOther, v.ask(http.MethodPost, page+"/resume", nil).status)
	rotated := v.ask(http.MethodPost, page+"/rotate", url.Values{"overlapHours": {"24"}})
	require.NotEqual(t, secret, secretIn(t, rotated.body))
	require.Equal(t, http.StatusSeeOther, v.ask(http.MethodPost, page+"/delete", nil).status)
	require.Equal(t, http.StatusNotFound, v.ask(http.MethodGet, page, nil).status)
	audit := p.signedIn(s.people[company.RoleOwner]).get(root + "/audit")
	for _, operation := range []string{"createWebhookSubscription", "updateWebhookSubscription", "rotateWebhookSecret", "deleteWebhookSubscription"} {
		require.Contains(t, audit, operation)
	}
	require.NotContains(t, audit, secret)
}

// delivery puts a delivery of a logged event into the database, as the router and the sender do.
func (p *pages) delivery(s premises, event string, state int, code *int) string {
	p.t.Helper()
	sub, id := uuid.MustParse(s.records["/webhooks"]), uuid.MustParse(event)
	made := webhook.DeliveryID(id, sub, 0)
	_, err := p.DB.Exec(p.t.Context(), `INSERT INTO deliveries (company_id, subscription_id, id, event_id, event, state, attempt, expires_at, is_test, created_at, updated_at, http_code, response_body, error, duration_ms, completed_at)
VALUES ($1, $2, $3, $4, 'order.created', $5::INT2, 7, $6, false, $7, $7, $8, 'no such table', 'the receiver answered 500', 12, $7)`,
		s.id, sub, made, id, state, time.Now().Add(22*time.Hour), time.Now(), code)
	require.NoError(p.t, err)
	return made.String()
}

// The page of a receiver shows what was given up and sends it again: one, the selected ones, or all by a replay that counts first.
func TestConsoleSendsAgain(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	code := 500
	failed := p.delivery(s, s.records["/events"], 3, &code)
	v := p.signedIn(s.people[company.RoleOwner])
	root := "/c/" + s.id.String()
	page := root + "/webhooks/" + s.records["/webhooks"]

	list := v.get(root + "/webhooks")
	require.Contains(t, list, `<svg class="spark"`)
	require.Contains(t, list, "deliveries in the last 24 hours, 1 failed")
	require.Contains(t, v.get(page), "· failed: 1</title>", "the bar of the hour")
	dead := v.get(page + "?tab=dead")
	require.Contains(t, dead, failed)
	require.Contains(t, dead, "no such table")
	require.NotContains(t, v.get(page+"?tab=dead&answer=4xx"), failed)

	got := v.ask(http.MethodPost, root+"/webhooks/deliveries/redeliver", url.Values{"id": {failed, uuid.NewString()}})
	require.Contains(t, got.body, "Sent again: 1 of 2")
	require.Contains(t, got.body, "refused")
	require.Contains(t, v.get(root+"/webhooks/deliveries/"+failed), "HTTP 500")

	got = v.ask(http.MethodPost, page+"/replay", url.Values{"do": {"count"}, "status": {"failed"}, "rate": {"0"}})
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.body, `id="e-rate"`)
	got = v.ask(http.MethodPost, page+"/replay", url.Values{"do": {"count"}, "status": {"failed"}, "rate": {"10"}})
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	require.Contains(t, got.location, "rate=10", "the form keeps what was counted")
	replays := v.get(page + "?tab=replay")
	require.Contains(t, replays, "count: What failed")
	require.Contains(t, replays, "<progress")
	replay := regexp.MustCompile(`webhooks/replays/([0-9a-f-]{36})/pause`).FindStringSubmatch(replays)[1]
	for _, command := range []string{"pause", "resume", "cancel"} {
		got = v.ask(http.MethodPost, root+"/webhooks/replays/"+replay+"/"+command, url.Values{"subscription": {s.records["/webhooks"]}})
		require.Equal(t, page+"?tab=replay", got.location, got.body)
	}
	require.Contains(t, v.get(page+"?tab=replay"), "canceled")
}

// log puts an event into the log, as the relay does.
func (p *pages) log(s premises, event, kind string, entity uuid.UUID, actor, data string) {
	p.t.Helper()
	id := uuid.Must(uuid.NewV7())
	body := fmt.Sprintf(`{"event":%q,"companyId":%q,"occurredAt":%q,"actorId":%q,"data":%s,"eventId":%q}`, event, s.id, time.Now().UTC().Format(time.RFC3339), actor, data, id)
	_, err := p.DB.Exec(p.t.Context(), `INSERT INTO events (company_id, seq, id, event, agg_type, agg_id, agg_version, body, occurred_at, expires_at)
SELECT $1, 1 + max(seq), $2, $3, $4, $5, 1, $6, $7, $8 FROM events WHERE company_id = $1`, s.id, id, event, kind, entity, []byte(body), time.Now().UTC(), time.Now().Add(time.Hour))
	require.NoError(p.t, err)
}

// Events are found by name, record, token, request and time, and the page of one leads to its trace.
func TestConsoleFindsEvents(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	v := p.signedIn(s.people[company.RoleOwner])
	root, event, owner := "/c/"+s.id.String()+"/events", s.records["/events"], s.people[company.RoleOwner].ID.String()
	at := func(d time.Duration) string {
		return url.QueryEscape(time.Now().Add(d).UTC().Format("2006-01-02T15:04"))
	}
	for query, found := range map[string]bool{
		"":                                true,
		"?event=order.*":                  true,
		"?event=sale.*":                   false,
		"?actor=" + uuid.NewString():      false,
		"?actor=" + owner:                 false,
		"?entity=" + uuid.NewString():     false,
		"?from=" + at(-26*time.Hour):      true,
		"?from=" + at(26*time.Hour):       false,
		"?to=" + at(-26*time.Hour):        false,
		"?request=nobody-has-sent-this-1": false,
		"?entity=no-id":                   false,
	} {
		body := v.get(root + query)
		require.Equal(t, found, strings.Contains(body, event), query)
	}
	require.Contains(t, v.get(root+"?entity=no-id"), `id="e-entity"`)
	client, _ := p.call(s, p.external, http.MethodPost, "/clients", `{"kind":"individual","displayName":"Ada Moss"}`)["id"].(string)
	p.log(s, "client.created", "client", uuid.MustParse(client), owner, `{"name":"Ada Moss"}`)
	ofPerson := v.get(root + "?actor=" + owner)
	require.Contains(t, ofPerson, "Client Ada Moss", "what a person did in the console")
	require.NotContains(t, ofPerson, event)
	require.Contains(t, ofPerson, `<option value="`+owner+`" selected>`, "a person is chosen by name")
	require.Contains(t, ofPerson, s.name+" (token)</option>", "so is a token")
	require.Contains(t, v.get(root+"?entity="+client), `type="search" value="Client Ada Moss"`, "a record by what people call it")
	require.Contains(t, v.get("/c/"+s.id.String()+"/requests?entityId="+client), `type="search" value="Client Ada Moss"`)
	require.Contains(t, v.get("/c/"+s.id.String()+"/find/suggest?of=any&q=moss"), `data-id="`+client+`" data-name="Ada Moss"`, "and is found among all lists")
	require.Contains(t, v.get(root+"?request=nobody"), `id="e-request"`)
	require.NotContains(t, v.get(root+"/"+event), "https://traces.example.com", "the event has no trace")
	_, err := p.DB.Exec(t.Context(), `UPDATE events SET traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' WHERE company_id = $1 AND id = $2`, s.id, event)
	require.NoError(t, err)
	body := v.get(root + "/" + event)
	require.Contains(t, body, `href="https://traces.example.com/trace/0af7651916cd43dd8448eb211c80319c"`)
	require.Contains(t, body, "include=way", "as curl")
}

// stream opens the stream of a page over a real server with short deadlines, and returns its events.
func (v *visitor) stream(ctx context.Context, base, page string) (events <-chan string, status int) {
	v.t.Helper()
	address := strings.ReplaceAll(inLive.FindStringSubmatch(v.get(page))[1], "&amp;", "&")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+address, nil)
	require.NoError(v.t, err)
	for _, c := range v.cookies {
		req.AddCookie(c)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(v.t, err)
	out := make(chan string, 100)
	go func() {
		defer close(out)
		defer func() { _ = res.Body.Close() }()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				out <- name
			}
		}
	}()
	return out, res.StatusCode
}

// next waits for an event of a stream other than a beat; "" = the stream is over.
func next(t *testing.T, events <-chan string) string {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case name := <-events:
			if name != "beat" {
				return name
			}
		case <-late:
			t.Fatal("the stream says nothing")
		}
	}
}

// A stream tells of changes past the deadlines of the server, and ends soon after its session.
func TestConsoleStreams(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	srv := httptest.NewUnstartedServer(p.app)
	srv.Config.ReadTimeout, srv.Config.WriteTimeout = 300*time.Millisecond, 300*time.Millisecond
	srv.Start()
	t.Cleanup(srv.Close)
	owner, viewer := p.signedIn(s.people[company.RoleOwner]), p.signedIn(s.people[company.RoleViewer])
	page := "/c/" + s.id.String() + "/webhooks/" + s.records["/webhooks"]
	ofOwner, status := owner.stream(t.Context(), srv.URL, page)
	require.Equal(t, http.StatusOK, status)
	ofViewer, _ := viewer.stream(t.Context(), srv.URL, page)

	select {
	case name := <-ofOwner:
		require.Equal(t, "beat", name)
	case <-time.After(10 * time.Second):
		t.Fatal("no beat")
	}
	<-time.After(time.Second) // longer than the deadlines of the server
	require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, page+"/pause", nil).status)
	require.Equal(t, "changed", next(t, ofOwner))
	require.Equal(t, "changed", next(t, ofViewer))

	owner.ask(http.MethodPost, "/c/"+s.id.String()+"/people/"+s.people[company.RoleViewer].ID.String()+"/block", nil)
	require.Equal(t, "over", next(t, ofViewer))
	require.Empty(t, next(t, ofViewer))

	for range web.MaxStreamsPerSession - 1 {
		_, status = owner.stream(t.Context(), srv.URL, page)
		require.Equal(t, http.StatusOK, status)
	}
	_, status = owner.stream(t.Context(), srv.URL, page)
	require.Equal(t, http.StatusServiceUnavailable, status, "a session has so many streams and no more")
}

// Operators see the deliveries of all companies, those of the newest events first, and page through them.
func TestConsoleDeliveriesOfAllCompanies(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	one, two := p.shop(), p.shop()
	code := 503
	failed, open := p.delivery(one, one.records["/events"], 3, &code), p.delivery(two, two.records["/events"], 0, nil)
	const all = "/platform/deliveries"
	ann := p.operator(p.read)
	at := func(s premises, delivery string) string {
		return `href="/c/` + s.id.String() + "/webhooks/deliveries/" + delivery + `"`
	}
	both := func(query string) (found []bool) {
		t.Helper()
		got := ann.ask(http.MethodGet, all+query, nil)
		require.Equal(t, http.StatusOK, got.status, got.body)
		return []bool{strings.Contains(got.body, at(one, failed)), strings.Contains(got.body, at(two, open))}
	}
	ofOne, ofTwo := "?company="+one.id.String(), "?company="+two.id.String()
	require.Equal(t, []bool{true, false}, both(ofOne))
	require.Equal(t, []bool{false, true}, both(ofTwo))
	require.Equal(t, []bool{true, false}, both(ofOne+"&status=failed&answer=5xx&event=order.*&subscription="+one.records["/webhooks"]))
	require.Equal(t, []bool{false, false}, both(ofOne+"&status=success"))
	require.Equal(t, []bool{false, false}, both(ofOne+"&subscription="+uuid.NewString()))
	require.Equal(t, []bool{false, false}, both(ofOne+"&from=2020-01-01T00:00&to=2020-01-02T00:00"))

	body := ann.get(all + ofOne)
	require.Contains(t, body, `value="`+one.name+`"`, "the company by its name")
	require.Contains(t, body, `hx-get="/companies/suggest"`)
	require.Contains(t, body, `<option value="`+one.records["/webhooks"]+`">127.0.0.1:1</option>`, "its receivers by theirs")
	require.Contains(t, body, `href="/c/`+one.id.String()+`/webhooks/`+one.records["/webhooks"]+`">127.0.0.1:1</a>`)
	require.NotContains(t, ann.get(all), `name="subscription"`, "without a company there are too many")
	suggested := ann.get("/companies/suggest?" + url.Values{"q": {one.name}}.Encode())
	require.Contains(t, suggested, `data-id="`+one.id.String()+`" data-name="`+one.name+`"`)
	require.NotContains(t, suggested, two.id.String())
	require.Equal(t, http.StatusNotFound, p.signedIn(one.people[company.RoleOwner]).ask(http.MethodGet, "/companies/suggest?q=Shop", nil).status)

	// A page has 50 deliveries, and the next one has the same filters.
	for range 50 {
		p.delivery(one, uuid.Must(uuid.NewV7()).String(), 2, nil)
	}
	seen, pages := []bool{false, false}, 0
	for next := all + ofOne; next != ""; pages++ {
		body := ann.get(next)
		require.LessOrEqual(t, strings.Count(body, "/webhooks/deliveries/"), 50)
		seen[0], seen[1] = seen[0] || strings.Contains(body, at(one, failed)), seen[1] || strings.Contains(body, at(two, open))
		m := regexp.MustCompile(`href="(/platform/deliveries\?[^"]*cursor=[^"]*)"`).FindStringSubmatch(body)
		if next = ""; m != nil {
			next = html.UnescapeString(m[1])
		}
	}
	require.Equal(t, []bool{true, false}, seen)
	require.Equal(t, 2, pages)

	for query, fault := range map[string]string{
		"?company=mine": "Choose a company from the list", "?subscription=" + uuid.NewString(): "Choose the company of the receiver", ofOne + "&subscription=x": "Choose the company of the receiver",
		ofOne + "&event=Order": `id="e-event"`, ofOne + "&from=2026-01-02T00:00&to=2026-01-01T00:00": "The first day must not be after the last one.",
	} {
		got := ann.ask(http.MethodGet, all+query, nil)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, query)
		require.Contains(t, got.body, fault, query)
	}
	require.Equal(t, http.StatusNotFound, p.signedIn(one.people[company.RoleOwner]).ask(http.MethodGet, all+ofOne, nil).status)
}

// The stream of the pipeline is for operators, says what has changed, and ends with the session of the operator or its token.
func TestConsoleStreamOfThePipeline(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	srv := httptest.NewServer(p.app)
	t.Cleanup(srv.Close)
	const page = "/platform/pipeline"
	for role, person := range s.people {
		if person.MaySignIn() {
			require.Equal(t, http.StatusNotFound, p.signedIn(person).ask(http.MethodGet, "/platform/live/pipeline", nil).status, role)
		}
	}
	require.Equal(t, http.StatusSeeOther, p.visitor().ask(http.MethodGet, "/platform/live/pipeline", nil).status, "nobody is signed in")

	reads, writes := p.operator(p.read), p.operator(p.write)
	ofReader, status := reads.stream(t.Context(), srv.URL, page)
	require.Equal(t, http.StatusOK, status)
	ofWriter, _ := writes.stream(t.Context(), srv.URL, page)
	p.delivery(s, s.records["/events"], 0, nil)
	require.Equal(t, "changed", next(t, ofReader))
	require.Equal(t, "changed", next(t, ofWriter))

	writes.ask(http.MethodPost, "/sign-out", nil)
	for said := ""; said != "over"; {
		said = next(t, ofWriter)
	}
	require.Empty(t, next(t, ofWriter))
	for range web.MaxStreamsPerSession - 1 {
		_, status = reads.stream(t.Context(), srv.URL, page)
		require.Equal(t, http.StatusOK, status)
	}
	_, status = reads.stream(t.Context(), srv.URL, page)
	require.Equal(t, http.StatusServiceUnavailable, status)
}

// A page that renews itself does not keep a session that nobody uses.
func TestConsoleRenewalIsNoUse(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	v := p.signedIn(s.people[company.RoleViewer])
	page := "/c/" + s.id.String() + "/webhooks"
	ago := time.Now().UTC().Add(-10 * time.Minute).Truncate(time.Second)
	seen := func() (at time.Time) {
		require.NoError(t, p.DB.QueryRow(t.Context(), `SELECT seen_at FROM sessions WHERE company_id = $1`, s.id).Scan(&at))
		return at
	}
	_, err := p.DB.Exec(t.Context(), `UPDATE sessions SET seen_at = $2 WHERE company_id = $1`, s.id, ago)
	require.NoError(t, err)
	for name, value := range map[string]string{"X-Renews": "1", "Accept": "text/event-stream"} {
		got := v.ask(http.MethodGet, page, nil, func(r *http.Request) { r.Header.Set(name, value) })
		require.Equal(t, http.StatusOK, got.status)
		require.WithinDuration(t, ago, seen(), 0, name)
	}
	v.get(page)
	require.WithinDuration(t, time.Now(), seen(), time.Minute)
}

// Streams end when the process does, and do not keep it.
func TestConsoleStreamsEndWithTheProcess(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	ln, err := roles.Listen(t.Context(), "", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.app.Serve(ctx, ln) }()
	v := p.signedIn(s.people[company.RoleOwner])
	events, status := v.stream(t.Context(), "http://"+ln.Addr().String(), "/c/"+s.id.String()+"/webhooks")
	require.Equal(t, http.StatusOK, status)
	began := time.Now()
	stop()
	require.NoError(t, <-ended)
	require.Less(t, time.Since(began), time.Minute, "long before the stream ends by itself")
	require.Empty(t, next(t, events))
}

// The form of a webhook makes conditions of the fields of a real event by one click, takes them back, and shows each time what passes.
func TestConsoleBuildsAFilterFromAnEvent(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	p.log(s, "order.created", "order", uuid.New(), "system", `{"id":"1","number":8,"channel":"website","lines":[{"name":"<b>Bell"}],"a.b":1,"note":null,"tags":[]}`)
	p.log(s, "order.created", "order", uuid.New(), "system", `{"id":"2","number":9,"channel":"phone","lines":[]}`)
	v := p.signedIn(s.people[company.RoleDeveloper])
	at := "/c/" + s.id.String() + "/webhooks/new"
	typed := url.Values{"url": {"https://example.com/hook"}, "events": {"order.created"}}
	do := func(what string) string {
		t.Helper()
		typed.Set("do", what)
		got := v.ask(http.MethodPost, at, typed)
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Contains(t, got.body, `value="https://example.com/hook"`, "what was typed stays")
		filter := regexp.MustCompile(`(?s)<textarea id="f-filter"[^>]*>\n(.*?)</textarea>`).FindStringSubmatch(got.body)
		require.NotNil(t, filter)
		typed.Set("filter", html.UnescapeString(filter[1]))
		return got.body
	}
	body := do("try")
	require.Contains(t, body, "3 of the last 3 events")
	require.Contains(t, body, `value="add data.channel"`, "the newest event is shown")
	require.Contains(t, body, "&#34;phone&#34;")
	newest := regexp.MustCompile(`<option value="([0-9a-f-]{36})" selected>order.created`).FindStringSubmatch(body)[1]
	sample := regexp.MustCompile(`<option value="([0-9a-f-]{36})">order.created`).FindStringSubmatch(body)[1]
	typed.Set("sample", sample)
	body = do("try")
	require.Contains(t, body, `value="add data.lines.0.name"`)
	require.Contains(t, body, "&lt;b&gt;Bell")
	require.Contains(t, body, `value="add data.note"`)
	require.NotContains(t, body, `add data.a.b`, "a name with a dot has no path")
	require.NotContains(t, body, `add data.tags`, "an empty list is no value of a condition")

	body = do("add data.channel")
	require.Contains(t, body, "1 of the last 3 events")
	require.JSONEq(t, `{"data.channel":"website"}`, typed.Get("filter"))
	require.Contains(t, body, `value="less data.channel"`)
	typed.Set("sample", newest)
	body = do("add data.channel")
	require.Contains(t, body, "2 of the last 3 events")
	require.JSONEq(t, `{"data.channel":["website","phone"]}`, typed.Get("filter"))
	body = do("add data.number")
	require.Contains(t, body, "1 of the last 3 events")
	body = do("drop data.number")
	require.Contains(t, body, "2 of the last 3 events")
	body = do("less data.channel")
	require.JSONEq(t, `["website"]`, regexp.MustCompile(`\[.*\]`).FindString(typed.Get("filter")))
	require.Contains(t, body, "1 of the last 3 events")
	do("drop data.channel")
	require.Empty(t, strings.TrimSpace(typed.Get("filter")))
	for _, nothing := range []string{"add data.nothing", "add ", "drop data.x", "less data.channel"} {
		require.Contains(t, do(nothing), "3 of the last 3 events", nothing)
	}
	typed.Set("sample", uuid.NewString())
	do("add data.channel")
	require.Empty(t, strings.TrimSpace(typed.Get("filter")), "no condition of another event than the one that was shown")
}

// The page of a receiver has what happens most, and what of it the receiver gets.
func TestConsoleTellsWhatIsSent(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	for _, channel := range []string{"website", "phone", "phone"} {
		p.log(s, "order.created", "order", uuid.New(), "system", `{"id":"1","number":8,"channel":"`+channel+`"}`)
	}
	p.log(s, "client.created", "client", uuid.New(), "system", `{"id":"1"}`)
	v := p.signedIn(s.people[company.RoleDeveloper])
	root := "/c/" + s.id.String()
	made := v.ask(http.MethodPost, root+"/webhooks/new", url.Values{"url": {"http://127.0.0.1:1/x"}, "events": {"order.*"}, "filter": {`{"data.channel":"phone"}`}, "key": {uuid.NewString()}})
	require.Equal(t, http.StatusOK, made.status, made.body)
	page := v.get(regexp.MustCompile(root + `/webhooks/[0-9a-f-]{36}`).FindString(made.body))
	require.Contains(t, page, "of the last 5 events")
	require.Regexp(t, `(?s)event=order.created">order.created.*80.*>4<.*gets 2 of 4.*filtered out.*client.created.*20.*>1<.*not subscribed`, page)
}

// What is wrong with a filter is said in the language of the person, beside what was typed.
func TestConsoleSaysWhatIsWrongWithAFilter(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	s := p.shop()
	v := p.signedIn(s.people[company.RoleDeveloper])
	german := func(r *http.Request) { r.Header.Set("Accept-Language", "de") }
	for filter, text := range map[string]string{
		`{`:                         "Schreiben Sie ein JSON-Objekt",
		`{"data":1}`:                "Nennen Sie ein Feld",
		`{"data..x":1}`:             "Zwei Punkte",
		`{"status":1}`:              "Meinten Sie data.status?",
		`{"data.numbr":1}`:          "haben kein Feld numbr",
		`{"data.number":[]}`:        "Eine leere Liste",
		`{"data.id":1,"data.id":2}`: "steht zweimal da",
	} {
		got := v.ask(http.MethodPost, "/c/"+s.id.String()+"/webhooks/new", url.Values{"events": {"order.*"}, "filter": {filter}, "do": {"try"}}, german)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, filter)
		require.Contains(t, got.body, text, filter)
		require.NotContains(t, got.body, "can never match", filter)
	}
}
