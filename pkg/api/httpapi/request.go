package httpapi

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/api/loadshed"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// Call is embedded in every input: the caller and its precondition.
type Call struct {
	access.Caller
	claim  *idempotency.Claim // nil without a key
	status int
	op     *Op
	req    *request
}

// request holds the state of one request.
type request struct {
	message
	api            *API
	op             *operation
	id             string // as its response and logs name it
	unread         *transport.Body
	address        netip.Addr
	internalCaller *InternalCaller   // nil = the request came over a connection
	valued         bool              // the caller takes what the operation returns, and not its JSON
	sender         *access.Principal // whose token was sent, also if it must not be used; nil = unknown
	body           binding.Body
	upload         *Upload
	headersOnly    bool // HEAD: the body of the response is not sent
	signedURL      bool // has no token
	call           Call
	release        func()
	taken          *loadshed.Reservation // of the request
	reserved       *loadshed.Reservation // of the response
	ignored        []string              // unknown fields and parameters
	paid           int                   // units of the rate limit
	meter          *cputime.Meter        // of its processor time
	charged        float64               // units for processor time, beyond those that are paid
}

// message is what was asked, and the headers of the response: [network] over a connection, [within] from this process.
type message interface {
	binding.Source
	Path() string // as it was sent, from the root of the host
	Header(name string) (value string, sent bool)
	SetHeader(name, value string) // of the response
}

func (r *request) close() {
	r.taken.Release()
	r.reserved.Release()
	r.upload.release()
	if r.release != nil {
		r.release()
	}
}

// checks runs everything that precedes validation. It returns the context of the company that calls, and a response if the request is
// a replay.
func (r *request) checks(ctx context.Context) (context.Context, *response, error) {
	r.call.status, r.call.op, r.call.req = r.op.Status, &r.op.Op, r
	for _, check := range []func(context.Context) error{r.size, r.authenticate} {
		if err := check(ctx); err != nil {
			return ctx, nil, err
		}
	}
	ctx = tenant.With(ctx, r.call.Company)
	for _, check := range []func(context.Context) error{r.limit, r.plan, r.scope, r.component, r.enter, r.memory, r.receive, r.condition} {
		if err := check(ctx); err != nil {
			return ctx, nil, err
		}
	}
	replayed, err := r.claimKey(ctx)
	return ctx, replayed, err
}

// size checks the declared length before any of the body is read.
func (r *request) size(context.Context) error {
	declared := r.unread.Length()
	if declared > r.op.MaxBody {
		return r.op.tooLarge()
	}
	return r.media(declared)
}

// media checks the content type of the body, if there is one and the operation reads it.
func (r *request) media(length int) error {
	if length <= 0 || !r.op.binder.HasBody() && r.op.Uploads == nil {
		return nil
	}
	if coding := r.header(fiber.HeaderContentEncoding); coding != "" && !strings.EqualFold(coding, "identity") {
		r.SetHeader(fiber.HeaderAcceptEncoding, "identity")
		return apierr.New(http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "send the body uncompressed, without Content-Encoding")
	}
	media, _, err := mime.ParseMediaType(r.header(fiber.HeaderContentType))
	if r.op.Uploads != nil {
		return r.op.takes(media)
	}
	if err != nil || media != fiber.MIMEApplicationJSON {
		return apierr.New(http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "send the body as Content-Type: application/json")
	}
	return nil
}

// receive reads the body, within what its company and the process may spend on bodies. Compressed bodies are not supported: a small
// one may expand to a huge one.
func (r *request) receive(ctx context.Context) error {
	if r.op.Uploads != nil {
		return r.receiveUpload(ctx)
	}
	length := r.unread.Length()
	if length < 0 {
		length = r.op.MaxBody
	}
	if err := r.taken.Reserve(ctx, length, false); err != nil {
		return err
	}
	raw, err := r.unread.Read(ctx, r.op.MaxBody)
	if errors.Is(err, transport.ErrBodyTooLarge) {
		return r.op.tooLarge()
	}
	if err != nil {
		return err
	}
	r.body.Raw, r.body.Items = raw, r.op.binder.Items()
	if err := r.media(len(raw)); err != nil {
		return err
	}
	return r.reserveDecoded(ctx)
}

// reserveDecoded reserves what the body takes together with what is decoded from it.
func (r *request) reserveDecoded(ctx context.Context) error {
	bytes := r.decodedBytes()
	if err := r.taken.Reserve(ctx, bytes, true); err != nil {
		return err
	}
	r.taken.Set(bytes) // of a body of unknown length more was reserved
	return nil
}

// decodedBytes is what the body takes together with what is decoded from it.
func (r *request) decodedBytes() int { return len(r.body.Raw) + r.body.DecodedBytes() }

func (o *operation) tooLarge() error {
	instead := "split the request"
	if o.Uploads != nil {
		instead = "send a smaller file"
	}
	return apierr.New(http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE", fmt.Sprintf("the body must be at most %d bytes; %s", o.MaxBody, instead))
}

func (r *request) authenticate(ctx context.Context) error {
	if r.internalCaller != nil {
		r.call.Principal = r.internalCaller.Principal
		return nil
	}
	ip := r.address
	failures := r.api.failures.Check(ip)
	if r.op.SignedURL != nil && !r.hasHeader(fiber.HeaderAuthorization) {
		if signed, err := r.admitSignedURL(ctx, ip); signed {
			return err
		}
	}
	p, err := r.api.cfg.Auth.Authenticate(ctx, bearer(r.header(fiber.HeaderAuthorization)), ip, failures.OK)
	r.sender = p
	if err == nil {
		r.call.Principal = p
		if r.api.cfg.Admin == nil {
			trace.SpanFromContext(ctx).SetAttributes(attribute.String("app.company.id", p.Company.String()))
		}
		return nil
	}
	if f, ok := apierr.As(err); ok && f.Status == http.StatusUnauthorized {
		if err := r.countFailure(ip); err != nil {
			return err
		}
		r.SetHeader(fiber.HeaderWWWAuthenticate, `Bearer error="invalid_token"`)
	}
	return err
}

// countFailure counts a call without a valid token. It returns a fault if its address has made too many.
func (r *request) countFailure(ip netip.Addr) error {
	failures := r.api.failures.Check(ip)
	if failures.OK {
		failures = r.api.failures.Fail(ip)
	}
	if failures.OK {
		return nil
	}
	rateLimited.WithLabelValues(limitFailures).Inc()
	return rateFault(failures, "too many calls without a valid token from this address")
}

// bearer returns the token of an Authorization header, or "" for other schemes.
func bearer(header string) string {
	scheme, token, ok := strings.Cut(header, " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func (r *request) limit(context.Context) error {
	if err := r.allow(1); err != nil {
		return err
	}
	release, ok := r.api.cfg.Limiter.Acquire(r.call.Principal)
	if !ok {
		r.refund()
		rateLimited.WithLabelValues(limitInFlight).Inc()
		return rateFault(ratelimit.Decision{Limit: r.call.Rate.InFlight, RetryAfterSeconds: 1}, "the company has too many requests in flight")
	}
	r.release = release
	return nil
}

func (r *request) allow(cost int) error {
	d := r.api.cfg.Limiter.Allow(r.call.Principal, cost)
	if d.OK {
		r.paid += cost
	}
	r.rateHeaders(d)
	if !d.OK {
		rateLimited.WithLabelValues(limitToken).Inc()
		return rateFault(d, "the rate limit of the token is exceeded")
	}
	return nil
}

// charge takes what a request costs beyond that of a simple one, once its body is known. A refused request costs only the
// processor time that reading it has taken.
func (r *request) charge(more int) error {
	if more == 0 {
		return nil
	}
	err := r.allow(more)
	if err != nil {
		r.refund()
	}
	return err
}

// refund returns what a request has paid that another limit refuses.
func (r *request) refund() {
	d := r.api.cfg.Limiter.Refund(r.call.Principal, r.paid)
	r.paid = 0
	r.rateHeaders(d)
}

func rateFault(d ratelimit.Decision, why string) error {
	wait := max(d.RetryAfterSeconds, 1)
	return &apierr.Error{
		Status: http.StatusTooManyRequests, Code: "RATE_LIMIT_EXCEEDED", RetryAfter: wait,
		Message: fmt.Sprintf("%s; retry after %d s", why, wait),
		Meta:    map[string]any{"limit": d.Limit, "windowSeconds": rateWindow, "retryAfter": wait},
	}
}

// rateWindow is the window, in seconds, that the quota of RateLimit-Policy counts for.
const rateWindow = int(access.RateWindow / time.Second)

// rateHeaders tells callers with a rate limit what the request costs and how much is left.
func (r *request) rateHeaders(d ratelimit.Decision) {
	if d.Unlimited {
		return
	}
	quota := r.call.Rate.PerWindow()
	r.SetHeader(headerRateLimit, strconv.Itoa(d.Limit))
	r.SetHeader(headerRateRemaining, strconv.Itoa(d.Remaining))
	r.SetHeader(headerRateCost, strconv.Itoa(r.cost()))
	r.SetHeader(headerRateReset, strconv.Itoa(d.ResetSeconds))
	r.SetHeader(headerQuotaPolicy, `"default";q=`+strconv.Itoa(quota)+`;w=`+strconv.Itoa(rateWindow))
	r.SetHeader(headerQuota, `"default";r=`+strconv.Itoa(d.Remaining)+`;t=`+strconv.Itoa(d.ResetSeconds))
}

func (r *request) plan(context.Context) error {
	if r.api.cfg.Admin == nil && !r.signedURL && !r.call.PlanAPI {
		return apierr.New(http.StatusForbidden, "PLAN_API_DISABLED", "the company's plan does not include API access; upgrade the plan").With("plan", r.call.Plan)
	}
	return nil
}

func (r *request) scope(context.Context) error {
	if r.api.cfg.Admin != nil {
		return r.operatorRole()
	}
	if r.signedURL || r.op.Scope == "" || r.call.Allows(r.op.Scope, r.op.Mutating()) {
		return nil
	}
	return access.ScopeMissing(r.op.needed())
}

func (r *request) component(context.Context) error {
	if r.signedURL || r.api.cfg.Admin != nil { // operators set up what is not enabled yet
		return nil
	}
	for _, alias := range []string{r.op.Component, r.op.AlsoNeeds} {
		if alias != "" && !r.call.Has(alias) {
			return ComponentInactive(alias)
		}
	}
	return nil
}

// ComponentInactive returns the 403 for an operation whose component is not enabled for the company.
func ComponentInactive(alias string) error {
	return apierr.New(http.StatusForbidden, "MODULE_ACCESS_INACTIVE", "the component "+alias+" is not enabled for the company; enable it").With("alias", alias)
}

// memory opens the reservations of the request and of the response.
func (r *request) memory(context.Context) (err error) {
	if r.taken, err = r.api.cfg.Bodies.Open(r.call.Company, false); err != nil {
		return err
	}
	r.reserved, err = r.api.cfg.Responses.Open(r.call.Company, r.op.Mutating())
	return err
}

func (r *request) condition(context.Context) error {
	if !r.op.Mutating() || !r.hasHeader(fiber.HeaderIfMatch) {
		return nil
	}
	version, err := parseVersion(r.header(fiber.HeaderIfMatch))
	if version != nil {
		r.call.Caller = r.call.Expecting(*version)
	}
	return err
}

func (r *request) header(name string) string {
	value, _ := r.Header(name)
	return value
}

func (r *request) hasHeader(name string) bool {
	_, sent := r.Header(name)
	return sent
}

// bind validates the request and fills the input of its operation.
func (r *request) bind(in reflect.Value) error {
	ignored, err := r.op.binder.Bind(r, &r.body, r.handling(), in)
	r.showIgnored(ignored)
	r.op.binder.Caller(in).Set(reflect.ValueOf(r.call))
	return err
}

// handling is what the client wants to become of unknown names.
func (r *request) handling() binding.Handling {
	switch prefer := r.header("Prefer"); {
	case strings.Contains(prefer, "handling=strict"):
		return binding.Strict
	case strings.Contains(prefer, "handling=lenient"):
		return binding.Lenient
	default:
		return binding.Usual
	}
}

// showIgnored lists the names of fields and parameters, and those listed before, in a header.
func (r *request) showIgnored(names []string) {
	if len(names) == 0 {
		return
	}
	r.ignored = slices.Compact(slices.Sorted(slices.Values(append(r.ignored, names...))))
	r.SetHeader(headerIgnored, headerSafe(strings.Join(r.ignored, ", ")))
}

// headerSafe makes text from a client safe for a header: no control characters, and bounded in length.
func headerSafe(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, s)
	return s[:min(len(s), 1024)]
}

// versionPattern is what If-Match may be. Behind the version, an ETag may have what else the response depends on.
const versionPattern = `^(\*|(W/)?("[0-9]{1,18}(-[0-9]{1,18})?"|[0-9]{1,18}))$`

var validVersion = regexp.MustCompile(versionPattern)

// parseVersion parses If-Match.
func parseVersion(text string) (*int64, error) {
	if text == "*" {
		return nil, nil //nolint:nilnil // any version
	}
	version, _, _ := strings.Cut(strings.Trim(strings.TrimPrefix(text, "W/"), `"`), "-")
	v, err := strconv.ParseInt(version, 10, 64)
	if err != nil || !validVersion.MatchString(text) {
		return nil, apierr.InvalidField("If-Match", apierr.Format, `must be the ETag of the record, such as "3"; omit the header to change any version`)
	}
	return &v, nil
}
