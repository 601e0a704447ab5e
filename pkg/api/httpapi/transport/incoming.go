package transport

import (
	"bytes"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// incoming is a request before it is routed.
type incoming struct {
	method  string // as sent by the client; Fiber sees GET in place of an unknown method
	invalid error  // framing error of the message
	body    Body
	refusal Refusal
}

// Refusal is the error that a request was answered with; the zero value is none.
type Refusal struct {
	Code  string
	Body  []byte // the error body, not compressed
	Fault *apierr.Error
}

// RefusalOf returns how a request was refused.
func RefusalOf(fc *fiber.Ctx) Refusal { return incomingOf(fc).refusal }

type incomingKey struct{}

func incomingOf(fc *fiber.Ctx) *incoming {
	return fc.Context().UserValue(incomingKey{}).(*incoming) //nolint:errcheck // wrapServer sets it for every request
}

// wrapServer intercepts requests between the HTTP server and Fiber, before any byte of the body is read.
func (s *Server) wrapServer() {
	server := s.app.Server()
	next := server.Handler
	s.direct = next
	server.HeaderReceived = deferBody
	server.Handler = func(rc *fasthttp.RequestCtx) {
		in := newIncoming(rc)
		rc.SetUserValue(incomingKey{}, in)
		if !slices.Contains(fiber.DefaultMethods, in.method) {
			rc.Request.Header.SetMethod(fiber.MethodGet) // Fiber has no context for other methods; the middleware rejects them
		}
		next(rc)
		in.body.finish()
	}
}

// deferBody makes the server call its handler right after the headers. It would otherwise read up to 8 KiB of a body of
// known length and respond to Expect: 100-continue, so both headers are hidden; newIncoming reads them from the raw headers.
func deferBody(h *fasthttp.RequestHeader) (unchanged fasthttp.RequestConfig) {
	if h.ContentLength() > 0 {
		h.SetContentLength(-1)
	}
	h.Del(fiber.HeaderExpect)
	return unchanged
}

func newIncoming(rc *fasthttp.RequestCtx) *incoming {
	header := &rc.Request.Header
	in := &incoming{method: string(header.Method())}
	f := parseFraming(header.RawHeaders())
	if in.invalid = f.check(header.IsHTTP11()); in.invalid != nil {
		rc.SetConnectionClose() // the start of the next request is unknown
	}
	in.body = Body{rc: rc, stream: rc.RequestBodyStream(), length: f.length, expects: f.expects}
	switch {
	case in.body.stream == nil || (f.length == 0 && !f.chunked):
		in.body.length, in.body.done = 0, true
	case f.chunked:
		in.body.length = -1
	default:
		header.SetContentLength(f.length) // the stream now ends there
	}
	return in
}

// framing holds the headers that determine the length of a message and its host.
type framing struct {
	hosts   int
	lengths int // Content-Length headers
	length  int
	codings int // Transfer-Encoding headers
	chunked bool
	expects bool   // the client waits for 100 Continue
	broken  string // the syntax rule that the headers break
}

// parseFraming parses the raw headers more strictly than the server does.
func parseFraming(raw []byte) (f framing) {
	for line := range bytes.Lines(raw) {
		line, ended := bytes.CutSuffix(line, []byte("\r\n"))
		name, value, hasColon := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case !ended || bytes.IndexByte(line, '\r') >= 0:
			f.broken = "header lines must end with CRLF"
		case len(line) == 0:
			return f
		case line[0] == ' ' || line[0] == '\t':
			f.broken = "a header must not be folded across lines"
		case !hasColon || len(name) == 0 || bytes.ContainsAny(name, " \t"):
			f.broken = "a header name must be followed by a colon without a space in between"
		case bytes.EqualFold(name, []byte(fiber.HeaderHost)):
			f.hosts++
		case bytes.EqualFold(name, []byte(fiber.HeaderContentLength)):
			f.lengths++
			f.length, _ = strconv.Atoi(string(value)) // the server has already rejected other values
		case bytes.EqualFold(name, []byte(fiber.HeaderTransferEncoding)):
			f.codings++
			f.chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, []byte(fiber.HeaderExpect)):
			f.expects = bytes.EqualFold(value, []byte("100-continue"))
		}
	}
	return f
}

// check rejects messages that a proxy and this server could frame differently (RFC 9112, sections 3.2, 5.1 and 6.1).
func (f framing) check(http11 bool) error {
	switch {
	case f.broken != "":
		return malformed(f.broken)
	case f.hosts > 1:
		return malformed("there must be exactly one Host header, not %d", f.hosts)
	case f.hosts == 0 && http11:
		return malformed("the Host header is required")
	case f.codings > 0 && f.lengths > 0:
		return malformed("Content-Length and Transfer-Encoding must not be combined")
	case f.codings > 0 && !http11:
		return malformed("Transfer-Encoding requires HTTP/1.1")
	case f.codings > 1 || (f.codings == 1 && !f.chunked):
		return malformed("Transfer-Encoding must be chunked, once")
	}
	return nil
}

func malformed(rule string, args ...any) error {
	var faults apierr.Fields
	faults.Add("request", apierr.Format, "must be a valid HTTP/1.1 message: "+rule, args...)
	return faults.Err()
}

// refuse rejects requests that match no route: malformed, to an unknown path, or with an unsupported method.
func (s *Server) refuse(fc *fiber.Ctx, in *incoming) error {
	if in.invalid != nil {
		return in.invalid
	}
	allowed := s.paths.methods(fc.Path())
	if allowed == nil {
		return s.errNoRoute(in.method, s.shown(fc.Path()))
	}
	if slices.Contains(allowed, in.method) {
		return nil
	}
	for _, method := range allowed {
		fc.Append(fiber.HeaderAllow, method)
	}
	return errMethod(in.method, s.shown(fc.Path()))
}

func (s *Server) errNoRoute(method, path string) error {
	return apierr.New(http.StatusNotFound, "ROUTE_NOT_FOUND", "no route for "+method+" "+path+"; see the API description at "+s.cfg.Base+"/openapi.json")
}

func errMethod(method, path string) error {
	return apierr.New(http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED", path+" does not support "+method+"; see the Allow header for the methods that it supports")
}

var errIncomplete = apierr.New(http.StatusRequestTimeout, "REQUEST_INCOMPLETE", "the request did not arrive completely in time; retry it with the same X-Idempotency-Key")

// ClientIP is the address that limits and allow-lists apply to: the nearest one that is not a trusted proxy. Proxies
// append to X-Forwarded-For or add another line, so all lines are read as one list, from the right; entries further
// left are under the client's control.
func (s *Server) ClientIP(fc *fiber.Ctx) netip.Addr {
	addr, ok := netip.AddrFromSlice(fc.Context().RemoteIP())
	if addr = addr.Unmap(); !ok || !s.trusts(addr) {
		return addr
	}
	lines := fc.Request().Header.PeekAll(fiber.HeaderXForwardedFor)
	hops := strings.Split(string(bytes.Join(lines, []byte(","))), ",")
	for _, hop := range slices.Backward(hops) {
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			return addr // the last known address
		}
		if addr = next.Unmap(); !s.trusts(addr) {
			return addr
		}
	}
	return addr
}

func (s *Server) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(s.cfg.Proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}
