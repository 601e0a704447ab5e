package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
)

// newest is what tests render for unless the version matters.
const newest = "v1.36.3"

// schemaDir holds a folder of schemas per version of Kubernetes.
var schemaDir string //nolint:gochecknoglobals // made once for all tests

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	debug.SetGCPercent(400) // objects live for one rendering
	var err error
	if schemaDir, err = os.MkdirTemp("", "tradegrid-chart-"); err != nil {
		fmt.Fprintln(os.Stderr, "make a folder for schemas:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(schemaDir) }()
	for _, version := range Kubernetes {
		dir := filepath.Join(schemaDir, version)
		err := os.Mkdir(dir, 0o700)
		if err == nil {
			err = WriteSchemas(dir, version)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// matrix names the files of values in the chart's ci folder.
func matrix(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Folder, "ci", "*.yaml"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 6)
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(filepath.Base(file), ".yaml")
	}
	return names
}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := Load()
	require.NoError(t, err)
	return c
}

// render makes the objects of a file of values and settings on top of it.
func render(t *testing.T, file string, settings ...string) *Rendered {
	t.Helper()
	values, err := Values(file, settings...)
	require.NoError(t, err)
	r, err := Render(load(t), values, newest)
	require.NoError(t, err)
	return r
}

// read returns the text of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// find returns an object that must be there.
func find(t *testing.T, r *Rendered, kind, name string) Object {
	t.Helper()
	o, ok := r.Find(kind, name)
	require.True(t, ok, "%s %s is not rendered", kind, name)
	return o
}

// pod is the description of a workload's pods, or nil.
func pod(o Object) map[string]any {
	switch o.Kind() {
	case "Deployment", "StatefulSet", "Job":
		template, _ := At(o.Doc, "spec", "template").(map[string]any)
		return template
	case "Pod":
		return o.Doc
	default:
		return nil
	}
}

// containers lists a pod's containers, those that come first included.
func containers(o Object) []map[string]any {
	var all []map[string]any
	for _, key := range []string{"initContainers", "containers"} {
		list, _ := At(pod(o), "spec", key).([]any)
		for _, c := range list {
			all = append(all, c.(map[string]any))
		}
	}
	return all
}

// env returns the environment of a container as far as it is plain text.
func env(c map[string]any) map[string]string {
	all := map[string]string{}
	list, _ := c["env"].([]any)
	for _, e := range list {
		name, _ := At(e, "name").(string)
		all[name], _ = At(e, "value").(string)
	}
	return all
}

// roles are the workloads that run a role of ours, without Jobs and what an evaluation brings.
func roles(r *Rendered) []Object {
	var all []Object
	for _, o := range r.Objects {
		if o.Kind() != "Deployment" && o.Kind() != "StatefulSet" {
			continue
		}
		if slices.Contains([]any{"api", "relay", "dispatcher", "console", "run"}, At(pod(o), "metadata", "labels", "app.kubernetes.io/component")) {
			all = append(all, o)
		}
	}
	return all
}
