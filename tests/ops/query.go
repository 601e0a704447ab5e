package ops

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
)

// grafana stands in for the variables that Grafana fills in.
var grafana = strings.NewReplacer("$__rate_interval", "1m", "$__interval", "1m", "$__range", "1h",
	"$cell", ".*", "$namespace", ".*", "$role", ".*")

// Check finds what is wrong with a query: its grammar, metrics that do not exist, labels that they do not have.
func Check(query string, known map[string]Metric) error {
	query = grafana.Replace(query)
	if strings.Contains(query, "$") {
		return fmt.Errorf("%s: a variable that no dashboard has", query)
	}
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	var faults []error
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			faults = append(faults, checkSelector(n, known))
		case *parser.AggregateExpr:
			faults = append(faults, checkLabels("by", n.Grouping, n.Expr, known))
		case *parser.BinaryExpr:
			if m := n.VectorMatching; m != nil && m.On {
				faults = append(faults, checkLabels("on", m.MatchingLabels, n.LHS, known), checkLabels("on", m.MatchingLabels, n.RHS, known))
			}
		}
		return nil
	})
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	return nil
}

// find resolves the series of a histogram to its family.
func find(name string, known map[string]Metric) (Metric, error) {
	if m, ok := known[name]; ok && m.Type != histogram {
		return m, nil
	}
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		family, cut := strings.CutSuffix(name, suffix)
		m, ok := known[family]
		if !cut || !ok || m.Type != histogram {
			continue
		}
		if suffix == "_bucket" {
			m.Labels = append(slices.Clone(m.Labels), "le")
		}
		return m, nil
	}
	return Metric{}, fmt.Errorf("there is no metric %s", name)
}

func has(m Metric, label string) bool {
	return slices.Contains(m.Labels, label) || slices.Contains(targetLabels, label)
}

func checkSelector(s *parser.VectorSelector, known map[string]Metric) error {
	m, err := find(s.Name, known)
	if err != nil {
		return err
	}
	for _, match := range s.LabelMatchers {
		if match.Name != model.MetricNameLabel && !has(m, match.Name) {
			return fmt.Errorf("%s has no label %s", s.Name, match.Name)
		}
	}
	return nil
}

// checkLabels finds labels that no series of an expression can have.
func checkLabels(what string, names []string, e parser.Expr, known map[string]Metric) error {
	var made []string // by functions, or by vectors without any labels
	var families []Metric
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			if m, err := find(n.Name, known); err == nil {
				families = append(families, m)
			}
		case *parser.Call:
			if text, ok := labelArgument(n); ok {
				made = append(made, text)
			}
		}
		return nil
	})
	for _, name := range names {
		ok := slices.Contains(made, name) || len(families) == 0 || slices.ContainsFunc(families, func(m Metric) bool { return has(m, name) })
		if !ok {
			return fmt.Errorf("%s (%s): none of the metrics has that label", what, name)
		}
	}
	return nil
}

// labelArgument is the label that label_replace or label_join makes.
func labelArgument(c *parser.Call) (string, bool) {
	if c.Func.Name != "label_replace" && c.Func.Name != "label_join" {
		return "", false
	}
	text, ok := c.Args[1].(*parser.StringLiteral)
	if !ok {
		return "", false
	}
	return text.Val, true
}
