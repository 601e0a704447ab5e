package chart

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yannh/kubeconform/pkg/validator"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/lint/support"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestMatrix takes every file of values to the oldest and the newest Kubernetes and lets the API's own schemas judge.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for _, version := range Kubernetes {
		v := conformance(t, version)
		for _, name := range matrix(t) {
			t.Run(version+"/"+name, func(t *testing.T) {
				t.Parallel()
				values, err := Values(name)
				require.NoError(t, err)
				r, err := Render(load(t), values, version)
				require.NoError(t, err)
				require.NotEmpty(t, r.Objects)
				require.NotEmpty(t, r.Notes)
				for _, o := range r.Objects {
					conforms(t, v, o)
					names(t, o)
				}
				unique(t, r)
				selectorsMatch(t, r)
				portsResolve(t, r)
			})
		}
	}
}

func conformance(t *testing.T, version string) validator.Validator {
	t.Helper()
	location := filepath.Join(schemaDir, version, "{{ .ResourceKind }}{{ .KindSuffix }}.json")
	v, err := validator.New([]string{location}, validator.Opts{Strict: true, KubernetesVersion: strings.TrimPrefix(version, "v")})
	require.NoError(t, err)
	return v
}

func conforms(t *testing.T, v validator.Validator, o Object) {
	t.Helper()
	for _, result := range v.Validate(o.Name(), io.NopCloser(strings.NewReader(o.Raw))) {
		require.Contains(t, []validator.Status{validator.Valid, validator.Empty}, result.Status, "%s %s: %v\n%s", o.Kind(), o.Name(), result.Err, o.Raw)
	}
}

// names checks what schemas leave open: names, labels and annotations as the API server takes them.
func names(t *testing.T, o Object) {
	t.Helper()
	long := validation.IsDNS1123Subdomain(o.Name())
	if o.Kind() == "Service" {
		long = validation.IsDNS1035Label(o.Name())
	}
	require.Empty(t, long, "%s %q", o.Kind(), o.Name())
	for _, meta := range []any{o.Doc["metadata"], At(pod(o), "metadata")} {
		require.Empty(t, metav1validation.ValidateLabels(texts(At(meta, "labels")), field.NewPath(o.Kind(), o.Name(), "labels")))
		for key, value := range texts(At(meta, "annotations")) {
			require.Empty(t, validation.IsQualifiedName(strings.ToLower(key)), "%s %s: annotation %s=%s", o.Kind(), o.Name(), key, value)
		}
	}
}

// texts is a map whose values must be texts: the API server refuses annotation: true.
func texts(node any) map[string]string {
	m, _ := node.(map[string]any)
	all := make(map[string]string, len(m))
	for key, value := range m {
		all[key], _ = value.(string)
	}
	return all
}

func unique(t *testing.T, r *Rendered) {
	t.Helper()
	seen := map[string]bool{}
	for _, o := range r.Objects {
		key := o.Kind() + "/" + o.Name()
		require.False(t, seen[key], "%s is rendered twice", key)
		seen[key] = true
	}
}

// selectorsMatch sees that whatever selects pods selects some of ours, and that workloads select their own and no other's.
func selectorsMatch(t *testing.T, r *Rendered) {
	t.Helper()
	paths := map[string][]string{
		"Deployment": {"spec", "selector", "matchLabels"}, "StatefulSet": {"spec", "selector", "matchLabels"}, "Service": {"spec", "selector"},
		"PodDisruptionBudget": {"spec", "selector", "matchLabels"}, "NetworkPolicy": {"spec", "podSelector", "matchLabels"}, "PodMonitor": {"spec", "selector", "matchLabels"},
	}
	for _, o := range r.Objects {
		path, ok := paths[o.Kind()]
		if !ok {
			continue
		}
		selector := texts(At(o.Doc, path...))
		require.NotEmpty(t, selector, "%s %s selects everything", o.Kind(), o.Name())
		var selected []string
		for _, w := range r.Objects {
			if labels := texts(At(pod(w), "metadata", "labels")); len(labels) > 0 && subset(selector, labels) {
				selected = append(selected, w.Kind()+"/"+w.Name())
			}
		}
		require.NotEmpty(t, selected, "%s %s selects no pod: %v", o.Kind(), o.Name(), selector)
		if o.Kind() == "Deployment" || o.Kind() == "StatefulSet" {
			require.Equal(t, []string{o.Kind() + "/" + o.Name()}, selected, "a workload selects its own pods only")
		}
	}
}

// portsResolve sees that the ports which Services lead to exist in each pod that they select.
func portsResolve(t *testing.T, r *Rendered) {
	t.Helper()
	for _, s := range r.Kind("Service") {
		for _, o := range r.Objects {
			labels := texts(At(pod(o), "metadata", "labels"))
			if len(labels) == 0 || !subset(texts(At(s.Doc, "spec", "selector")), labels) || pod(o) == nil {
				continue
			}
			for _, port := range At(s.Doc, "spec", "ports").([]any) {
				target, named := At(port, "targetPort").(string)
				require.True(t, !named || hasPort(o, target), "Service %s leads to port %s, which %s %s has not", s.Name(), target, o.Kind(), o.Name())
			}
		}
	}
}

func hasPort(o Object, name string) bool {
	return slices.ContainsFunc(containers(o), func(c map[string]any) bool {
		ports, _ := c["ports"].([]any)
		return slices.ContainsFunc(ports, func(p any) bool { return At(p, "name") == name })
	})
}

func subset(part, whole map[string]string) bool {
	for key, value := range part {
		if whole[key] != value {
			return false
		}
	}
	return true
}

// TestUnknownFieldsAreRefused shows that the judges of TestMatrix judge.
func TestUnknownFieldsAreRefused(t *testing.T) {
	t.Parallel()
	r := render(t, "full")
	for _, o := range []Object{find(t, r, "Deployment", "tg-grid-api"), r.Kind("PodMonitor")[0], r.Kind("NetworkPolicy")[0]} {
		v := conformance(t, newest)
		conforms(t, v, o)
		wrong := strings.Replace(o.Raw, "\nspec:", "\nspec:\n  replicaz: 3", 1)
		require.NotEqual(t, o.Raw, wrong)
		result := v.Validate("wrong", io.NopCloser(strings.NewReader(wrong)))[0]
		require.Equal(t, validator.Invalid, result.Status)
		require.ErrorContains(t, result.Err, "replicaz")
	}
}

// TestLint is `helm lint --strict`, with the chart's own values alone and with each file of the matrix.
func TestLint(t *testing.T) {
	t.Parallel()
	for _, name := range append([]string{""}, matrix(t)...) {
		values := map[string]any{}
		if name != "" {
			var err error
			values, err = Values(name)
			require.NoError(t, err)
		}
		l := action.NewLint()
		l.Strict, l.Namespace = true, Namespace
		result := l.Run([]string{Folder}, values)
		require.Empty(t, result.Errors, name)
		for _, m := range result.Messages {
			require.LessOrEqual(t, m.Severity, support.InfoSev, "%s: %s", name, m)
		}
	}
}
