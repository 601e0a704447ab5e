// Package chart renders the Helm chart as Helm does and looks at the objects that come out.
// It needs no cluster: what only a cluster can tell is left to `helm test`.
package chart

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/releaseutil"
	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"
)

const (
	// Folder is the chart's, seen from this package.
	Folder = "../../charts/tradegrid"
	// Namespace is where the tests install.
	Namespace = "shop"
	// Release is the name that they install under.
	Release = "tg"
)

// Object is one Kubernetes object that the chart makes.
type Object struct {
	Raw  string // YAML
	Doc  map[string]any
	Hook bool
}

// Kind is the object's kind, such as Deployment.
func (o Object) Kind() string { return o.text("kind") }

// Name is its metadata.name.
func (o Object) Name() string { return o.text("metadata", "name") }

func (o Object) text(path ...string) string {
	s, _ := At(o.Doc, path...).(string)
	return s
}

// At follows keys into nested maps. It returns nil where there is nothing.
func At(doc any, path ...string) any {
	for _, key := range path {
		m, ok := doc.(map[string]any)
		if !ok {
			return nil
		}
		doc = m[key]
	}
	return doc
}

// Rendered is what one set of values makes of the chart.
type Rendered struct {
	Objects []Object
	Notes   string
}

// Find returns the object of a kind and name.
func (r *Rendered) Find(kind, name string) (Object, bool) {
	i := slices.IndexFunc(r.Objects, func(o Object) bool { return o.Kind() == kind && o.Name() == name })
	if i < 0 {
		return Object{}, false
	}
	return r.Objects[i], true
}

// Kind returns the objects of a kind in the order of their names.
func (r *Rendered) Kind(kind string) []Object {
	var found []Object
	for _, o := range r.Objects {
		if o.Kind() == kind {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b Object) int { return strings.Compare(a.Name(), b.Name()) })
	return found
}

// Values reads a file of the chart's ci folder and puts settings such as api.replicas=3 on top, as --set does.
func Values(file string, settings ...string) (map[string]any, error) {
	values, err := chartutil.ReadValuesFile(filepath.Join(Folder, "ci", file+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("read values: %w", err)
	}
	for _, s := range settings {
		if err := strvals.ParseInto(s, values); err != nil {
			return nil, fmt.Errorf("parse setting %q: %w", s, err)
		}
	}
	return values, nil
}

// Render installs the chart without a cluster, for a Kubernetes version such as v1.36.3.
func Render(c *chart.Chart, values map[string]any, kubernetes string) (*Rendered, error) {
	return RenderAs(c, values, kubernetes, Release)
}

// RenderAs is Render for a release of another name. The cluster has the given groups of its API as well, as
// `helm template --api-versions` makes believe.
func RenderAs(c *chart.Chart, values map[string]any, kubernetes, name string, groups ...string) (*Rendered, error) {
	install := action.NewInstall(&action.Configuration{})
	install.DryRun, install.ClientOnly, install.Replace = true, true, true
	install.ReleaseName, install.Namespace, install.APIVersions = name, Namespace, groups
	version, err := chartutil.ParseKubeVersion(kubernetes)
	if err != nil {
		return nil, fmt.Errorf("parse Kubernetes version: %w", err)
	}
	install.KubeVersion = version
	release, err := install.Run(c, values)
	if err != nil {
		return nil, err
	}
	r := &Rendered{Notes: release.Info.Notes}
	manifests := releaseutil.SplitManifests(release.Manifest)
	for _, key := range slices.Sorted(maps.Keys(manifests)) {
		if err := r.add(manifests[key], false); err != nil {
			return nil, err
		}
	}
	for _, hook := range release.Hooks {
		if err := r.add(hook.Manifest, true); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Rendered) add(raw string, hook bool) error {
	var doc map[string]any
	if err := yaml.UnmarshalStrict([]byte(raw), &doc); err != nil {
		return fmt.Errorf("parse object: %w\n%s", err, raw)
	}
	if doc != nil {
		r.Objects = append(r.Objects, Object{Raw: raw, Doc: doc, Hook: hook})
	}
	return nil
}

// Load reads the chart of this tree.
func Load() (*chart.Chart, error) { return loader.LoadDir(Folder) }
