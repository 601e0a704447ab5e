// Package dashboards describes the Grafana dashboards of Tradegrid in Go and writes them as JSON.
// The files in charts/tradegrid/dashboards are its output; a test refuses files that differ.
package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Runbooks is where the runbooks are read.
const Runbooks = "https://github.com/tradegrid/tradegrid/blob/main/docs/runbooks/"

const (
	schemaVersion = 41 // Grafana 12; newer ones bring it up to date when they read it
	columns       = 24
)

// board is a dashboard as its file in this package describes it.
type board struct {
	name        string // of the file, and behind "tradegrid-" the uid
	title       string
	description string
	rows        []row
}

type row struct {
	title  string
	panels []*Panel
}

// All gives the JSON of every dashboard by the name of its file.
func All() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, b := range []board{api(), path(), receivers(), database(), kafka(), work(), console(), objectives()} {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(b.build()); err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", b.name, err)
		}
		files[b.name+".json"] = out.Bytes()
	}
	return files, nil
}

func (b board) build() dashboard {
	d := dashboard{
		UID: "tradegrid-" + b.name, Title: "Tradegrid / " + b.title, Description: b.description, Tags: []string{"tradegrid"},
		SchemaVersion: schemaVersion, Version: 1, Editable: true, GraphTooltip: 1, Refresh: "30s", Timezone: "browser",
		Time: timeRange{"now-1h", "now"}, Templating: templating{variables()}, Annotations: annotations{alertMarks()},
		Links: []link{{
			Title: "Tradegrid", Type: "dashboards", Icon: "external link", Tags: []string{"tradegrid"},
			AsDropdown: true, IncludeVars: true, KeepTime: true,
		}},
	}
	y := 0
	for _, r := range b.rows {
		open := false
		d.Panels = append(d.Panels, &Panel{Type: "row", Title: r.title, Collapsed: &open, GridPos: gridPos{0, y, columns, 1}})
		y = place(r.panels, y+1)
		d.Panels = append(d.Panels, r.panels...)
	}
	for i, p := range d.Panels {
		p.ID = i + 1
	}
	return d
}

// place puts panels side by side, line after line, and gives the first free line.
func place(panels []*Panel, y int) int {
	x, height := 0, 0
	for _, p := range panels {
		if x+p.GridPos.W > columns {
			x, y, height = 0, y+height, 0
		}
		p.GridPos.X, p.GridPos.Y = x, y
		x += p.GridPos.W
		height = max(height, p.GridPos.H)
	}
	return y + height
}

func source() datasource { return datasource{"prometheus", "${datasource}"} }

func variables() []variable {
	all := map[string]any{"text": "All", "value": "$__all"}
	src := source()
	pick := func(name, label, description, filter string) variable {
		q := fmt.Sprintf("label_values(tradegrid_build_info%s, %s)", filter, name)
		// ".*" also takes series without the label, as a process outside of Kubernetes has them.
		return variable{
			Type: "query", Name: name, Label: label, Description: description, Query: variableQuery{q, "variable-" + name},
			Datasource: &src, IncludeAll: true, Multi: true, AllValue: ".*", Current: all, Refresh: 2, Sort: 1,
		}
	}
	return []variable{
		{
			Type: "datasource", Name: "datasource", Label: "Data source", Description: "A Prometheus that scrapes Tradegrid.", Query: "prometheus",
			Current: map[string]any{"text": "default", "value": "default"}, Refresh: 1,
		},
		pick("cell", "Cell", "One database, one Kafka and the processes on them.", ""),
		pick("namespace", "Namespace", "Namespace in Kubernetes.", `{cell=~"$cell"}`),
		pick("role", "Role", "What the process does: api, relay, dispatcher.", `{cell=~"$cell",namespace=~"$namespace"}`),
	}
}

// alertMarks draw over every graph when an alert fired and when a release was rolled out.
func alertMarks() []annotation {
	return []annotation{
		{
			Name: "Alerts", Datasource: source(), Enable: true, IconColor: "red", Step: "30s",
			Expr:        expand(`ALERTS{CELL,alertname=~"Tradegrid.*",alertstate="firing"}`),
			TitleFormat: "{{alertname}}", TextFormat: "{{severity}}",
		},
		{
			Name: "Releases", Datasource: source(), Enable: true, IconColor: "blue", Step: "1m",
			Expr:        expand(`count by (release) (tradegrid_build_info{CELL}) unless count by (release) (tradegrid_build_info{CELL} offset 2m)`),
			TitleFormat: "Release {{release}}", TextFormat: "first seen",
		},
	}
}

// expand fills in the selection of the dashboard: {ALL for processes, {CELL for what is summed up over roles.
func expand(expr string) string {
	return strings.NewReplacer(
		"{ALL", `{cell=~"$cell",namespace=~"$namespace",role=~"$role"`,
		"{CELL", `{cell=~"$cell",namespace=~"$namespace"`,
	).Replace(expr)
}
