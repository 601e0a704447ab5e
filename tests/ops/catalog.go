package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
)

// Metric is a family of series that a process shows.
type Metric struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`   // counter, gauge or histogram
	Labels []string `json:"labels"` // its own, without those of the scrape
}

// histogram is the type whose series have suffixes.
const histogram = "histogram"

// targetLabels come from the scrape: what runs where.
var targetLabels = []string{"cell", "namespace", "role", "instance", "pod", "job", "container"}

// library are the families of the Prometheus client and of Prometheus itself that the dashboards use.
var library = []Metric{
	{Name: "go_goroutines"},
	{Name: "process_cpu_seconds_total"},
	{Name: "process_resident_memory_bytes"},
	{Name: "process_open_fds"},
	{Name: "process_max_fds"},
	{Name: "ALERTS", Labels: []string{"alertname", "alertstate", "severity"}},
}

// Catalog asks a tradegrid binary for the metrics of all roles.
func Catalog(ctx context.Context, binary string) (map[string]Metric, error) {
	out, err := exec.CommandContext(ctx, binary, "metrics").Output()
	if err != nil {
		return nil, fmt.Errorf("%s metrics (make build makes the binary): %w", binary, err)
	}
	var listed []Metric
	if err := json.Unmarshal(out, &listed); err != nil {
		return nil, fmt.Errorf("%s metrics: %w", binary, err)
	}
	all := map[string]Metric{}
	for _, m := range append(listed, library...) {
		all[m.Name] = m
	}
	return all, nil
}
