package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// The table of values lies between these lines of README.md.
const (
	tableBegin = "<!-- values: written by `make chart-docs` -->"
	tableEnd   = "<!-- end of values -->"
)

// row is one line of the table of values.
type row struct{ key, fallback, about string }

// Table writes the chart's values, their defaults and what their comments say as a Markdown table.
// A value without a comment is an error, unless a role has it in common with api.
func Table(values []byte) (string, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(values, &doc); err != nil {
		return "", fmt.Errorf("parse values: %w", err)
	}
	rows, err := rowsOf("", doc.Content[0])
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| Value | Default | Meaning |\n|---|---|---|\n")
	var missing []error
	for _, r := range rows {
		if r.about == "" {
			r.about = shared(rows, r.key)
		}
		if r.about == "" {
			missing = append(missing, fmt.Errorf("%s: say in a comment `# -- …` what it means", r.key))
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", r.key, r.fallback, strings.ReplaceAll(r.about, "|", `\|`))
	}
	return b.String(), errors.Join(missing...)
}

// rowsOf lists what lies below a key. A map that has a comment of its own and none inside is one row.
func rowsOf(prefix string, node *yaml.Node) ([]row, error) {
	var rows []row
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		key := strings.TrimPrefix(prefix+"."+name.Value, ".")
		about := comment(name)
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && (about == "" || documented(value)) && !amounts(value) {
			inner, err := rowsOf(key, value)
			if err != nil {
				return nil, err
			}
			rows = append(rows, inner...)
			continue
		}
		fallback, err := compact(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		rows = append(rows, row{key, fallback, about})
	}
	return rows, nil
}

// amounts tells requests and limits, which are read together.
func amounts(node *yaml.Node) bool { return node.Content[0].Value == "requests" }

func documented(node *yaml.Node) bool {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if comment(node.Content[i]) != "" || node.Content[i+1].Kind == yaml.MappingNode && documented(node.Content[i+1]) {
			return true
		}
	}
	return false
}

// comment is what stands behind `# --` above a key.
func comment(key *yaml.Node) string {
	for _, line := range slices.Backward(strings.Split(key.HeadComment, "\n")) {
		if text, ok := strings.CutPrefix(line, "# -- "); ok {
			return text
		}
	}
	return ""
}

// shared points a role's value without a comment to the one of api.
func shared(rows []row, key string) string {
	_, rest, _ := strings.Cut(key, ".")
	for _, other := range []string{"api." + rest, rest} {
		if other != key && slices.ContainsFunc(rows, func(r row) bool { return r.key == other && r.about != "" }) {
			return "as `" + other + "`"
		}
	}
	return ""
}

func compact(node *yaml.Node) (string, error) {
	var v any
	if err := node.Decode(&v); err != nil {
		return "", err
	}
	out, err := json.Marshal(v)
	return string(out), err
}

// WithTable puts the table into the README's text.
func WithTable(readme, table string) (string, error) {
	before, rest, ok := strings.Cut(readme, tableBegin)
	_, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		return "", fmt.Errorf("the README has no lines %q and %q", tableBegin, tableEnd)
	}
	return before + tableBegin + "\n" + table + tableEnd + after, nil
}
