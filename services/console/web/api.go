package web

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/platform/audit"
)

// API answers operations in this process as it answers those of clients.
type API interface {
	Do(ctx context.Context, by httpapi.Insider, d transport.Direct) *transport.Answer
	DoWithToken(ctx context.Context, d transport.Direct) *transport.Answer
	Operation(id string) (httpapi.Operation, bool)
	Ops() []httpapi.Op
	RecordedExamples(id string) ([]httpapi.Example, error)
}

// Input is what an operation is called with.
type Input struct {
	Path    map[string]string // parameters by name; the company of the admin API is filled in
	Query   url.Values
	Body    any    // encoded as JSON; nil = none
	Key     string // X-Idempotency-Key, a UUID that the form had; "" = none
	Version int64  // the record must still have it; 0 = any
}

// Reply is what an operation answered.
type Reply struct {
	Status int
	Header http.Header
	Body   json.RawMessage // exactly as a client gets it
}

// Into decodes the answer.
func (r *Reply) Into(v any) error {
	if err := json.Unmarshal(r.Body, v); err != nil {
		return fmt.Errorf("read answer of the API: %w", err)
	}
	return nil
}

// Operation describes an operation of the external API. It panics if there is none: pages name operations that exist.
func (q *Request) Operation(id string) httpapi.Operation { return operation(q.app.cfg.External, id) }

// Operations are all operations of the external API.
func (q *Request) Operations() []httpapi.Op { return q.app.cfg.External.Ops() }

// Examples are recorded requests of an operation of the external API with their answers.
func (q *Request) Examples(id string) ([]httpapi.Example, error) {
	return q.app.cfg.External.RecordedExamples(id)
}

// AdminOperation is [Request.Operation] for the admin API.
func (q *Request) AdminOperation(id string) httpapi.Operation { return operation(q.app.cfg.Admin, id) }

func operation(api API, id string) httpapi.Operation {
	o, ok := api.Operation(id)
	if !ok {
		panic("no operation " + id)
	}
	return o
}

// Call calls an operation of the external API as the person who is signed in. All its rules hold; a change is recorded with who
// made it. Errors are the [apierr.Error] of the API.
func (q *Request) Call(ctx context.Context, id string, in Input) (*Reply, error) {
	return q.call(ctx, q.app.cfg.External, q.Operation(id), in)
}

// CallAdmin is [Request.Call] for an operation of the admin API. People reach the operations of their company only.
func (q *Request) CallAdmin(ctx context.Context, id string, in Input) (*Reply, error) {
	return q.call(ctx, q.app.cfg.Admin, q.AdminOperation(id), in)
}

func (q *Request) call(ctx context.Context, api API, op httpapi.Operation, in Input) (*Reply, error) {
	d := transport.Direct{Method: op.Method, Target: q.target(op, in), Header: map[string]string{"X-Request-Id": q.ID}}
	if in.Body != nil {
		raw, err := json.Marshal(in.Body)
		if err != nil {
			return nil, fmt.Errorf("encode input of %s: %w", op.ID, err)
		}
		d.Body, d.Header["Content-Type"] = raw, "application/json"
	}
	if in.Key != "" {
		d.Header["X-Idempotency-Key"] = in.Key
	}
	if in.Version != 0 {
		d.Header["If-Match"] = strconv.Quote(strconv.FormatInt(in.Version, 10))
	}
	a := api.Do(ctx, httpapi.Insider{Principal: q.Principal, Address: q.Visit.Address, Record: q.recordOperation}, d)
	if a.Fault != nil {
		return nil, a.Fault
	}
	return &Reply{Status: a.Status, Header: a.Header, Body: a.Body}, nil
}

// SendWithToken sends a request of the external API with a token, as a client does. The role of the person has no part in it; their
// address has, for the addresses that may use the token.
func (q *Request) SendWithToken(ctx context.Context, token string, d transport.Direct) *transport.Answer {
	header := map[string]string{"Authorization": "Bearer " + token, "User-Agent": "tradegrid-console"}
	maps.Copy(header, d.Header)
	d.Header, d.Address = header, q.Visit.Address
	return q.app.cfg.External.DoWithToken(ctx, d)
}

// recordOperation keeps a change that an operation made, with the answer as what the record was after it.
func (q *Request) recordOperation(tx *db.Tx, c httpapi.AdminChange) error {
	return q.app.cfg.Changes.RecordPerson(tx, audit.PersonChange{
		By: q.name(), UserID: q.Session.User, Operation: c.Operation, Company: c.Company, Entity: c.Entity, Body: c.Body, RequestID: q.ID,
	})
}

// target is the path of an operation with its parameters, below the root of its API.
func (q *Request) target(op httpapi.Operation, in Input) string {
	segments := strings.Split(op.Path, "/")
	for i, s := range segments {
		name, ok := strings.CutPrefix(s, "{")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "}")
		value := in.Path[name]
		if value == "" && name == "companyId" {
			value = q.Company.ID.String()
		}
		segments[i] = url.PathEscape(value)
	}
	target := strings.Join(segments, "/")
	if len(in.Query) > 0 {
		target += "?" + in.Query.Encode()
	}
	return target
}

// Curl is a call of the external API as a line for a shell. It names no token: $TOKEN stands for one.
func (q *Request) Curl(id string, in Input) string {
	op := q.Operation(id)
	line := "curl -sS"
	if op.Method != http.MethodGet {
		line += " -X " + op.Method
	}
	line += " " + quote(q.app.cfg.APIURL+q.target(op, in)) + ` -H "Authorization: Bearer $TOKEN"`
	if op.Method != http.MethodGet {
		line += ` -H "X-Idempotency-Key: $(uuidgen)"`
	}
	if in.Body != nil {
		if raw, err := json.Marshal(in.Body); err == nil {
			line += ` -H "Content-Type: application/json" -d ` + quote(string(raw))
		}
	}
	return line
}

// quote is a text as a word of a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Shown is what the API says of what a page shows: piece "api".
type Shown struct{ JSON, Curl string }

// maxShown is how much of an answer a page shows, in bytes.
const maxShown = 256 << 10

// Show prepares an answer and its request for a page.
func (q *Request) Show(id string, in Input, r *Reply) Shown {
	return Shown{JSON: shortened(Pretty(r.Body)), Curl: q.Curl(id, in)}
}
