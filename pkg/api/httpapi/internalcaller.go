package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/idempotency"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// InternalCaller is a caller whom another part of this process has let in, such as a person who is signed in to the console. All checks
// but that of a token hold for it: scopes, components, limits of lists, validation.
type InternalCaller struct {
	Principal *access.Principal // in the admin API, one without a company is an operator, and others reach their company only
	Address   netip.Addr
	Record    func(tx *db.Tx, c AdminChange) error // keeps a record of each change in its transaction; nil = none is kept
}

// Input is what an operation is called with from this process.
type Input struct {
	Path    map[string]string // parameters by name
	Query   url.Values
	Body    any    // encoded as JSON; nil = none
	Key     string // X-Idempotency-Key; "" = none
	Version int64  // the record must still have it; 0 = any
	File    *Sent  // the body of an operation that takes a file; nil = none
}

// Sent is a file on its way to an operation, which reads it as far as it allows.
type Sent struct {
	Media string // Content-Type
	Body  io.Reader
}

// Call answers a call of an operation by an internal caller as the API answers a request with a token. It sets into, which points to what
// the operation returns, or to a [json.RawMessage] for what clients get. Errors are those that clients see, of the type
// [apierr.Error], but for an operation that there is not, or that returns another type: nothing is called then. With a key, a repeat gets
// the answer that was stored as JSON, so that the type has to be one that can be read from its JSON.
func (a *API) Call(ctx context.Context, by InternalCaller, id string, in Input, into any) error {
	o := a.operations[id]
	if o == nil {
		return fmt.Errorf("the API has no operation %s", id)
	}
	valued, err := o.returns(into)
	if err != nil {
		return err
	}
	w := &within{in: in, path: o.base + in.PathOf(o.Op), header: map[string]string{}}
	body, err := w.encode()
	if err != nil {
		return fmt.Errorf("encode input of %s: %w", id, err)
	}
	unread := transport.Whole(body)
	if in.File != nil {
		unread = transport.Stream(in.File.Body)
	}
	r := &request{
		message: w, api: a, op: o, id: telemetry.RequestOf(ctx), unread: unread, address: by.Address, internalCaller: &by, valued: valued,
		meter: cputime.New(a.cfg.ThreadTime),
	}
	if r.id == "" {
		r.id = record.NewID().String()
	}
	return a.server.Within(ctx, o.Method, o.Path, w.path, r.id, func(ctx context.Context) (status int, err error) {
		a.serve(ctx, r, func(resp *response, failed error) {
			if err = failed; err == nil {
				status, err = resp.status, resp.into(into)
			}
		})
		return status, err
	})
}

// DoWithToken answers a request of this process that carries a token in its header Authorization. It passes by the network alone: the
// token, its allowed addresses, scopes, limits and the request log apply as to any client.
func (a *API) DoWithToken(ctx context.Context, d transport.Direct) *transport.Answer {
	return a.server.Do(ctx, d)
}

// returns reports whether into points to the type that the operation returns, and not to JSON. It returns an error for any other type.
func (o *operation) returns(into any) (bool, error) {
	switch t := reflect.TypeOf(into).Elem(); {
	case o.answer == reflect.TypeFor[File]():
		return false, fmt.Errorf("the operation %s returns a file: call its service", o.ID)
	case t == reflect.TypeFor[json.RawMessage]():
		return false, nil
	case t != o.answer:
		return false, fmt.Errorf("the operation %s returns %s, not %s", o.ID, o.answer, t)
	}
	return true, nil
}

// into sets what points to the value of the response, or to its JSON. A response that was stored, or written by hand, has only that.
func (r *response) into(target any) error {
	if raw, ok := target.(*json.RawMessage); ok {
		*raw = r.body
		return nil
	}
	if r.value != nil {
		reflect.ValueOf(target).Elem().Set(reflect.ValueOf(r.value))
		return nil
	}
	if len(r.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(r.body, target); err != nil {
		return fmt.Errorf("decode response: %w", err)
	}
	return nil
}

// PathOf is the path of an operation with its parameters.
func (in Input) PathOf(op Op) string {
	segments := strings.Split(op.Path, "/")
	for i, s := range segments {
		if name, ok := strings.CutPrefix(s, "{"); ok {
			segments[i] = url.PathEscape(in.Path[strings.TrimSuffix(name, "}")])
		}
	}
	return strings.Join(segments, "/")
}

// Target is the path of an operation with its parameters, and its query.
func (in Input) Target(op Op) string {
	if len(in.Query) == 0 {
		return in.PathOf(op)
	}
	return in.PathOf(op) + "?" + in.Query.Encode()
}

// within is a call from this process.
type within struct {
	in     Input
	path   string
	header map[string]string
}

// encode returns the body, and sets the headers.
func (w *within) encode() (body []byte, err error) {
	if w.in.Body != nil {
		w.header[fiber.HeaderContentType] = fiber.MIMEApplicationJSON
		if body, err = json.Marshal(w.in.Body); err != nil {
			return nil, err
		}
	}
	if w.in.File != nil {
		w.header[fiber.HeaderContentType] = w.in.File.Media
	}
	if w.in.Key != "" {
		w.header[idempotency.Header] = w.in.Key
	}
	if w.in.Version != 0 {
		w.header[fiber.HeaderIfMatch] = strconv.Quote(strconv.FormatInt(w.in.Version, 10))
	}
	return body, nil
}

// Path implements [message].
func (w *within) Path() string { return w.path }

// Header implements [message].
func (w *within) Header(name string) (value string, sent bool) {
	value, sent = w.header[name]
	return value, sent
}

// SetHeader implements [message]. Nobody reads the headers of a call.
func (w *within) SetHeader(string, string) {}

// Param implements [binding.Source].
func (w *within) Param(in, name string) string {
	if in == "path" {
		return w.in.Path[name]
	}
	return w.header[name]
}

// QueryArgs implements [binding.Source].
func (w *within) QueryArgs() []binding.QueryArg {
	var all []binding.QueryArg
	for _, name := range slices.Sorted(maps.Keys(w.in.Query)) {
		for _, value := range w.in.Query[name] {
			all = append(all, binding.QueryArg{Name: name, Value: value})
		}
	}
	return all
}
