package httpapi

import (
	"cmp"
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

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/binding"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/store/job"
)

// arraysAreNeverNull applies to requests and responses. The setting is global, and APIs may be created concurrently.
var arraysAreNeverNull = sync.OnceFunc(func() { huma.DefaultArrayNullable = false })

// description is the API description without operations; registering an operation adds it.
func description(of variant) *huma.OpenAPI {
	arraysAreNeverNull()
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: of.name, Version: "1.0.0", Description: of.about, License: &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"},
		},
		Servers: []*huma.Server{{URL: of.base, Description: "this installation"}},
		Components: &huma.Components{
			Schemas:         jsontype.NewRegistry("#/components/schemas/"),
			Headers:         map[string]*huma.Header{},
			Responses:       map[string]*huma.Response{},
			SecuritySchemes: map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}},
		},
		Security: []map[string][]string{{"token": {}}},
	}
}

// errorStatuses are the error statuses that every operation may return.
var errorStatuses = map[int]string{
	400: "the input is invalid; errors lists the fields",
	401: "the token is missing, invalid, revoked or expired, or the company is archived",
	403: "the token lacks the scope, the component is not enabled, or the plan has no API",
	404: "the company has no such record",
	409: "the state of a record does not allow the change",
	429: "a rate limit was exceeded; retry after Retry-After seconds",
	431: "request line and headers together exceed 8 KiB",
	500: "internal error; quote the request ID to support if it persists",
	503: "unavailable; nothing was stored, retry after Retry-After seconds",
	504: "the request timed out; retry it with the same X-Idempotency-Key",
}

// changeStatuses are the additional error statuses of operations that make changes.
var changeStatuses = map[int]string{
	412: "the version of the record does not match If-Match",
	413: "the body is too large",
	415: "the body is not application/json, or is compressed",
	422: "the X-Idempotency-Key was used with another request",
}

func (a *API) describe(op Op) huma.Operation {
	ho := huma.Operation{
		OperationID: op.ID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
		Tags: []string{op.Tag}, DefaultStatus: op.Status, Responses: map[string]*huma.Response{}, MaxBodyBytes: int64(op.MaxBody),
		Extensions: map[string]any{},
	}
	switch {
	case a.cfg.Admin != nil:
		ho.Extensions["x-required-role"] = (&operation{Op: op}).role()
	case op.Scope != "":
		ho.Extensions["x-required-scope"] = (&operation{Op: op}).needed()
	}
	if op.Component != "" && a.cfg.Admin == nil {
		ho.Extensions["x-required-component"] = op.Component
	}
	if op.SignedURL != nil {
		ho.Security = []map[string][]string{{"token": {}}, {}}
	}
	if op.AlsoNeeds != "" {
		ho.Extensions["x-also-required-component"] = op.AlsoNeeds
	}
	add := func(meanings map[int]string, refusal func(int, string) *huma.Response) {
		for status, meaning := range meanings {
			ho.Responses[strconv.Itoa(status)] = refusal(status, meaning)
		}
	}
	add(errorStatuses, func(status int, meaning string) *huma.Response {
		return a.refusal(status, cmp.Or(a.variant.statuses[status], meaning))
	})
	add(op.Errors, a.refusalOnce)
	if strings.Contains(op.Path, "{"+companyParam+"}") {
		ho.Parameters = append(ho.Parameters, &huma.Param{
			Name: companyParam, In: "path", Required: true, Description: "the company", Schema: &huma.Schema{Type: huma.TypeString, Format: "uuid"},
		})
	}
	if !op.Mutating() {
		return ho
	}
	add(changeStatuses, a.refusal)
	if op.Uploads != nil {
		add(map[int]string{415: "the body is none of the media types, or is compressed"}, a.refusalOnce)
	}
	ho.Parameters = append(ho.Parameters, headerParam("X-Idempotency-Key", "uuid", "unique per change; a retry with the same key within 7 days returns the stored response"))
	if op.Method == http.MethodPatch || strings.Contains(op.rel, "{") {
		ho.Parameters = append(ho.Parameters, headerParam("If-Match", "", "ETag of the version that the client has read, or * for any; if the record has changed since, the response is 412"))
		ho.Parameters[len(ho.Parameters)-1].Schema.Pattern = versionPattern
	}
	return ho
}

// describeTag declares a tag.
func (a *API) describeTag(name, about string) {
	i := slices.IndexFunc(a.desc.Tags, func(t *huma.Tag) bool { return t.Name == name })
	if i < 0 {
		a.desc.Tags = append(a.desc.Tags, &huma.Tag{Name: name, Description: about})
		slices.SortFunc(a.desc.Tags, func(x, y *huma.Tag) int { return strings.Compare(x.Name, y.Name) })
	} else if t := a.desc.Tags[i]; t.Description == "" {
		t.Description = about
	}
}

// describeSuccess adds the responses of an operation that succeeds; t is the type of its body.
func (a *API) describeSuccess(ho *huma.Operation, t reflect.Type, op Op) {
	add := func(status int, t reflect.Type, content map[string]*huma.MediaType) {
		ho.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status), Headers: a.successHeaders(op, status, t, ho.Parameters), Content: content,
		}
	}
	in := func(t reflect.Type, hint string) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{fiber.MIMEApplicationJSON: {Schema: a.desc.Components.Schemas.Schema(t, true, hint)}}
	}
	var content map[string]*huma.MediaType
	switch {
	case t == reflect.TypeFor[File]():
		content = fileContent(op.Files)
	case op.Status != http.StatusNoContent:
		content = in(t, op.ID+"Response")
	}
	add(op.Status, t, content)
	if op.StartsJob {
		started := reflect.TypeFor[job.Record]()
		add(http.StatusAccepted, started, in(started, "Job"))
	}
	if op.AlsoCreates {
		add(http.StatusCreated, t, content)
	}
}

func headerParam(name, format, doc string) *huma.Param {
	return &huma.Param{Name: name, In: "header", Description: doc, Schema: &huma.Schema{Type: huma.TypeString, Format: format}}
}

// OneOf restricts a property of the bodies with the fields of T, or the items of one that is an array, to values that are
// known only when the program is put together.
func OneOf[T any](a *API, property string, values []string) {
	binding.Restrict(a.desc.Components.Schemas, reflect.TypeFor[T](), property, values)
}

// Description returns the API description as committed and served.
func (a *API) Description() ([]byte, error) {
	if err := a.illustrated(); err != nil {
		return nil, err
	}
	return jsontype.Description(a.desc)
}

// Routes lists Fiber's routes below the root of the API as "METHOD /path/{id}", for comparison with the description.
func (a *API) Routes() []string {
	var routes []string
	for _, r := range a.server.Routes() {
		if !isPage(r[1]) {
			routes = append(routes, r[0]+" "+r[1])
		}
	}
	slices.Sort(routes)
	return slices.Compact(routes)
}

const schemaRef = "#/components/schemas/"

// descriptionOf is the description of the operations with a tag, with the types that they use.
func (a *API) descriptionOf(tag string) ([]byte, error) {
	whole, err := a.Description()
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := json.Unmarshal(whole, &doc); err != nil {
		return nil, fmt.Errorf("read API description: %w", err)
	}
	paths, _ := doc["paths"].(map[string]any)
	for path, item := range paths {
		ops, _ := item.(map[string]any)
		for method, op := range ops {
			fields, _ := op.(map[string]any)
			if tags, _ := fields["tags"].([]any); !slices.Contains(tags, any(tag)) {
				delete(ops, method)
			}
		}
		if len(ops) == 0 {
			delete(paths, path)
		}
	}
	tags, _ := doc["tags"].([]any)
	doc["tags"] = slices.DeleteFunc(tags, func(t any) bool { of, _ := t.(map[string]any); return of["name"] != tag })
	components, _ := doc["components"].(map[string]any)
	all, _ := components["schemas"].(map[string]any)
	used := map[string]any{}
	useSchemas([]any{paths, components["responses"]}, all, used)
	components["schemas"] = used
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encode API description of %s: %w", tag, err)
	}
	return raw, nil
}

// useSchemas puts the schemas that v refers to, directly or through others, into used.
func useSchemas(v any, all, used map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			useSchemas(e, all, used)
		}
	case map[string]any:
		for _, e := range v {
			useSchemas(e, all, used)
		}
	case string: // of $ref, or in the mapping of a discriminator
		if name, ok := strings.CutPrefix(v, schemaRef); ok && used[name] == nil {
			used[name] = all[name]
			useSchemas(all[name], all, used)
		}
	}
}
