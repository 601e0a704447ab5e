package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/tradegrid/tradegrid/pkg/wire"
)

// arraysAreNeverNull holds for the wire in both directions. The setting belongs to the process and is made
// once, because APIs may be made side by side.
var arraysAreNeverNull = sync.OnceFunc(func() { huma.DefaultArrayNullable = false })

// description is the frame of the API description; operations add themselves on registration.
func description() *huma.OpenAPI {
	arraysAreNeverNull()
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Tradegrid external API", Version: "1.0.0",
			Description: "The records of one company, and webhooks about their changes. " +
				"Every call carries a bearer token; every mutating call may carry X-Idempotency-Key. Ignore fields that you do not know.",
		},
		Servers: []*huma.Server{{URL: BasePath, Description: "this installation"}},
		Components: &huma.Components{
			Schemas:         wire.NewRegistry("#/components/schemas/"),
			SecuritySchemes: map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}},
		},
		Security: []map[string][]string{{"token": {}}},
	}
}

// errorStatuses are the errors that every operation may answer, by what they mean here.
var errorStatuses = map[int]string{
	400: "the input is not valid; errors names every field",
	401: "the token is missing, invalid, revoked or expired, or the company is archived",
	403: "the token lacks the scope, the component is not enabled, or the plan has no API",
	404: "no such record in the company",
	409: "the state of a record forbids the change",
	429: "the rate of the token is used up; wait Retry-After seconds",
	431: "request line and headers together exceed 8 KiB",
	500: "an internal failure",
	503: "overloaded; nothing was stored, wait Retry-After seconds",
	504: "the request took too long; repeat it with the same X-Idempotency-Key",
}

// changeStatuses are the errors of operations that change something, besides [errorStatuses].
var changeStatuses = map[int]string{
	412: "the record has another version than If-Match names",
	413: "the body is too large",
	415: "the body is not application/json, or it is compressed",
	422: "the X-Idempotency-Key belongs to another request",
}

func (a *API) describe(op Op) huma.Operation {
	ho := huma.Operation{
		OperationID: op.ID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
		Tags: []string{op.Tag}, DefaultStatus: op.Status, Responses: map[string]*huma.Response{}, MaxBodyBytes: int64(op.MaxBody),
		Extensions: map[string]any{},
	}
	if op.Scope != "" {
		ho.Extensions["x-required-scope"] = (&operation{Op: op}).needed()
	}
	if op.Component != "" {
		ho.Extensions["x-required-component"] = op.Component
	}
	schema := a.desc.Components.Schemas.Schema(reflect.TypeFor[ErrorResponse](), true, "ErrorResponse")
	answers := func(meanings map[int]string) {
		for status, meaning := range meanings {
			ho.Responses[strconv.Itoa(status)] = &huma.Response{
				Description: meaning,
				Content:     map[string]*huma.MediaType{"application/json": {Schema: schema}},
			}
		}
	}
	answers(errorStatuses)
	answers(op.Errors)
	if !op.Mutating() {
		return ho
	}
	answers(changeStatuses)
	ho.Parameters = append(ho.Parameters, headerParam("X-Idempotency-Key", "uuid", "unique per change; a repeat within 7 days gets the stored answer"))
	if strings.Contains(op.Path, "{") {
		ho.Parameters = append(ho.Parameters, headerParam("If-Match", "", "ETag of the record as the client knows it; another version answers 412"))
	}
	return ho
}

// describeSuccess adds the answer of an operation that went well; t is the type of its body.
func (a *API) describeSuccess(ho *huma.Operation, t reflect.Type) {
	res := &huma.Response{Description: http.StatusText(ho.DefaultStatus)}
	if ho.DefaultStatus != http.StatusNoContent {
		schema := a.desc.Components.Schemas.Schema(t, true, ho.OperationID+"Response")
		res.Content = map[string]*huma.MediaType{fiber.MIMEApplicationJSON: {Schema: schema}}
	}
	ho.Responses[strconv.Itoa(ho.DefaultStatus)] = res
}

func headerParam(name, format, doc string) *huma.Param {
	return &huma.Param{Name: name, In: "header", Description: doc, Schema: &huma.Schema{Type: huma.TypeString, Format: format}}
}

// Description is the API description as it is committed and served: stable, indented JSON.
func (a *API) Description() ([]byte, error) {
	raw, err := json.MarshalIndent(a.desc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write API description: %w", err)
	}
	return append(raw, '\n'), nil
}

// Routes lists the routes that Fiber knows below BasePath, as "METHOD /path/{id}", to be compared with the description.
func (a *API) Routes() []string {
	var routes []string
	for _, r := range a.app.GetRoutes(true) {
		if path, ok := describedPath(r.Path); ok && r.Method != http.MethodHead {
			routes = append(routes, r.Method+" "+path)
		}
	}
	slices.Sort(routes)
	return slices.Compact(routes)
}
