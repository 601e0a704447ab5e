package web

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/services/platform/audit"
)

// API answers operations in this process as it answers those of clients.
type API interface {
	Call(ctx context.Context, by httpapi.InternalCaller, id string, in Input, into any) error
	DoWithToken(ctx context.Context, d transport.Direct) *transport.Answer
	Operation(id string) (httpapi.Operation, bool)
	Ops() []httpapi.Op
	RecordedExamples(id string) ([]httpapi.Example, error)
}

// Input is what an operation is called with. The company of the admin API is filled in.
type Input = httpapi.Input

// JSON is an answer as clients get it, for pages that show any resource from a table.
type JSON = json.RawMessage

// Decode reads an answer.
func Decode(answer JSON, into any) error {
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("read answer of the API: %w", err)
	}
	return nil
}

// ByID is the input of an operation on a record.
func ByID(id uuid.UUID) Input { return Input{Path: map[string]string{"id": id.String()}} }

// Query are the parameters that a filter of an operation sets.
func Query(filter any) url.Values { return binding.Query(filter) }

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

// Call calls an operation of the external API as the person who is signed in. All its rules hold; a change is recorded with who made
// it. T is the type that the operation returns, or [JSON]; another type is an error. Errors of the operation
// are the [apierr.Error] of the API.
func Call[T any](ctx context.Context, q *Request, id string, in Input) (T, error) {
	return call[T](ctx, q, q.app.cfg.External, in, id)
}

// List is [Call] for a list, whose parameters filter sets.
func List[T any](ctx context.Context, q *Request, id string, filter any) (*list.Page[T], error) {
	return Call[*list.Page[T]](ctx, q, id, Input{Query: Query(filter)})
}

// CallAdmin is [Call] for an operation of the admin API. People reach the operations of their company only.
func CallAdmin[T any](ctx context.Context, q *Request, id string, in Input) (T, error) {
	if in.Path["companyId"] == "" {
		path := map[string]string{"companyId": q.Company.ID.String()}
		maps.Copy(path, in.Path)
		in.Path = path
	}
	return call[T](ctx, q, q.app.cfg.Admin, in, id)
}

func call[T any](ctx context.Context, q *Request, api API, in Input, id string) (got T, err error) {
	err = api.Call(ctx, httpapi.InternalCaller{Principal: q.Principal, Address: q.Visit.Address, Record: q.recordOperation}, id, in, &got)
	return got, err
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
		By: q.name(), UserID: q.Session.User, Operation: c.Operation, Company: c.Company, Entity: c.Entity, Name: c.Name, Body: c.Body,
		Before: c.Before, After: c.After, RequestID: q.ID,
	})
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
func (q *Request) Show(id string, in Input, answer any) Shown {
	return Shown{JSON: PrettyOf(answer), Curl: q.Curl(id, in)}
}
