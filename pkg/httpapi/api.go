// Package httpapi is the HTTP layer of the external API: one registration of an operation gives its route, its
// checks in their fixed order, its validation and its place in the API description. Fiber and huma are seen only
// here; the services hand in typed functions and get typed input.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/secret"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// BasePath is the root of the API; its last segment is the version. See docs/reference/conventions.md#versioning.
const BasePath = "/api/external/v1"

// Limits of a request; see docs/reference/limits.md#request-size.
const (
	DefaultMaxBody = 1 << 20  // bytes
	BatchMaxBody   = 10 << 20 // bytes
	requestTimeout = 30 * time.Second
	headerTimeout  = 10 * time.Second
	writeTimeout   = 60 * time.Second
	maxHeaderBytes = 8 << 10 // request line and header block together
)

// Authenticator finds out who a bearer token stands for. It answers with a fault for a token that may not call.
type Authenticator interface {
	// Authenticate asks the database about a token that it has not seen only with lookUp. Without it such a token is 401,
	// as one that does not exist.
	Authenticate(ctx context.Context, bearer string, ip netip.Addr, lookUp bool) (*access.Principal, error)
}

// Gate refuses requests that the platform cannot take now. The faults are for the client.
type Gate interface {
	Enter() (leave func(), err error) // before any request
	Admit() error                     // before a change
}

// Config is what the API needs from outside.
type Config struct {
	DB       *db.DB
	Auth     Authenticator
	Limiter  *ratelimit.Limiter
	Gate     Gate           // nil: everything is taken
	Release  string         // shown in X-Api-Release
	Timeout  time.Duration  // of one request; default 30 s
	KeyTTL   time.Duration  // how long an idempotent answer is kept; default 7 days
	KeyLease time.Duration  // how long an unfinished request blocks its key; default 60 s
	Proxies  []netip.Prefix // networks whose X-Forwarded-For is believed
	Keys     *secret.Keys   // seal the kept answers of operations that show a secret
	Log      *slog.Logger
	Errors   []fault.Doc // codes of the domains, for the page of error codes
	Entities []string    // records that an <ENTITY>_NOT_FOUND can be about

	PublicURL      string        // scheme and host that links in answers start with; "" makes them relative
	HeaderTimeout  time.Duration // for a request line and its headers; default 10 s. Bodies have until Timeout.
	MaxConnections int           // open at a time; 0 = no limit, as for the next
	MaxPerAddress  int           // open at a time from one address that is not in Proxies
}

// API is the server of the external API.
type API struct {
	cfg   Config
	app   *fiber.App
	desc  *huma.OpenAPI
	ops   []Op
	paths pathTree
	keys  keyStore
	log   *slog.Logger

	failures *ratelimit.Failures // calls without a valid token, by address
}

// Op declares one operation.
type Op struct {
	Method      string
	Path        string // relative to BasePath, parameters as {id}
	ID          string // operationId, unique
	Summary     string
	Description string
	Tag         string         // section of the API description
	Scope       string         // resource whose scope is needed: read for GET, write for all else; "" = any valid token
	Component   string         // component that must be enabled; "" = none
	Status      int            // of success; default 200
	MaxBody     int            // bytes; default [DefaultMaxBody]
	Errors      map[int]string // errors of this operation alone: status → meaning
	Secret      bool           // the answer shows a secret: what is kept for a repeat is sealed
}

// Section is what the operations of one domain have in common.
type Section struct {
	Tag       string
	Scope     string
	Component string
}

// Op declares an operation of the section; status is that of success.
func (s Section) Op(method, path, id, summary string, status int) Op {
	return Op{Method: method, Path: path, ID: id, Summary: summary, Status: status, Tag: s.Tag, Scope: s.Scope, Component: s.Component}
}

// ByID is the input of an operation on one record that takes nothing else.
type ByID struct {
	Call
	ID uuid.UUID `path:"id" format:"uuid"`
}

// Mutating reports whether the operation takes an idempotency key.
func (o Op) Mutating() bool { return o.Method != http.MethodGet }

// New makes an API without operations.
func New(cfg Config) *API {
	cfg.Timeout = orDefault(cfg.Timeout, requestTimeout)
	cfg.HeaderTimeout = orDefault(cfg.HeaderTimeout, headerTimeout)
	cfg.KeyTTL = orDefault(cfg.KeyTTL, 7*24*time.Hour)
	cfg.KeyLease = orDefault(cfg.KeyLease, time.Minute)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	a := &API{cfg: cfg, log: cfg.Log, desc: description(), keys: keyStore{db: cfg.DB, ttl: cfg.KeyTTL, lease: cfg.KeyLease, seal: cfg.Keys}, failures: ratelimit.NewFailures(time.Now)}
	a.app = fiber.New(fiber.Config{
		DisableStartupMessage: true,
		Immutable:             true, // values outlive the handler in group commits and caches
		StreamRequestBody:     true, // an operation reads its body, up to its limit, when the caller was checked
		ReadBufferSize:        maxHeaderBytes,
		ReadTimeout:           cfg.HeaderTimeout, // from the first byte, or from the start of the connection
		WriteTimeout:          writeTimeout,
		IdleTimeout:           120 * time.Second,
		StrictRouting:         false,
		CaseSensitive:         true,
		ErrorHandler:          a.routeError,
		// Forms are not taken; one that is broken must not fail before it gets its 415.
		DisablePreParseMultipartForm: true,
	})
	a.wrapServer()
	a.app.Use(a.middleware)
	a.mountDocs()
	return a
}

func orDefault(d, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d
}

// Ops lists the registered operations.
func (a *API) Ops() []Op { return a.ops }

// App is the Fiber application, for tests and for listeners.
func (a *API) App() *fiber.App { return a.app }

// Serve answers requests on the listener until ctx ends, then lets running requests finish for at most 25 s.
func (a *API) Serve(ctx context.Context, ln net.Listener) error {
	capped := &listener{
		Listener: ln, maxTotal: a.cfg.MaxConnections, maxPerAddress: a.cfg.MaxPerAddress, exempt: a.trusts, answer: a.rawAnswer, log: a.log,
		refusing: make(chan struct{}, 64), byNetwork: map[netip.Prefix]int{},
	}
	done := make(chan error, 1)
	go func() { done <- a.app.Listener(capped) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve API on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	if err := a.app.ShutdownWithTimeout(25 * time.Second); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stop API: %w", err)
	}
	return nil
}

// Reply is what an operation answers.
type Reply[T any] struct {
	Body    T
	Headers map[string]string
	raw     []byte // the body as it was stored for a repeat of the request
}

// OK answers with a body.
func OK[T any](body T) *Reply[T] { return &Reply[T]{Body: body} }

// None is the body of an operation that answers 204.
type None struct{}

// Register adds an operation: its route, its checks, and its place in the API description.
// I is a struct that embeds [Call], has parameters as fields tagged path, query or header, and the body as the field Body.
func Register[I, T any](a *API, op Op, handle func(context.Context, *I) (*Reply[T], error)) {
	if op.Status == 0 {
		op.Status = http.StatusOK
	}
	if op.MaxBody == 0 {
		op.MaxBody = DefaultMaxBody
	}
	o := &operation{Op: op}
	if op.Component != "" && op.Scope == "" {
		panic("operation " + op.ID + " has a component but no scope")
	}
	o.bind = newBinder(a.desc.Components.Schemas, reflect.TypeFor[I]())
	ho := a.describe(op)
	o.bind.describe(&ho)
	run := func(ctx context.Context, r *request) (*answer, error) {
		in := new(I)
		if err := o.bind.bind(r, reflect.ValueOf(in).Elem()); err != nil {
			return nil, err
		}
		reply, err := handle(ctx, in)
		if err != nil {
			return nil, err
		}
		return newAnswer(op, reply)
	}
	a.describeSuccess(&ho, reflect.TypeFor[T]())
	a.desc.AddOperation(&ho)
	wire.AllowMore(a.desc.Components.Schemas.Map())
	a.route(op.Method, op.Path, func(fc *fiber.Ctx) error {
		a.serve(fc, o, run)
		return nil
	})
	a.ops = append(a.ops, op)
	showOp(op)
}

// route mounts a handler below BasePath. HEAD is answered like GET; the server leaves the body out.
func (a *API) route(method, path string, handle fiber.Handler) {
	methods := []string{method}
	if method == http.MethodGet {
		methods = []string{http.MethodGet, http.MethodHead}
	}
	if slices.Contains(a.paths.methods(BasePath+path), method) {
		panic(method + " " + path + " is routed already: register fixed paths before those with parameters, and each only once")
	}
	for _, m := range methods {
		a.app.Add(m, BasePath+strings.NewReplacer("{", ":", "}", "").Replace(path), handle)
	}
	a.paths.add(BasePath+path, methods...)
}

type operation struct {
	Op
	bind *binder
}

// needed is the scope that the operation asks for, such as orders:write.
func (o *operation) needed() string {
	if o.Mutating() {
		return o.Scope + ":write"
	}
	return o.Scope + ":read"
}

// serve takes one request through the checks, in the order that the contract with clients fixes.
func (a *API) serve(fc *fiber.Ctx, o *operation, run func(context.Context, *request) (*answer, error)) {
	if a.cfg.Gate != nil {
		leave, err := a.cfg.Gate.Enter()
		if err != nil {
			a.fail(fc, err)
			return
		}
		defer leave()
	}
	ctx, cancel := context.WithTimeout(fc.UserContext(), a.cfg.Timeout)
	defer cancel()
	r := &request{api: a, fc: fc, op: o, in: incomingOf(fc)}
	defer r.close()
	defer func() {
		if p := recover(); p != nil {
			r.giveUpKey(ctx) // a repeat must not wait for the lease of a request that is over
			panic(p)
		}
	}()
	ans, err := r.checks(ctx)
	if err == nil && ans == nil {
		ans, err = run(ctx, r)
	}
	if err == nil {
		err = r.keep(ctx, ans)
	}
	if err != nil {
		r.giveUpKey(ctx)
		a.fail(fc, err)
		return
	}
	r.write(ans)
}

// fail writes the error body. What is not meant for clients is logged here, once.
func (a *API) fail(fc *fiber.Ctx, err error) {
	f := a.faultOf(fc, err)
	a.writeFault(fc, f)
}

func (a *API) faultOf(fc *fiber.Ctx, err error) *fault.Error {
	if f, ok := fault.As(err); ok {
		if f.Status == http.StatusServiceUnavailable {
			a.logUnavailable(fc, f, err)
		} else if f.Status >= http.StatusInternalServerError && err != error(f) { //nolint:errorlint // a bare fault says nothing that its counter does not
			a.log.WarnContext(fc.UserContext(), "request refused", "error", err, "code", f.Code)
		}
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(http.StatusGatewayTimeout, "REQUEST_TIMEOUT",
			fmt.Sprintf("the request took longer than %s; repeat it with the same X-Idempotency-Key", a.cfg.Timeout))
	}
	if reason, ok := db.Unavailable(err); ok {
		f := fault.Unavailable(reason, 2, "the platform cannot reach its data now; repeat the request, a change with the same X-Idempotency-Key, after the time in Retry-After")
		a.logUnavailable(fc, f, err)
		return f
	}
	a.log.ErrorContext(fc.UserContext(), "request failed", "error", err, "route", fc.Route().Path, "request_id", requestID(fc))
	return fault.New(http.StatusInternalServerError, "INTERNAL_ERROR",
		"the request failed for a reason that is not yours; repeat it later and name the request id to support")
}

// logUnavailable says why a request is answered 503.
func (a *API) logUnavailable(fc *fiber.Ctx, f *fault.Error, err error) {
	a.log.WarnContext(fc.UserContext(), "request refused", "reason", string(f.Reason()), "error", err,
		"method", fc.Method(), "route", fc.Route().Path, "request_id", requestID(fc))
}
