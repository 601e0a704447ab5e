package transport

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/netip"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Direct is a request that another part of this process makes. It passes by the network and its limits, and by nothing else.
type Direct struct {
	Method  string
	Target  string // path and query below the root of the API
	Header  map[string]string
	Body    []byte
	Address netip.Addr // of who stands behind it
	Caller  any        // see [CallerOf]
}

// Answer is what a direct request was answered with.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Fault  *apierr.Error // the error that Body has; nil = success
}

// direct is a request that did not come over a connection.
type direct struct {
	ctx    context.Context //nolint:containedctx // as that of a request
	caller any
}

type directKey struct{}

// CallerOf returns the caller of a direct request; nil for one that came over a connection.
func CallerOf(fc *fiber.Ctx) any {
	if d, ok := fc.Context().UserValue(directKey{}).(*direct); ok {
		return d.caller
	}
	return nil
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
	in := &incoming{method: d.Method, body: Body{stream: bytes.NewReader(d.Body), length: len(d.Body), done: len(d.Body) == 0}}
	rc.SetUserValue(directKey{}, &direct{ctx, d.Caller})
	rc.SetUserValue(incomingKey{}, in)
	s.direct(&rc)
	a := &Answer{Status: rc.Response.StatusCode(), Header: http.Header{}, Body: bytes.Clone(rc.Response.Body()), Fault: in.refusal.Fault}
	for name, value := range rc.Response.Header.All() {
		a.Header.Add(string(name), string(value))
	}
	return a
}
