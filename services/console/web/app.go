// Package web is the console: the pages that people open. It reads and changes records by the operations of the APIs, see [Call], with a
// caller whose scopes follow from the role, and knows no SQL and no rule of its own. Each area is a package below, a [Pages], with
// its handlers and templates side by side. The layer lies between cmd and the services: no service imports it.
// See docs/console.md.
package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
	"github.com/tradegrid/tradegrid/services/platform/audit"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

// Sessions finds out who asks.
type Sessions interface {
	Session(ctx context.Context, token string, v accounts.Visit) (accounts.Session, error)
	Peek(ctx context.Context, token string, v accounts.Visit) (accounts.Session, error)
	SignOut(ctx context.Context, one accounts.Session) error
}

// Companies knows companies and their users.
type Companies interface {
	Access(ctx context.Context, id tenant.ID) (company.Access, error)
	User(ctx context.Context, by access.Caller, id uuid.UUID) (company.User, error)
}

// Changes keeps the record of changes, which is that of the admin API.
type Changes interface {
	RecordPerson(tx *db.Tx, c audit.PersonChange) error
}

// Config holds what the console needs.
type Config struct {
	DB        *db.DB
	Sessions  Sessions
	Companies Companies
	Changes   Changes
	Operators *secret.Operators // nil lets no operators in
	External  API               // the external API, in this process
	Admin     API               // the admin API, in this process
	APIURL    string            // where clients reach the external API, for what they copy
	URL       string            // where people reach the console; https:// makes cookies secure
	Proxies   []netip.Prefix    // whose X-Forwarded-For is trusted
	Source    string            // folder services/console of the source: templates and style are read anew for each page; "" = those of the binary
	Gallery   bool              // show the pieces at /gallery
	Release   string
	Rate      *ratelimit.Limiter // of the requests of people

	MaxConns          int // open connections; 0 = no limit
	MaxConnsOfAddress int // open connections from one address outside Proxies; 0 = no limit

	Log *slog.Logger
}

// App serves the console.
type App struct {
	cfg     Config
	views   *views
	assets  *assets
	texts   texts
	pages   []Page
	live    *live
	people  people
	handler http.Handler
}

const (
	maxBody    = 64 << 10 // see docs/reference/limits.md#console
	maxHeader  = 32 << 10
	pageWithin = 10 * time.Second
)

// New returns the console with the pages of these areas.
func New(cfg Config, pages ...Pages) (*App, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	a := &App{cfg: cfg, live: newLive(cfg.MaxConns), people: people{rate: cfg.Rate}}
	var err error
	if a.texts, err = readTexts(); err != nil {
		return nil, err
	}
	if a.assets, err = newAssets(cfg.Source); err != nil {
		return nil, err
	}
	if cfg.Gallery {
		pages = append(pages, gallery{})
	}
	folders := make([]Folder, len(pages))
	for i, p := range pages {
		folders[i] = p.Folder()
	}
	if a.views, err = newViews(a, folders); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", a.assets)
	mux.HandleFunc("GET /{$}", a.entrance)
	for _, folder := range folders {
		for _, p := range folder.Routes {
			a.pages = append(a.pages, p)
			pageDuration.WithLabelValues(p.pattern(), "200") // it is there before the first request
			if p.watch != nil {
				mux.Handle(p.pattern(), a.stream(p))
				continue
			}
			mux.Handle(p.pattern(), a.serve(p))
		}
	}
	mux.Handle("/", a.serve(Page{Audience: Anyone, Handle: func(context.Context, *Request) (Answer, error) { return Answer{}, errNoPage }}))
	a.handler = a.guard(mux)
	return a, nil
}

// Pages are all routes, for tests that walk them.
func (a *App) Pages() []Page { return a.pages }

// Pattern is the route of a page, as METHOD /path.
func (p Page) Pattern() string { return p.pattern() }

// ServeHTTP implements [http.Handler].
func (a *App) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// Serve serves until ctx is done. A template that is wrong is an error here, not on a page.
func (a *App) Serve(ctx context.Context, ln net.Listener) error {
	if err := a.views.check(); err != nil {
		return err
	}
	ln = transport.LimitConnections(ln, transport.ConnectionLimits{
		Total: a.cfg.MaxConns, PerAddress: a.cfg.MaxConnsOfAddress, Exempt: a.trusts, Respond: refuseConnection, Log: a.cfg.Log,
	})
	srv := &http.Server{
		Handler: a, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 90 * time.Second,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(a.cfg.Log.Handler(), slog.LevelDebug),
	}
	srv.RegisterOnShutdown(a.live.close)
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = srv.Shutdown(within) // what is left is cut off
	})
	err := srv.Serve(ln)
	if !stop() {
		<-stopped
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve console: %w", err)
}

// refuseConnection is the response to a connection that is one too many, whose request is not read.
func refuseConnection(f *apierr.Error) []byte {
	text := f.Message + "\n"
	res := http.Response{
		StatusCode: f.Status, ProtoMajor: 1, ProtoMinor: 1, Close: true, ContentLength: int64(len(text)), Body: io.NopCloser(strings.NewReader(text)),
		Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "Retry-After": {strconv.Itoa(f.RetryAfter)}},
	}
	var b bytes.Buffer
	_ = res.Write(&b) // writes to a buffer do not fail
	return b.Bytes()
}

// entrance leads to where a person works.
func (a *App) entrance(w http.ResponseWriter, r *http.Request) {
	a.serve(Page{Audience: SignedIn, Area: Account, Handle: func(_ context.Context, q *Request) (Answer, error) {
		if q.Person.Operator() {
			return Go("/companies"), nil
		}
		return Go("/c/" + q.Session.Company.String() + "/"), nil
	}}).ServeHTTP(w, r)
}

// serve answers requests for a page.
func (a *App) serve(p Page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), p.limits(w, r))
		defer cancel()
		began := time.Now()
		q := a.request(r)
		q.counted, q.isPart = true, p.part
		defer q.end()
		answer, err := a.answer(ctx, p, q)
		if err != nil {
			answer = a.refuse(ctx, q, err)
		}
		a.write(ctx, w, q, p, answer)
		observe(p, answer, began)
	})
}

// request is a request whose sender is not known yet.
func (a *App) request(r *http.Request) *Request {
	return &Request{
		HTTP: r, Visit: a.visit(r), Zone: time.UTC, Now: a.cfg.DB.Now(), ID: telemetry.RequestOf(r.Context()), app: a, lang: a.texts.choose(r.Header.Get("Accept-Language")),
	}
}

// answer checks who asks, reads the form, and lets the page answer.
func (a *App) answer(ctx context.Context, p Page, q *Request) (Answer, error) {
	if err := a.admit(ctx, p, q); err != nil {
		return Answer{}, err
	}
	q.Form = q.HTTP.URL.Query()
	if p.receives > 0 {
		if err := q.readFields(); err != nil {
			return Answer{}, err
		}
		defer q.skipFiles()
	} else if p.writes() {
		if err := q.HTTP.ParseForm(); errors.As(err, new(*http.MaxBytesError)) {
			return Answer{}, errLarge
		} else if err != nil {
			return Answer{}, errForm
		}
		q.Form = q.HTTP.PostForm
	}
	if !q.Person.Operator() { // who looks after a company that uses up its share must not wait with it
		ctx = tenant.With(ctx, q.Company.ID)
	}
	return p.Handle(ctx, q)
}

// record keeps a change with who made it.
func (a *App) record(tx *db.Tx, q *Request, operation string, c Changed) error {
	return a.cfg.Changes.RecordPerson(tx, audit.PersonChange{
		By: q.name(), UserID: q.Session.User, Operation: operation, Company: q.Company.ID, Entity: c.Entity, Before: c.Before, After: c.After,
		RequestID: q.ID,
	})
}

// name is how the record of changes names who made one.
func (q *Request) name() string {
	if q.Person.Operator() {
		return q.Person.Name
	}
	return q.Person.Email
}

func withRequestID(r *http.Request) (*http.Request, string) {
	id := record.NewID().String()
	return r.WithContext(telemetry.WithRequest(r.Context(), id)), id
}

// signIn is the address of the page to sign in, from which a person comes back.
func signIn(r *http.Request) string {
	if r.Method != http.MethodGet || r.URL.Path == "/" {
		return "/sign-in"
	}
	return "/sign-in?next=" + url.QueryEscape(r.URL.RequestURI())
}

// Next is an address of the console that a form names, or the entrance: never one of another site.
func Next(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.ContainsAny(text, "\\\r\n\t") {
		return "/"
	}
	return text
}

// With is an address with parameters, given as name and value; those without a value are left out.
func With(address string, pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	if len(values) == 0 {
		return address
	}
	return address + "?" + values.Encode()
}

// Pairs are the parameters with these names that the address has, and their values, for [With].
func (q *Request) Pairs(names ...string) (pairs []string) {
	for _, name := range names {
		if v := q.Form.Get(name); v != "" {
			pairs = append(pairs, name, v)
		}
	}
	return pairs
}

// OneOf is the text if it is one of the values, and else "", as if the filter was not set.
func OneOf(text string, values []string) string {
	if slices.Contains(values, text) {
		return text
	}
	return ""
}

// Pretty is JSON for reading; "" for none.
func Pretty(raw []byte) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// Segment is a text as a part of a path.
func Segment(text string) string { return url.PathEscape(text) }

// PrettyOf is a value as JSON for reading, cut off where it is longer than a page shows.
func PrettyOf(v any) string {
	raw, err := jsontype.Marshal(v)
	if err != nil {
		return ""
	}
	return shortened(Pretty(raw))
}

// shortened is as much of a text as a page shows.
func shortened(text string) string {
	if len(text) > maxShown {
		return strings.ToValidUTF8(text[:maxShown], "") + "\n…"
	}
	return text
}

var pageDuration = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name: "tradegrid_console_page_duration_seconds", Help: "Duration of requests for pages of the console in seconds, by route and status.",
	Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
}, []string{"route", "status"})

var openStreams = prometheus.NewGauge(prometheus.GaugeOpts{
	Name: "tradegrid_console_streams", Help: "Pages of the console that are open and hear of changes by a stream.",
})

// Metrics are the collectors of the console.
func Metrics() []prometheus.Collector { return []prometheus.Collector{pageDuration, openStreams} }

// observe measures a page by its route, never by its address, which holds ids.
func observe(p Page, answer Answer, began time.Time) {
	pageDuration.WithLabelValues(p.pattern(), strconv.Itoa(answer.status)).Observe(time.Since(began).Seconds())
}
