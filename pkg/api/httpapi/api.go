// Package httpapi is the HTTP layer of the external API and of the admin API. Registering an operation adds its route, its checks in
// their fixed order, its validation and its entry in the API description. Fiber and huma are used only here;
// services register typed functions and receive typed input.
//
// Start with [Group.On] and the functions that take its [Routes]: [List], [Get], [Create], [Update], [Delete] and [Command] for records,
// [Read] for what exists once, [View] and [Change] for any other input, [Upsert] and [Batch] for many writes. The type of the function that is registered is
// the contract: parameters and bodies are its structs, whose tags validate them and describe them. A change gets its transaction from here, which
// also stores the response for repeats with the same idempotency key. Errors are returned as they are: an apierr.Error becomes its status
// and body, any other INTERNAL_ERROR. The package does nothing for one domain.
package httpapi

import (
	"cmp"
	"context"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"reflect"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/api/loadshed"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/config"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/quota"
)

// BasePath is the root of the external API; its last segment is the version. See docs/reference/conventions.md#versioning.
const BasePath = "/api/external/v1"

// Limits of a request; see docs/reference/limits.md#request-size.
const (
	DefaultMaxBody = 1 << 20  // bytes
	BatchMaxBody   = 10 << 20 // bytes
	requestTimeout = 30 * time.Second
)

// Authenticator resolves a bearer token to its caller. It returns a fault for a token that must not be used.
type Authenticator interface {
	// Authenticate asks the database about a token that it has not seen only with lookUp. Without it such a token is 401,
	// as one that does not exist.
	// With the fault for a token that it knows, it returns whose token that is.
	Authenticate(ctx context.Context, bearer string, ip netip.Addr, lookUp bool) (*access.Principal, error)
}

// Gate rejects requests that the platform cannot accept now. Its faults are returned to the client.
type Gate interface {
	Enter() (leave func(), err error) // before any request
	Admit() error                     // before a change
}

// Settings are those of an API. Zero values take the default.
type Settings struct {
	KeyLease    time.Duration `name:"idempotency-lease" help:"How long the idempotency key of a batch whose API node died stays blocked; must exceed the longest request." default:"60s"`
	UploadBytes int64         `name:"max-upload-bytes" help:"Maximum bytes of the uploads that this process receives at once. One company may hold a quarter." default:"67108864"`
}

// Check validates the settings.
func (s Settings) Check() error {
	return config.Positive("--idempotency-lease", s.KeyLease)
}

// Config configures an [API].
type Config struct {
	Settings
	transport.Edge

	DB        *db.DB
	Auth      Authenticator
	Limiter   *ratelimit.Limiter
	Gate      Gate            // nil accepts every request
	Responses *loadshed.Bytes // bounds the bytes of large responses; nil = no bound
	Bodies    *loadshed.Bytes // bounds what large requests take; nil = no bound
	Release   string          // shown in X-Api-Release
	Timeout   time.Duration   // of one request; default 30 s
	KeyTTL    time.Duration   // how long a stored response is kept; default 7 days
	Proxies   []netip.Prefix  // networks whose X-Forwarded-For is trusted
	Keys      *secret.Keys    // encrypt the stored responses of operations that show a secret
	Log       *slog.Logger
	Errors    []apierr.Doc           // error codes of the domains, for the page of error codes
	Entities  []string               // records that an <ENTITY>_NOT_FOUND can be about
	AsyncAPI  func() ([]byte, error) // the description of the events; nil serves none
	KeyQuota  *quota.Meter           // counts the bytes of stored responses; nil = no quota
	Changelog []byte                 // Markdown; nil serves none
	Examples  fs.FS                  // recorded examples of the operations, see [Example]; nil shows none
	Guide     fs.FS                  // Markdown pages that the documentation links to, those in reference/ by title; nil serves none
	Admin     *Admin                 // makes this the admin API; nil = the external API
	Lists     *list.Node             // serves the lists; nil = each request counts by itself, without limits
	Requests  RequestLog             // nil keeps none

	ThreadTime    func() time.Duration // processor time of the current thread; default the clock of the operating system
	HeaderTimeout time.Duration        // for reading the request line and headers; default 10 s. Bodies have until Timeout.
}

// API is the server of one API.
type API struct {
	cfg         Config
	variant     variant
	server      *transport.Server
	desc        *huma.OpenAPI
	docs        docsPages
	illustrated func() error // adds the examples to desc, once
	examples    func() (map[string][]Example, error)
	ops         []Op
	operations  map[string]*operation // by operationId
	described   sync.Map              // operationId → Operation, of those that somebody asked for
	lists       []*ListSource
	sheets      []*ListSource // see [Sheet]
	batches     []*BatchSource
	keys        *idempotency.Store
	log         *slog.Logger

	failures *ratelimit.Failures // calls without a valid token, by address
	uploads  *uploads
}

// Op declares one operation.
type Op struct {
	Method      string
	Path        string // relative to the root of the API, parameters as {id}
	ID          string // operationId, unique
	Summary     string
	Description string
	Tag         string            // tag in the API description
	About       string            // describes the tag; see [Group]
	Scope       string            // resource whose scope is required: read for GET, write otherwise; "" = any valid token
	Component   string            // component that must be enabled; "" = none
	AlsoNeeds   string            // second component that must be enabled; "" = none
	Status      int               // of success; default 200
	MaxBody     int               // bytes; default [DefaultMaxBody]
	Errors      map[int]string    // errors of this operation alone: status → meaning
	Headers     map[string]string // of success, of this operation alone: name → meaning; see [Header]
	Deprecation *Deprecation      // nil = it is here to stay
	Secret      bool              // the response shows a secret: it is stored encrypted
	Discreet    bool              // the record of the change has neither the body nor what was before: personal data that nobody could remove there
	Records     string            // path below which a created record is read; default Path
	AlsoCreates bool              // 201 is a success, too: the record was created
	StartsJob   bool              // 202 with a job is a success, too: the work goes on in the background
	NoURL       bool              // what is created has no URL of its own, and the response no Location
	Files       []string          // media types of the file that it returns
	Uploads     []string          // media types of the file that is its body; see [Call.Upload]
	SignedURL   SignedURL         // lets requests in without a token; nil = none
	Platform    bool              // in the admin API: about the platform, so that the path names no company
	OneTx       bool              // the change is one transaction, which stores the response; other operations lease their idempotency key first

	base string                           // path of the API
	rel  string                           // Path as declared, without the company of the admin API
	body func(huma.Registry) *huma.Schema // of the body, if its type does not describe it
}

// ByID is the input of an operation that takes only the ID of a record.
type ByID struct {
	Call
	ID uuid.UUID `path:"id" format:"uuid"`
}

// ByChild is the input of an operation on a record that belongs to the record {id}. Its own id is the last parameter of the
// path, under the name that the path gives it.
type ByChild struct {
	ByID
	Child uuid.UUID `path:"$child" format:"uuid"`
}

// Mutating reports whether the operation accepts an idempotency key.
func (o Op) Mutating() bool { return o.Method != http.MethodGet }

// New returns an API without operations.
func New(cfg Config) *API {
	cfg.Timeout = cmp.Or(cfg.Timeout, requestTimeout)
	cfg.KeyTTL = cmp.Or(cfg.KeyTTL, 7*24*time.Hour)
	config.Complete(&cfg.Settings)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	of := externalVariant
	if cfg.Admin != nil {
		of = adminVariant
	}
	keys := idempotency.New(idempotency.Config{DB: cfg.DB, TTL: cfg.KeyTTL, Lease: cfg.KeyLease, Keys: cfg.Keys, Quota: cfg.KeyQuota})
	a := &API{operations: map[string]*operation{}, cfg: cfg, variant: of, log: cfg.Log, desc: description(of), keys: keys, failures: ratelimit.NewFailures(time.Now), uploads: newUploads(cfg.UploadBytes)}
	a.illustrated, a.examples = sync.OnceValue(a.illustrate), sync.OnceValues(a.readExamples)
	a.server = transport.New(transport.Config{
		Edge: cfg.Edge, Base: of.base, Release: cfg.Release, Timeout: cfg.Timeout, HeaderTimeout: cfg.HeaderTimeout, Proxies: cfg.Proxies,
		Log: cfg.Log, Answered: a.answered,
	})
	a.mountDocs()
	return a
}

// Ops returns the registered operations.
func (a *API) Ops() []Op { return a.ops }

// App returns the Fiber application, for tests.
func (a *API) App() *fiber.App { return a.server.App() }

// Serve accepts requests on the listener until ctx ends, then gives running requests up to 25 s to finish.
func (a *API) Serve(ctx context.Context, ln net.Listener) error { return a.server.Serve(ctx, ln) }

// Reply is the result of an operation with a body of type T.
type Reply[T any] struct{ reply }

// reply is a [Reply] with a body of any type. What is done with all of them takes this one: generic code is compiled anew for each
// type, of which there are hundreds.
type reply struct {
	body   any
	raw    []byte // the body as JSON, if it is encoded already
	status int    // 0 = that of the operation
}

// OK returns a reply with a body.
func OK[T any](body T) *Reply[T] { return &Reply[T]{reply{body: body}} }

// Written returns a reply whose body is already encoded as JSON; T only describes it.
func Written[T any](body []byte) *Reply[T] { return &Reply[T]{reply{raw: body}} }

// None is the body of an operation that returns 204.
type None struct{}

// Register adds an operation: its route, its checks, and its entry in the API description.
// I is a struct that embeds [Call], declares parameters as fields tagged path, query or header, and holds the body in the field Body.
func Register[I, T any](a *API, op Op, handle func(context.Context, *I) (*Reply[T], error)) {
	a.register(op, reflect.TypeFor[I](), reflect.TypeFor[T](), func(ctx context.Context, in input) (reply, error) {
		r, err := handle(ctx, any(in).(*I)) //nolint:errcheck,forcetypeassert // register makes it
		if err != nil {
			return reply{}, err
		}
		return r.reply, nil
	})
}

// register is [Register] for an input and a body of these types; handle gets a pointer to the input.
func (a *API) register(op Op, params, body reflect.Type, handle func(context.Context, input) (reply, error)) {
	if op.Status == 0 {
		op.Status = http.StatusOK
	}
	if op.MaxBody == 0 {
		op.MaxBody = DefaultMaxBody
	}
	op.base, op.rel, op.Path = a.variant.base, op.Path, a.variant.path(op)
	o := &operation{Op: op, answer: body}
	if op.Component != "" && op.Scope == "" {
		panic("operation " + op.ID + " has a component but no scope: set both, or neither")
	}
	o.always = op.Deprecation.headers(a.variant.base)
	o.binder = binding.New(a.desc.Components.Schemas, op.Path, params, reflect.TypeFor[Call]())
	if op.body != nil {
		o.binder.DescribeBody(op.body(a.desc.Components.Schemas))
	}
	ho := a.describe(op)
	o.binder.Describe(&ho)
	if op.Uploads != nil {
		ho.RequestBody = &huma.RequestBody{Required: true, Description: "the file as it is", Content: fileContent(op.Uploads)}
	}
	o.run = func(ctx context.Context, r *request) (*response, error) {
		in := reflect.New(params)
		if err := r.bind(in.Elem()); err != nil {
			return nil, err
		}
		got, err := handle(ctx, in.Interface().(input)) //nolint:errcheck,forcetypeassert // params embeds Call
		if err != nil {
			stored, err := r.call.claim.Recover(ctx, err)
			return replay(stored), err
		}
		return r.respond(ctx, got)
	}
	a.describeSuccess(&ho, body, op)
	a.describeTag(op.Tag, op.About)
	a.describeDeprecation(&ho, op.Deprecation)
	a.desc.AddOperation(&ho)
	jsontype.AllowMore(a.desc.Components.Schemas.Map())
	a.server.Route(op.Method, op.Path, func(fc *fiber.Ctx) error {
		a.receives(fc, o)
		return nil
	})
	a.ops = append(a.ops, op)
	a.operations[op.ID] = o
	a.server.ShowRoute(op.Method, op.Path, op.Status)
}

type operation struct {
	Op
	binder *binding.Binder
	answer reflect.Type      // of success
	always map[string]string // headers of every response
	run    func(context.Context, *request) (*response, error)
}

// needed is the scope that the operation requires, such as orders:write.
func (o *operation) needed() string {
	if o.Mutating() {
		return o.Scope + ":write"
	}
	return o.Scope + ":read"
}

// serve runs the checks of a request in the order documented in docs/reference/authentication.md#order-of-checks, then its operation,
// and has its response sent.
func (a *API) serve(ctx context.Context, r *request, send func(*response, error)) {
	if a.cfg.Gate != nil {
		leave, err := a.cfg.Gate.Enter()
		if err != nil {
			send(nil, err)
			return
		}
		defer leave()
	}
	ctx, cancel := context.WithTimeout(ctx, a.cfg.Timeout)
	defer cancel()
	defer r.close()
	defer r.meter.Measure()()
	defer r.chargeProcessor()
	defer r.releaseKey(ctx)
	ctx, resp, err := r.checks(ctx)
	if err == nil && resp == nil {
		resp, err = r.op.run(ctx, r)
	}
	if err == nil {
		resp, err = r.storeResponse(ctx, resp)
	}
	send(resp, err)
}
