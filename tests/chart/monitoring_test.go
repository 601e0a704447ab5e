package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// Metrics carry the labels that dashboards and rules select by, and all roles are scraped, each pod once.
func TestMonitors(t *testing.T) {
	t.Parallel()
	pods, services := render(t, "full"), render(t, "gateway")
	pod := At(pods.Kind("PodMonitor")[0].Doc, "spec", "podMetricsEndpoints").([]any)[0]
	service := At(services.Kind("ServiceMonitor")[0].Doc, "spec", "endpoints").([]any)[0]
	for cell, endpoint := range map[string]any{"e1": pod, "c1": service} {
		require.Equal(t, "ops", At(endpoint, "port"))
		require.Equal(t, []any{
			map[string]any{"sourceLabels": []any{"__meta_kubernetes_pod_label_app_kubernetes_io_component"}, "targetLabel": "role"},
			map[string]any{"targetLabel": "cell", "replacement": cell},
		}, At(endpoint, "relabelings"))
	}
	require.Equal(t, "15s", At(pod, "interval"))
	require.Equal(t, "main", At(pods.Kind("PodMonitor")[0].Doc, "metadata", "labels", "prometheus"))

	selector := texts(At(pods.Kind("PodMonitor")[0].Doc, "spec", "selector", "matchLabels"))
	for _, o := range pods.Objects {
		if labels := labelsOf(o); len(labels) > 0 {
			require.Equal(t, o.Kind() == "Deployment" || o.Kind() == "StatefulSet", subset(selector, labels), "%s %s", o.Kind(), o.Name())
		}
	}
	monitored := texts(At(services.Kind("ServiceMonitor")[0].Doc, "spec", "selector", "matchLabels"))
	var found []string
	for _, s := range services.Kind("Service") {
		if subset(monitored, texts(At(s.Doc, "metadata", "labels"))) {
			found = append(found, s.Name())
		}
	}
	require.Equal(t, []string{"orders-ops"}, found, "one Service, so that no pod is scraped twice")
	for _, o := range roles(services) {
		require.True(t, subset(texts(At(find(t, services, "Service", "orders-ops").Doc, "spec", "selector")), labelsOf(o)), o.Name())
	}
}

// The rules are those of the files, without the alerts that were left out.
func TestRules(t *testing.T) {
	t.Parallel()
	r := render(t, "full")
	files, err := filepath.Glob(filepath.Join(Folder, "rules", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	require.Len(t, r.Kind("PrometheusRule"), len(files))
	left := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var want map[string]any
		require.NoError(t, yaml.UnmarshalStrict(text, &want))
		for _, g := range want["groups"].([]any) {
			group, kept := g.(map[string]any), []any{}
			for _, rule := range group["rules"].([]any) {
				if At(rule, "alert") == "TradegridOutboxStalled" {
					left++
					continue
				}
				kept = append(kept, rule)
			}
			group["rules"] = kept
		}
		o := find(t, r, "PrometheusRule", "tg-grid-"+strings.TrimSuffix(filepath.Base(file), ".yaml"))
		require.Equal(t, want["groups"], At(o.Doc, "spec", "groups"), file)
		require.Equal(t, "main", At(o.Doc, "metadata", "labels", "prometheus"))
	}
	require.Equal(t, 1, left, "the alert that the values leave out exists")
	require.Empty(t, render(t, "minimal").Kind("PrometheusRule"))
}

// Each dashboard comes whole, under the label that Grafana's sidecar looks for, and fits into a ConfigMap.
func TestDashboards(t *testing.T) {
	t.Parallel()
	r := render(t, "full")
	files, err := filepath.Glob(filepath.Join(Folder, "dashboards", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Less(t, len(want), 900_000, "a ConfigMap holds 1 MiB")
		o := find(t, r, "ConfigMap", "tg-grid-dashboard-"+strings.TrimSuffix(filepath.Base(file), ".json"))
		got, _ := At(o.Doc, "data", filepath.Base(file)).(string)
		require.JSONEq(t, string(want), got)
		require.True(t, json.Valid([]byte(got)))
		require.Equal(t, "1", At(o.Doc, "metadata", "labels", "grafana_dashboard"))
		require.Equal(t, "Tradegrid", At(o.Doc, "metadata", "annotations", "grafana_folder"))
	}
}
