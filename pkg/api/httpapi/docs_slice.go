package httpapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

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
	components, _ := doc["components"].(map[string]any)
	all, _ := components["schemas"].(map[string]any)
	used := map[string]any{}
	useSchemas(paths, all, used)
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
