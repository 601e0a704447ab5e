package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// file is a YAML file whose keys are names of flags. It may contain flags of other commands, so that all roles can share
// one file.
type file struct {
	path    string
	entries map[string]entry
}

// entry is the value of one key.
type entry struct {
	line   int
	values []string
	list   bool
}

// empty means that the flag keeps its default.
func (e entry) empty() bool { return len(e.values) == 0 || (!e.list && e.values[0] == "") }

// text returns the value as it would be given to a flag.
func (e entry) text(sep rune) string {
	if !e.list {
		return e.values[0]
	}
	return kong.JoinEscaped(e.values, sep)
}

// read reads the file and returns all faults. names are the names of all flags.
func (f *file) read(names []string) (faults []string) {
	raw, err := os.ReadFile(f.path)
	if err != nil {
		return []string{fmt.Sprintf("--config: %v; must be a YAML file that this process can read", err)}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil && !errors.Is(err, io.EOF) {
		return []string{fmt.Sprintf("--config %s: invalid YAML: %s", f.path, strings.TrimPrefix(err.Error(), "yaml: "))}
	}
	if len(doc.Content) == 0 {
		return nil // only comments
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return []string{fmt.Sprintf("--config %s: must be a map of flag names to values, such as log-level: info", f.path)}
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if text := f.add(root.Content[i], root.Content[i+1], names); text != "" {
			faults = append(faults, fmt.Sprintf("%s line %d: %s", f.path, root.Content[i].Line, text))
		}
	}
	return faults
}

func (f *file) add(key, v *yaml.Node, names []string) (fault string) {
	name := key.Value
	switch {
	case name == "config" || name == "print-config" || name == "help" || name == "version":
		return name + " cannot be set in a file"
	case !slices.Contains(names, name):
		return fmt.Sprintf("%s is not a setting%s", name, didYouMean(name, "", names))
	case f.entries[name].line > 0:
		return fmt.Sprintf("%s is already set in line %d", name, f.entries[name].line)
	}
	e := entry{line: key.Line}
	switch {
	case v.Kind == yaml.ScalarNode:
		e.values = []string{scalar(v)}
	case v.Kind == yaml.SequenceNode && !slices.ContainsFunc(v.Content, func(n *yaml.Node) bool { return n.Kind != yaml.ScalarNode }):
		e.list = true
		for _, n := range v.Content {
			e.values = append(e.values, scalar(n))
		}
	default:
		return name + " must be a value or a list of values"
	}
	f.entries[name] = e
	return ""
}

func scalar(n *yaml.Node) string {
	if n.Tag == "!!null" {
		return ""
	}
	return n.Value
}
