package ops

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Rule is an alert or a recording rule.
type Rule struct {
	Record      string            `yaml:"record"`
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// Rules reads all files of rules.
func Rules(dir string) ([]Rule, error) {
	var all []Rule
	err := eachYAML(dir, func(_ string, read func(any) error) error {
		var file struct {
			Groups []struct {
				Name     string `yaml:"name"`
				Interval string `yaml:"interval"`
				Rules    []Rule `yaml:"rules"`
			} `yaml:"groups"`
		}
		if err := read(&file); err != nil {
			return err
		}
		for _, g := range file.Groups {
			all = append(all, g.Rules...)
		}
		return nil
	})
	return all, err
}

// RuleTest is a unit test in promtool's form.
type RuleTest struct {
	Name   string `yaml:"name"`
	Checks []struct {
		Samples []struct {
			Labels string `yaml:"labels"`
		} `yaml:"exp_samples"`
	} `yaml:"promql_expr_test"`
}

// RuleTests reads the unit tests of all rules.
func RuleTests(dir string) ([]RuleTest, error) {
	var all []RuleTest
	err := eachYAML(dir, func(_ string, read func(any) error) error {
		var file struct {
			Tests []RuleTest `yaml:"tests"`
		}
		err := read(&file)
		all = append(all, file.Tests...)
		return err
	})
	return all, err
}

func eachYAML(dir string, do func(path string, read func(any) error) error) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := do(path, func(v any) error { return yaml.Unmarshal(content, v) }); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// Board is what the checks look at in a dashboard.
type Board struct {
	UID    string  `json:"uid"`
	Title  string  `json:"title"`
	Panels []Panel `json:"panels"`
	Marks  struct {
		List []struct {
			Name string `json:"name"`
			Expr string `json:"expr"`
		} `json:"list"`
	} `json:"annotations"`
	Templating struct {
		List []struct {
			Name  string          `json:"name"`
			Type  string          `json:"type"`
			Query json.RawMessage `json:"query"`
		} `json:"list"`
	} `json:"templating"`
}

// Panel is a panel or the head of a row.
type Panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	GridPos     struct{ X, Y, W, H int }
	Links       []struct {
		URL string `json:"url"`
	} `json:"links"`
	Targets []struct {
		Expr     string `json:"expr"`
		Exemplar bool   `json:"exemplar"`
	} `json:"targets"`
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
}

// Boards reads the dashboards by the name of their file.
func Boards(dir string) (map[string]Board, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	all := map[string]Board{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var b Board
		if err := json.Unmarshal(content, &b); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = b
	}
	return all, nil
}
