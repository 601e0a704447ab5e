package httpapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
)

// Example is a request of an operation with its answer, as the API description shows it. The files of [Config.Examples], one of each tag,
// have lists of them by operationId, at most one for each status.
type Example struct {
	Path      string          `json:"path"`                // with its query, relative to the root of the API
	BodyMedia string          `json:"bodyMedia,omitempty"` // of the request; none = JSON
	Body      json.RawMessage `json:"body,omitempty"`      // of the request; a JSON text for another media type
	Shortened bool            `json:"shortened,omitempty"` // of the long lists in Body, only the first entries are there
	Status    int             `json:"status"`              // of the answer
	Media     string          `json:"media,omitempty"`     // of the answer; none = JSON
	Answer    json.RawMessage `json:"answer,omitempty"`    // a JSON text for another media type
}

// RecordedExamples returns the recorded requests of an operation with their answers.
func (a *API) RecordedExamples(id string) ([]Example, error) {
	all, err := a.examples()
	return all[id], err
}

// readExamples returns the examples of all operations, by operationId.
func (a *API) readExamples() (map[string][]Example, error) {
	if a.cfg.Examples == nil {
		return nil, nil
	}
	names, err := fs.Glob(a.cfg.Examples, "*.json")
	if err != nil {
		return nil, fmt.Errorf("list examples: %w", err)
	}
	all := map[string][]Example{}
	for _, name := range names {
		raw, err := fs.ReadFile(a.cfg.Examples, name)
		if err == nil {
			err = json.Unmarshal(raw, &all) // adds to those of the other files
		}
		if err != nil {
			return nil, fmt.Errorf("examples in %s: %w", name, err)
		}
	}
	return all, nil
}

// illustrate adds the recorded examples to the description.
func (a *API) illustrate() error {
	all, err := a.examples()
	if err != nil {
		return err
	}
	for _, op := range a.ops {
		described := operationOf(a.desc.Paths[op.Path], op.Method)
		for i, e := range all[op.ID] {
			if i == 0 {
				exampleParams(described.Parameters, op.Path, e.Path)
			}
			e.describe(described, a.own(described, e.Status))
		}
	}
	return nil
}

func operationOf(item *huma.PathItem, method string) *huma.Operation {
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
	}[method]
}

// describe adds the request and the answer to an operation, both under the status.
func (e Example) describe(op *huma.Operation, res *huma.Response) {
	name := strconv.Itoa(e.Status)
	if e.Body != nil && op.RequestBody != nil {
		op.RequestBody.Content = withExample(op.RequestBody.Content, cmp.Or(e.BodyMedia, fiber.MIMEApplicationJSON), name, e.Body, e.summary())
	}
	if e.Answer == nil || res == nil {
		return
	}
	res.Content = withExample(res.Content, cmp.Or(e.Media, fiber.MIMEApplicationJSON), name, e.Answer, "")
}

// summary says that the request had more than its example.
func (e Example) summary() string {
	if e.Shortened {
		return "the first entries of a longer list"
	}
	return ""
}

// withExample returns a copy of content, which other responses may share, with an example of the media type.
func withExample(content map[string]*huma.MediaType, media, name string, value json.RawMessage, summary string) map[string]*huma.MediaType {
	all := make(map[string]*huma.MediaType, len(content))
	for key, m := range content {
		if key == media {
			with := *m
			with.Examples = map[string]*huma.Example{name: {Summary: summary, Value: value}}
			for other, e := range m.Examples {
				with.Examples[other] = e
			}
			m = &with
		}
		all[key] = m
	}
	return all
}

// exampleParams shows the values that the parameters have in an address.
func exampleParams(params []*huma.Param, template, address string) {
	path, query, _ := strings.Cut(address, "?")
	values := map[string]string{}
	parts := strings.Split(path, "/")
	for i, part := range strings.Split(template, "/") {
		if strings.HasPrefix(part, "{") && i < len(parts) {
			values["path "+strings.Trim(part, "{}")], _ = url.PathUnescape(parts[i])
		}
	}
	if asked, err := url.ParseQuery(query); err == nil {
		for name := range asked {
			values["query "+name] = asked.Get(name)
		}
	}
	for _, p := range params {
		if value, ok := values[p.In+" "+p.Name]; ok {
			p.Example = typed(p.Schema, value)
		}
	}
}

// typed returns the text of a parameter as the value of its schema.
func typed(s *huma.Schema, text string) any {
	switch {
	case s == nil:
		return text
	case s.Type == huma.TypeInteger || s.Type == huma.TypeNumber:
		return json.Number(text)
	case s.Type == huma.TypeBoolean:
		return text == "true" || text == "1"
	case s.Type == huma.TypeArray:
		return strings.Split(text, ",")
	}
	return text
}
