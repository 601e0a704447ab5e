package roles_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// promises are the committed schemas, closed: a field that a schema does not name is a fault here, though clients
// must tolerate it, because a description that omits a field has drifted.
type promises struct {
	file     string // of the API description
	compiler *jsonschema.Compiler
	ops      map[string]map[string]any // method and path → operation

	components map[string]any
	sent       map[string]bool // headers
}

// Files of the API descriptions.
const (
	descriptionFile = "openapi.json"
	adminFile       = "admin.json"
)

func readPromises(t *testing.T, file string) *promises {
	t.Helper()
	p := &promises{file: file, compiler: jsonschema.NewCompiler(), ops: map[string]map[string]any{}, sent: map[string]bool{}}
	p.compiler.DefaultDraft(jsonschema.Draft2020)
	p.compiler.AssertFormat()
	description := p.add(t, filepath.Join("openapi", file), file)
	p.components = description["components"].(map[string]any)
	for path, item := range description["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			p.ops[strings.ToUpper(method)+" "+path] = op.(map[string]any)
		}
	}
	files, err := filepath.Glob("../../schemas/events/*.schema.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		p.add(t, filepath.Join("events", filepath.Base(f)), filepath.Base(f))
	}
	return p
}

func (p *promises) add(t *testing.T, file, name string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../schemas", file))
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	closeSchemas(doc)
	require.NoError(t, p.compiler.AddResource(name, doc))
	return doc.(map[string]any)
}

// closeSchemas refuses unknown properties wherever a schema lists its own.
func closeSchemas(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			closeSchemas(item)
		}
	case map[string]any:
		for _, item := range v {
			closeSchemas(item)
		}
		_, lists := v["properties"].(map[string]any)
		if _, open := v["additionalProperties"].(map[string]any); lists && !open {
			v["additionalProperties"] = false
		}
	}
}

// check holds a JSON text against a schema.
func (p *promises) check(schema string, raw []byte) error {
	s, err := p.compiler.Compile(schema)
	if err != nil {
		return fmt.Errorf("no schema %s: %w", schema, err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("%s is not JSON: %w", raw, err)
	}
	if err := s.Validate(v); err != nil {
		return fmt.Errorf("%s breaks %s: %w", raw, schema, err)
	}
	return nil
}

// successOf is the status with which the description says that the operation succeeds; 0 if it names none.
func (p *promises) successOf(op string) int {
	for status := range p.ops[op]["responses"].(map[string]any) {
		if n, err := strconv.Atoi(status); err == nil && n < http.StatusMultipleChoices {
			return n
		}
	}
	return 0
}

// checkAnswer holds the answer of an operation against what its description promises for the status.
func (p *promises) checkAnswer(op string, status int, raw []byte) error {
	promised, pointer := p.response(op, status)
	if promised == nil {
		return fmt.Errorf("%s answers %d, which is not described: %s", op, status, raw)
	}
	if promised["content"] == nil {
		if len(raw) > 0 {
			return fmt.Errorf("%s answers %d with a body that is not described: %s", op, status, raw)
		}
		return nil
	}
	return p.check(p.file+pointer+"/content/application~1json/schema", raw)
}

// response is what an operation promises for a status, and the pointer to it; nil if it promises nothing.
func (p *promises) response(op string, status int) (promised map[string]any, pointer string) {
	responses, _ := p.ops[op]["responses"].(map[string]any)
	promised, _ = responses[strconv.Itoa(status)].(map[string]any)
	if ref, ok := promised["$ref"].(string); ok {
		return p.components["responses"].(map[string]any)[path.Base(ref)].(map[string]any), ref
	}
	method, route, _ := strings.Cut(op, " ")
	escaped := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(route)
	return promised, fmt.Sprintf("#/paths/%s/%s/responses/%d", escaped, strings.ToLower(method), status)
}

// ofTransport are headers that say how a body is sent, and need no description.
var ofTransport = []string{"Content-Type", "Content-Length", "Content-Encoding", "Vary", "Date", "X-Content-Type-Options"} //nolint:gochecknoglobals // a constant list

// checkHeaders holds the headers of an answer against what its description promises for the status: each is described, and those that
// always come are there.
func (p *promises) checkHeaders(op string, status int, got http.Header) error {
	promised, _ := p.response(op, status)
	described, _ := promised["headers"].(map[string]any)
	for name := range got {
		if slices.Contains(ofTransport, name) {
			continue
		}
		same := func(other string) bool { return http.CanonicalHeaderKey(other) == name }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(described)), same) {
			return fmt.Errorf("%s answers %d with the header %s, which is not described: see httpapi.Header", op, status, name)
		}
		p.sent[name] = true
	}
	for name := range described {
		shared, _ := p.components["headers"].(map[string]any)[name].(map[string]any)
		if shared["required"] == true && got.Get(name) == "" {
			return fmt.Errorf("%s answers %d without the header %s, which it promises", op, status, name)
		}
	}
	return nil
}

// everyHeaderIsSent fails for a described header that no answer had.
func (p *promises) everyHeaderIsSent(t *testing.T) {
	t.Helper()
	for name := range p.components["headers"].(map[string]any) {
		assert.True(t, p.sent[http.CanonicalHeaderKey(name)], "the header %s is described and no answer had it: add a step", name)
	}
}
