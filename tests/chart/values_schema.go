package chart

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"
)

// ValuesSchema makes the chart's values.schema.json of its source, values.schema.yaml, whose comment says what it may use.
func ValuesSchema(source []byte) ([]byte, error) {
	var schema map[string]any
	if err := yaml.Unmarshal(source, &schema); err != nil {
		return nil, fmt.Errorf("parse the source of the schema: %w", err)
	}
	delete(schema, "shared") // its anchors are in place of their aliases
	api, err := definitions(Kubernetes[len(Kubernetes)-1])
	if err != nil {
		return nil, err
	}
	used := map[string]any{}
	if err := importTypes(schema, api, used); err != nil {
		return nil, err
	}
	strict(schema)
	if err := share(schema, used); err != nil {
		return nil, err
	}
	schema["definitions"] = used
	return writeSchema(schema)
}

// importTypes puts a reference in place of each `k8s: type`, beside which draft 7 knows nothing else, and collects the types
// with all that they refer to.
func importTypes(node any, api map[string]map[string]any, used map[string]any) error {
	switch v := node.(type) {
	case map[string]any:
		if name, ok := v["k8s"].(string); ok {
			if api[name] == nil {
				return fmt.Errorf("Kubernetes has no type %s", name)
			}
			delete(v, "k8s")
			v["$ref"] = "#/definitions/" + name
			for name, definition := range closure(api, name) {
				used[name] = constraints(definition)
			}
		}
		for _, value := range v {
			if err := importTypes(value, api, used); err != nil {
				return err
			}
		}
	case []any:
		for _, value := range v {
			if err := importTypes(value, api, used); err != nil {
				return err
			}
		}
	}
	return nil
}

// share moves the objects and lists that values repeat into definitions: Helm compiles the schema at every run.
func share(schema, definitions map[string]any) error {
	seen := map[string]int{}
	var visit func(node any, replace bool) (any, error)
	visit = func(node any, replace bool) (any, error) {
		fields, ok := node.(map[string]any)
		if !ok {
			return node, nil
		}
		if fields["properties"] != nil || fields["items"] != nil {
			text, err := json.Marshal(fields)
			if err != nil {
				return nil, fmt.Errorf("write the schema: %w", err)
			}
			name := fmt.Sprintf("%x", sha256.Sum256(text))[:12]
			if replace && seen[name] > 1 {
				if definitions[name] == nil {
					definitions[name] = maps.Clone(fields)
				}
				return map[string]any{"$ref": "#/definitions/" + name}, nil
			}
			seen[name]++
		}
		for key, value := range fields {
			inner, err := visit(value, replace)
			if err != nil {
				return nil, err
			}
			fields[key] = inner
		}
		return fields, nil
	}
	for _, replace := range []bool{false, true} {
		if _, err := visit(schema["properties"], replace); err != nil {
			return err
		}
	}
	return nil
}

// constraints is a definition without what explains it: values are checked, not read.
func constraints(node any) any {
	switch v := node.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, value := range v {
			if slices.Contains([]string{"type", "properties", "items", "additionalProperties", "required", "$ref", "enum"}, key) {
				kept[key] = value
			}
		}
		if fields, ok := kept["properties"].(map[string]any); ok {
			fields = maps.Clone(fields)
			for name, field := range fields {
				fields[name] = constraints(field)
			}
			kept["properties"] = fields
		}
		for _, key := range []string{"items", "additionalProperties"} {
			if inner, ok := kept[key].(map[string]any); ok {
				kept[key] = constraints(inner)
			}
		}
		return kept
	default:
		return node
	}
}

// writeSchema writes a line per type and per value at the top, so that differences can be read.
func writeSchema(schema map[string]any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{")
	for i, key := range slices.Sorted(maps.Keys(schema)) {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n  %q: ", key)
		if entries, ok := schema[key].(map[string]any); ok {
			if err := writeLines(&b, entries); err != nil {
				return nil, err
			}
			continue
		}
		text, err := json.Marshal(schema[key])
		if err != nil {
			return nil, fmt.Errorf("write the schema: %w", err)
		}
		b.Write(text)
	}
	b.WriteString("\n}\n")
	return b.Bytes(), nil
}

func writeLines(b *bytes.Buffer, entries map[string]any) error {
	b.WriteString("{")
	for i, name := range slices.Sorted(maps.Keys(entries)) {
		if i > 0 {
			b.WriteString(",")
		}
		text, err := json.Marshal(entries[name])
		if err != nil {
			return fmt.Errorf("write the schema: %w", err)
		}
		fmt.Fprintf(b, "\n    %q: %s", name, text)
	}
	b.WriteString("\n  }")
	return nil
}
