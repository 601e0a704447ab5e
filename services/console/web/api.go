package web

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/platform/audit"
)

// API answers operations in this process as it answers those of clients.
type API interface {
	Call(ctx context.Context, by httpapi.Insider, id string, in Input, into any) (status int, err error)
	DoWithToken(ctx context.Context, d transport.Direct) *transport.Answer
	Operation(id string) (httpapi.Operation, bool)
	Ops() []httpapi.Op
	RecordedExamples(id string) ([]httpapi.Example, error)
}

// Input is what an operation is called with. The company of the admin API is filled in.
type Input = httpapi.Input

// Reply is what an operation answered.
type Reply struct {
	Status int
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
	var r Reply
	var err error
	r.Status, err = api.Call(ctx, httpapi.Insider{Principal: q.Principal, Address: q.Visit.Address, Record: q.recordOperation}, op.ID, q.of(op, in), &r.Body)
	if err != nil {
		return nil, err
	}
	return &r, nil
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

// of fills in the company, where the operation names one.
func (q *Request) of(op httpapi.Operation, in Input) Input {
	if strings.Contains(op.Path, "{companyId}") && in.Path["companyId"] == "" {
		path := map[string]string{"companyId": q.Company.ID.String()}
		maps.Copy(path, in.Path)
		in.Path = path
	}
	return in
}

// Curl is a call of the external API as a line for a shell. It names no token: $TOKEN stands for one.
func (q *Request) Curl(id string, in Input) string {
	op := q.Operation(id)
	line := "curl -sS"
	if op.Method != http.MethodGet {
		line += " -X " + op.Method
	}
	line += " " + quote(q.app.cfg.APIURL+in.Target(op.Op)) + ` -H "Authorization: Bearer $TOKEN"`
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
