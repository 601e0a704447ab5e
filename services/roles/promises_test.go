package roles_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// promises are the committed schemas, closed: a field that a schema does not name is a fault here, though clients
// must tolerate it, because a description that omits a field has drifted.
type promises struct {
	file     string // of the API description
	compiler *jsonschema.Compiler
	ops      map[string]map[string]any // method and path → operation
}

// Files of the API descriptions.
const (
	descriptionFile = "openapi.json"
	adminFile       = "admin.json"
)

func readPromises(t *testing.T, file string) *promises {
	t.Helper()
	p := &promises{file: file, compiler: jsonschema.NewCompiler(), ops: map[string]map[string]any{}}
	p.compiler.DefaultDraft(jsonschema.Draft2020)
	p.compiler.AssertFormat()
	description := p.add(t, filepath.Join("openapi", file), file)
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
	responses, ok := p.ops[op]["responses"].(map[string]any)
	if !ok {
		return fmt.Errorf("%s is not described", op)
	}
	promised, ok := responses[strconv.Itoa(status)].(map[string]any)
	if !ok {
		return fmt.Errorf("%s answers %d, which is not described: %s", op, status, raw)
	}
	if promised["content"] == nil {
		if len(raw) > 0 {
			return fmt.Errorf("%s answers %d with a body that is not described: %s", op, status, raw)
		}
		return nil
	}
	method, path, _ := strings.Cut(op, " ")
	pointer := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path)
	return p.check(fmt.Sprintf("%s#/paths/%s/%s/responses/%d/content/application~1json/schema", p.file, pointer, strings.ToLower(method), status), raw)
}
