package dashboards

import (
	"fmt"
	"strconv"
	"strings"
)

// Units, as Grafana names them.
const (
	seconds   = "s"
	perSecond = "ops"
	number    = "short"
	share     = "percentunit"
	bytesUnit = "bytes"
)

// query is one expression of a panel and how its series are called.
type query struct{ legend, expr string }

// graph draws series over time.
func graph(title, unit, description string, queries ...query) *Panel {
	p := newPanel("timeseries", title, unit, description, queries)
	p.GridPos = gridPos{W: 8, H: 8}
	zero := 0.0
	p.FieldConfig.Defaults.Min = &zero
	p.FieldConfig.Defaults.Color.Mode = "palette-classic"
	p.FieldConfig.Defaults.Custom = &graphConfig{
		DrawStyle: "line", LineWidth: 1, FillOpacity: 10, ShowPoints: "never", Stacking: stacking{"none", "A"},
		ThresholdsStyle: styleMode{"off"}, ScaleDistrib: scaleDistr{Type: "linear"},
	}
	p.Options = graphOptions{
		Legend:  legend{DisplayMode: "table", Placement: "bottom", ShowLegend: true, Calcs: []string{"lastNotNull", "max"}},
		Tooltip: tooltip{Mode: "multi", Sort: "desc"},
	}
	return p
}

// stat shows the newest value in large type.
func stat(title, unit, description string, queries ...query) *Panel {
	p := newPanel("stat", title, unit, description, queries)
	p.GridPos = gridPos{W: 4, H: 4}
	p.Options = statOptions{
		ReduceOptions: reduce{Calcs: []string{"lastNotNull"}}, GraphMode: "area", ColorMode: "value", JustifyMode: "auto",
		TextMode: "auto", Orientation: "auto", WideLayout: true, PercentMode: "standard",
	}
	return p
}

// table shows the newest values by label, the highest first.
func table(title, unit, description string, q query) *Panel {
	p := newPanel("table", title, unit, description, []query{q})
	p.GridPos = gridPos{W: 8, H: 8}
	p.Targets[0].Format, p.Targets[0].Instant, p.Targets[0].Range, p.Targets[0].Exemplar = "table", true, false, false
	p.Options = tableOptions{ShowHeader: true, CellHeight: "sm", SortBy: []tableSort{{q.legend, true}}}
	p.Transformations = []transform{{ID: "organize", Options: map[string]any{
		"excludeByName": map[string]bool{"Time": true}, "renameByName": map[string]string{"Value": q.legend}, "indexByName": map[string]int{},
	}}}
	return p
}

// note is text: what a metric cannot tell, and where to find it.
func note(title, content string) *Panel {
	return &Panel{Type: "text", Title: title, GridPos: gridPos{W: 8, H: 8}, Options: textOptions{"markdown", content}}
}

func newPanel(kind, title, unit, description string, queries []query) *Panel {
	src := source()
	p := &Panel{Type: kind, Title: title, Description: description, Datasource: &src, FieldConfig: &fieldConfig{
		Defaults: fieldDefaults{
			Unit: unit, Color: colour{"thresholds"}, Thresholds: thresholds{Mode: "absolute", Steps: []step{{Color: "green"}}},
		},
		Overrides: []fieldOverride{},
	}}
	for i, q := range queries {
		p.Targets = append(p.Targets, target{
			RefID: string(rune('A' + i)), Datasource: src, EditorMode: "code", Expr: expand(q.expr), LegendFormat: q.legend,
			Range: true, Exemplar: kind == "timeseries" && strings.Contains(q.expr, "_bucket"), Format: "time_series",
		})
	}
	return p
}

// warn colours values from here on.
func (p *Panel) warn(from float64) *Panel { return p.threshold("orange", from) }

// bad colours values from here on: an alert is near or fires.
func (p *Panel) bad(from float64) *Panel { return p.threshold("red", from) }

func (p *Panel) threshold(colour string, from float64) *Panel {
	t := &p.FieldConfig.Defaults.Thresholds
	t.Steps = append(t.Steps, step{colour, &from})
	if c := p.FieldConfig.Defaults.Custom; c != nil {
		c.ThresholdsStyle.Mode = "dashed"
	}
	return p
}

// lowIsBad colours what should be high: red below warn, green from good on.
func (p *Panel) lowIsBad(warn, good float64) *Panel {
	p.FieldConfig.Defaults.Thresholds.Steps = []step{{Color: "red"}, {"orange", &warn}, {"green", &good}}
	return p
}

// runbook links what to do when the alert of that name fires.
func (p *Panel) runbook(alerts ...string) *Panel {
	for _, a := range alerts {
		p.Links = append(p.Links, link{Title: "Runbook " + a, Type: "link", URL: Runbooks + a + ".md", Icon: "doc", Tags: []string{}, TargetBlank: true})
	}
	return p
}

func (p *Panel) size(w, h int) *Panel {
	p.GridPos.W, p.GridPos.H = w, h
	return p
}

// stacked puts series on top of each other.
func (p *Panel) stacked() *Panel {
	p.FieldConfig.Defaults.Custom.Stacking.Mode = "normal"
	p.FieldConfig.Defaults.Custom.FillOpacity = 30
	return p
}

// signed lets the axis go below zero.
func (p *Panel) signed() *Panel {
	p.FieldConfig.Defaults.Min = nil
	return p
}

// logarithmic is for ages and latencies of very different size.
func (p *Panel) logarithmic() *Panel {
	p.FieldConfig.Defaults.Custom.ScaleDistrib = scaleDistr{"log", 10}
	p.FieldConfig.Defaults.Min = nil
	return p
}

// quantile is the latency that this share of a histogram stays below. Labels follow a comma.
func quantile(q float64, histogram, labels string, by ...string) query {
	legend := "p" + strconv.FormatFloat(q*100, 'g', -1, 64)
	for _, l := range by {
		legend += " {{" + l + "}}"
	}
	return query{legend, fmt.Sprintf("histogram_quantile(%g, sum by (%s) (rate(%s_bucket{ALL%s}[$__rate_interval])))",
		q, strings.Join(append(by, "le"), ", "), histogram, labels)}
}

// quantiles are the usual three.
func quantiles(histogram, labels string) []query {
	return []query{quantile(.5, histogram, labels), quantile(.95, histogram, labels), quantile(.99, histogram, labels)}
}

// rate is the number per second of a counter, by labels.
func rate(counter string, by ...string) query {
	sum, legend := "sum", make([]string, len(by))
	if len(by) > 0 {
		sum = "sum by (" + strings.Join(by, ", ") + ")"
	}
	for i, l := range by {
		legend[i] = "{{" + l + "}}"
	}
	name := strings.Join(legend, " ")
	if name == "" {
		name = "per second"
	}
	return query{name, fmt.Sprintf("%s (rate(%s{ALL}[$__rate_interval]))", sum, counter)}
}
