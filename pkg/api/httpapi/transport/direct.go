package transport

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
)

// Within runs what answers a call from this process with what each request over a connection gets: a span, metrics, and a fault in
// place of a panic. path is that of the call, route that of its operation below the root.
func (s *Server) Within(ctx context.Context, method, route, path, id string, run func(context.Context) (status int, err error)) error {
	began, route := time.Now(), fiberPath(s.cfg.Base+route)
	ctx, span := begin(telemetry.WithRequest(ctx, id), method, path)
	defer span.End()
	status, err := orPanic(ctx, run)
	if err != nil {
		f := s.Fault(ctx, err, "method", method, "route", route, "request_id", id)
		status, err = f.Status, f
	}
	measure(ctx, span, method, route, status, time.Since(began))
	return err
}

func orPanic(ctx context.Context, run func(context.Context) (int, error)) (status int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return run(ctx)
}

// Direct is a request with a token that another part of this process makes. It passes by the network and its limits, and by nothing else.
type Direct struct {
	Method  string
	Target  string // path and query below the root of the API
	Header  map[string]string
	Body    []byte
	Address netip.Addr // of who stands behind it
}

// Answer is what a direct request was answered with.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Fault  *apierr.Error // the error that Body has; nil = success
}

type directKey struct{}

// contextOf is that of who makes a direct request, and else that of the connection.
func contextOf(fc *fiber.Ctx) context.Context {
	if ctx, ok := fc.Context().UserValue(directKey{}).(context.Context); ok {
		return ctx
	}
	return fc.UserContext()
}

// Do answers a direct request.
func (s *Server) Do(ctx context.Context, d Direct) *Answer {
	s.started.Do(func() { s.app.Handler() }) // it builds the tree of routes
	var req fasthttp.Request
	req.Header.SetMethod(d.Method)
	req.SetRequestURI(s.cfg.Base + d.Target)
	for name, value := range d.Header {
		req.Header.Set(name, value)
	}
	var rc fasthttp.RequestCtx
	rc.Init(&req, net.TCPAddrFromAddrPort(netip.AddrPortFrom(d.Address, 0)), nil)
	in := &incoming{method: d.Method, body: *Whole(d.Body)}
	rc.SetUserValue(directKey{}, ctx)
	rc.SetUserValue(incomingKey{}, in)
	s.direct(&rc)
	a := &Answer{Status: rc.Response.StatusCode(), Header: http.Header{}, Body: bytes.Clone(rc.Response.Body()), Fault: in.refusal.Fault}
	for name, value := range rc.Response.Header.All() {
		a.Header.Add(string(name), string(value))
	}
	return a
}
