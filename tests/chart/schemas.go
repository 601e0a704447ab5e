package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Kubernetes is the oldest and the newest release that the chart supports: modules of these versions carry the API.
var Kubernetes = []string{"v1.30.14", "v1.36.3"} //nolint:gochecknoglobals // a constant list

// resources are the files that describe objects which Kubernetes itself does not know.
var resources = []struct{ module, file string }{ //nolint:gochecknoglobals // a constant list
	{"github.com/prometheus-operator/prometheus-operator@v0.85.0", "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml"},
	{"github.com/prometheus-operator/prometheus-operator@v0.85.0", "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml"},
	{"github.com/prometheus-operator/prometheus-operator@v0.85.0", "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml"},
	{"sigs.k8s.io/gateway-api@v1.4.1", "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"},
	{"github.com/kedacore/keda/v2@v2.21.0", "config/crd/bases/keda.sh_scaledobjects.yaml"},
}

// module returns the folder of a module's source, which is downloaded once.
func module(name string) (string, error) {
	var found struct{ Dir, Error string }
	out, err := exec.Command("go", "mod", "download", "-json", name).Output() //nolint:gosec,noctx // names are constants; the go command has its own timeouts
	if jsonErr := json.Unmarshal(out, &found); jsonErr != nil {
		return "", fmt.Errorf("download module %s: %w", name, errors.Join(err, jsonErr))
	}
	if found.Error != "" {
		return "", fmt.Errorf("download module %s, which describes objects of Kubernetes: %s", name, found.Error)
	}
	return found.Dir, nil
}

// WriteSchemas puts a JSON Schema of every object that Kubernetes of a version and the known operators take into a folder.
// Fields that they do not know are refused.
func WriteSchemas(dir, version string) error {
	if err := writeBuiltin(dir, version); err != nil {
		return err
	}
	for _, r := range resources {
		root, err := module(r.module)
		if err != nil {
			return err
		}
		if err := writeCustom(dir, filepath.Join(root, r.file)); err != nil {
			return err
		}
	}
	return nil
}

// kind is the name of a kind of object.
type kind struct{ Group, Version, Kind string }

// file is where kubeconform looks for the kind's schema.
func (k kind) file(dir string) string {
	name := k.Kind
	if group, _, _ := strings.Cut(k.Group, "."); group != "" {
		name += "-" + group
	}
	return filepath.Join(dir, strings.ToLower(name+"-"+k.Version)+".json")
}

// definitions are the types of the API of Kubernetes of a version, which refuse fields that they do not know.
func definitions(version string) (map[string]map[string]any, error) {
	root, err := module("k8s.io/kubernetes@" + version)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(root, "api/openapi-spec/swagger.json"))
	if err != nil {
		return nil, fmt.Errorf("read the description of the Kubernetes API: %w", err)
	}
	var api struct {
		Definitions map[string]map[string]any `json:"definitions"`
	}
	if err := json.Unmarshal(data, &api); err != nil {
		return nil, fmt.Errorf("read the description of the Kubernetes API: %w", err)
	}
	for name, definition := range api.Definitions {
		definition = relax(name, definition)
		strict(definition)
		api.Definitions[name] = definition
	}
	return api.Definitions, nil
}

func writeBuiltin(dir, version string) error {
	all, err := definitions(version)
	if err != nil {
		return err
	}
	for name, definition := range all {
		for _, k := range kindsOf(definition) {
			schema := map[string]any{"$ref": "#/definitions/" + name, "definitions": closure(all, name)}
			if err := writeJSON(k.file(dir), schema); err != nil {
				return err
			}
		}
	}
	return nil
}

// kindsOf lists the kinds that have a definition alone. Those that many kinds share, such as DeleteOptions, are none.
func kindsOf(definition map[string]any) []kind {
	list, _ := definition["x-kubernetes-group-version-kind"].([]any)
	if len(list) != 1 {
		return nil
	}
	m, _ := list[0].(map[string]any)
	group, _ := m["group"].(string)
	version, _ := m["version"].(string)
	name, _ := m["kind"].(string)
	return []kind{{group, version, name}}
}

// relax gives amounts and ports the second form that the API takes and its description leaves out.
func relax(name string, definition map[string]any) map[string]any {
	switch {
	case strings.HasSuffix(name, ".Quantity"):
		return map[string]any{"type": []any{"string", "number"}}
	case strings.HasSuffix(name, ".IntOrString"):
		return map[string]any{"type": []any{"string", "integer"}}
	default:
		return definition
	}
}

// strict changes a description so that it refuses fields which it does not name.
func strict(node any) {
	switch v := node.(type) {
	case map[string]any:
		for _, value := range v {
			strict(value)
		}
		_, fields := v["properties"].(map[string]any)
		_, more := v["additionalProperties"]
		open, _ := v["x-kubernetes-preserve-unknown-fields"].(bool)
		if fields && !more && !open {
			v["additionalProperties"] = false
		}
	case []any:
		for _, value := range v {
			strict(value)
		}
	}
}

// closure returns a definition and all that it refers to.
func closure(all map[string]map[string]any, name string) map[string]any {
	found, todo := map[string]any{}, []string{name}
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		if _, seen := found[next]; seen {
			continue
		}
		found[next] = all[next]
		todo = append(todo, references(all[next])...)
	}
	return found
}

func references(node any) []string {
	var names []string
	switch v := node.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			names = append(names, strings.TrimPrefix(ref, "#/definitions/"))
		}
		for _, value := range v {
			names = append(names, references(value)...)
		}
	case []any:
		for _, value := range v {
			names = append(names, references(value)...)
		}
	}
	return names
}

// writeCustom turns a CustomResourceDefinition into schemas of its versions.
func writeCustom(dir, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read a custom resource's definition: %w", err)
	}
	docs := strings.Split(string(data), "\n---\n")
	if !slices.ContainsFunc(docs, func(doc string) bool { return strings.Contains(doc, "openAPIV3Schema") }) {
		return fmt.Errorf("%s: holds no schema", file)
	}
	for _, doc := range docs {
		var crd struct {
			Spec struct {
				Group    string `json:"group"`
				Names    struct{ Kind string }
				Versions []struct {
					Name   string `json:"name"`
					Schema struct {
						OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
					} `json:"schema"`
				} `json:"versions"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(doc), &crd); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		for _, v := range crd.Spec.Versions {
			k := kind{crd.Spec.Group, v.Name, crd.Spec.Names.Kind}
			strict(v.Schema.OpenAPIV3Schema)
			if err := writeJSON(k.file(dir), v.Schema.OpenAPIV3Schema); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeJSON(file string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return os.WriteFile(file, data, 0o600)
}
