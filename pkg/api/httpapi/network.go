package httpapi

import (
	"net/http"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
)

// network is a request that came over a connection.
type network struct{ fc *fiber.Ctx }

// Path implements [message].
func (n network) Path() string { return n.fc.Path() }

// Header implements [message].
func (n network) Header(name string) (value string, sent bool) {
	value = n.fc.Get(name)
	return value, value != "" || len(n.fc.Request().Header.PeekAll(name)) > 0
}

// SetHeader implements [message].
func (n network) SetHeader(name, value string) { n.fc.Set(name, value) }

// Param implements [binding.Source].
func (n network) Param(in, name string) string {
	switch in {
	case "path":
		return unescaped(n.fc.Params(name))
	case "header":
		return n.fc.Get(name)
	}
	return n.fc.Query(name) // the first one; binding refuses a second
}

// unescaped decodes a segment of a path. One that cannot be decoded stays as it is.
func unescaped(segment string) string {
	text, err := url.PathUnescape(segment)
	if err != nil {
		return segment
	}
	return text
}

// QueryArgs implements [binding.Source].
func (n network) QueryArgs() []binding.QueryArg {
	var all []binding.QueryArg
	for name, value := range n.fc.Context().QueryArgs().All() {
		all = append(all, binding.QueryArg{Name: string(name), Value: string(value)})
	}
	return all
}

// receives answers a request that came over a connection.
func (a *API) receives(fc *fiber.Ctx, o *operation) {
	r := &request{
		message: network{fc}, api: a, op: o, id: transport.RequestID(fc), unread: transport.BodyOf(fc), address: a.server.ClientIP(fc), meter: cputime.New(a.cfg.ThreadTime),
		headersOnly: fc.Method() == http.MethodHead,
	}
	fc.Locals(requestKey{}, r)
	for name, value := range o.always {
		fc.Set(name, value)
	}
	a.serve(fc.UserContext(), r, func(resp *response, err error) {
		if err != nil {
			a.server.Fail(fc, err)
			return
		}
		r.write(fc, resp)
	})
}

func (r *request) write(fc *fiber.Ctx, resp *response) {
	for name, value := range resp.headers {
		fc.Set(name, value)
	}
	if resp.replayed {
		fc.Set(idempotency.HeaderReplayed, "true")
	}
	if r.has(resp) {
		fc.Status(http.StatusNotModified)
		if resp.file != nil && resp.file.Body != nil {
			_ = resp.file.Body.Close() // it is not read
		}
		return
	}
	fc.Status(resp.status)
	if resp.status == http.StatusNoContent {
		return
	}
	if resp.file != nil {
		f := resp.file
		transport.SendFile(fc, f.Media, transport.Disposition(f.Inline, f.Name), f.Size, paidFile{f.Body, r}, r.reserved)
		r.reserved = nil // released when the file is sent
		return
	}
	fc.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	transport.Send(fc, resp.body, r.reserved)
	r.reserved = nil // released when the body is sent
}
