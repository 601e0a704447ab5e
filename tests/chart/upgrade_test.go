package chart

import (
	"bytes"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	kubefake "helm.sh/helm/v3/pkg/kube/fake"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	"sigs.k8s.io/yaml"
)

// immutable are the fields that Kubernetes lets nobody change: an upgrade that tries fails half way.
func immutable(r *Rendered) map[string]any {
	fixed := map[string]any{}
	for _, o := range r.Objects {
		key := o.Kind() + "/" + o.Name()
		switch {
		case o.Hook: // deleted and made anew
		case o.Kind() == "Deployment":
			fixed[key] = map[string]any{"selector": At(o.Doc, "spec", "selector")}
		case o.Kind() == "StatefulSet":
			fixed[key] = map[string]any{
				"selector": At(o.Doc, "spec", "selector"), "serviceName": At(o.Doc, "spec", "serviceName"),
				"podManagementPolicy": At(o.Doc, "spec", "podManagementPolicy"), "volumeClaimTemplates": At(o.Doc, "spec", "volumeClaimTemplates"),
			}
		case o.Kind() == "Service" && At(o.Doc, "spec", "clusterIP") != nil:
			fixed[key] = map[string]any{"clusterIP": At(o.Doc, "spec", "clusterIP")}
		}
	}
	return fixed
}

// sameWhereBothAre compares immutable fields of objects that exist before and after.
func sameWhereBothAre(t *testing.T, before, after map[string]any, what string) {
	t.Helper()
	common := 0
	for key, fields := range before {
		if now, still := after[key]; still {
			require.Equal(t, fields, now, "%s: %s: an upgrade cannot change these", what, key)
			common++
		}
	}
	require.NotZero(t, common, "%s: no object has kept its name", what)
}

// addSince adds and moves what later releases require; each is in CHANGELOG.md. The chart refuses an upgrade without it before it
// touches anything.
func addSince(values map[string]any) {
	if enabled, _ := At(values, "evaluation", "enabled").(bool); !enabled && values["webhooks"] == nil {
		values["webhooks"] = map[string]any{"keysSecret": map[string]any{"name": "tradegrid-webhook-keys"}}
	}
	if relay, _ := At(values, "relay", "config").(map[string]any); relay["event-retention"] != nil {
		values["policy"] = map[string]any{"eventRetention": relay["event-retention"]}
		delete(relay, "event-retention")
	}
}

// What users of the first release of the chart wrote still renders, and changes nothing that cannot be changed.
func TestUpgradeFromTheFirstRelease(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"minimal", "full", "evaluation"} {
		values, err := chartutil.ReadValuesFile("testdata/first/" + name + ".values.yaml")
		require.NoError(t, err)
		addSince(values)
		r, err := Render(load(t), values, newest)
		require.NoError(t, err)
		recorded, err := os.ReadFile("testdata/first/" + name + ".fixed.yaml")
		require.NoError(t, err)
		var before map[string]any
		require.NoError(t, yaml.UnmarshalStrict(recorded, &before))
		require.Equal(t, before, immutable(r), "%s: these fields are those of the first release for ever; testdata/first is never rewritten", name)
	}
}

// The chart of the last release tag, if there is one, upgrades to this one with each of its files of values.
func TestUpgradeFromTheLastTag(t *testing.T) {
	t.Parallel()
	tag := lastTag(t)
	if tag == "" {
		t.Log("no release tag holds the chart: the first release's record in testdata stands for it")
		return
	}
	old, files := chartAt(t, tag)
	for name, values := range files {
		before, err := Render(old, maps.Clone(values), newest)
		require.NoError(t, err, "%s of %s", name, tag)
		later := maps.Clone(values)
		addSince(later)
		after, err := Render(load(t), later, newest)
		require.NoError(t, err, "%s of %s with the chart of today", name, tag)
		sameWhereBothAre(t, immutable(before), immutable(after), name+" of "+tag)
	}
}

// lastTag is the newest tag before this commit that has the chart.
func lastTag(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("git", "tag", "--merged", "HEAD~1", "--sort=-creatordate").Output()
	if err != nil {
		return "" // the first commit, or no repository
	}
	for _, tag := range strings.Fields(string(out)) {
		if exec.Command("git", "cat-file", "-e", tag+":charts/tradegrid/Chart.yaml").Run() == nil {
			return tag
		}
	}
	return ""
}

// chartAt reads the chart and its files of values as they were at a tag.
func chartAt(t *testing.T, tag string) (*chart.Chart, map[string]map[string]any) {
	t.Helper()
	out, err := exec.Command("git", "-C", "../..", "archive", "--format=tar.gz", tag, "charts/tradegrid").Output()
	require.NoError(t, err)
	dir := t.TempDir()
	untar := exec.Command("tar", "-xz", "-C", dir)
	untar.Stdin = bytes.NewReader(out)
	require.NoError(t, untar.Run())
	root := filepath.Join(dir, "charts/tradegrid")
	c, err := loader.LoadDir(root)
	require.NoError(t, err)
	names, err := filepath.Glob(filepath.Join(root, "ci", "*.yaml"))
	require.NoError(t, err)
	files := map[string]map[string]any{}
	for _, name := range names {
		files[filepath.Base(name)], err = chartutil.ReadValuesFile(name)
		require.NoError(t, err)
	}
	return c, files
}

// helm is Helm without a cluster: it keeps releases in memory, and objects come into being by being sent.
func helm(t *testing.T) *action.Configuration {
	t.Helper()
	return &action.Configuration{
		Releases: storage.Init(driver.NewMemory()), KubeClient: &kubefake.PrintingKubeClient{Out: io.Discard, LogOutput: io.Discard},
		Capabilities: chartutil.DefaultCapabilities, Log: func(format string, v ...any) { log.New(io.Discard, "", 0).Printf(format, v...) },
	}
}

// Install, upgrade with the values of before, roll back, uninstall: the hooks run and every revision renders.
func TestLifeOfARelease(t *testing.T) {
	t.Parallel()
	for _, name := range matrix(t) {
		values, err := Values(name)
		require.NoError(t, err)
		cfg := helm(t)
		install := action.NewInstall(cfg)
		install.ReleaseName, install.Namespace = Release, Namespace
		first, err := install.Run(load(t), values)
		require.NoError(t, err, name)

		upgrade := action.NewUpgrade(cfg)
		upgrade.Namespace, upgrade.ReuseValues = Namespace, true
		second, err := upgrade.Run(Release, load(t), map[string]any{"logging": map[string]any{"format": "text"}})
		require.NoError(t, err, name)
		require.Equal(t, 2, second.Version)
		require.Equal(t, "text", At(second.Config, "logging", "format"))
		require.Equal(t, At(first.Config, "image", "repository"), At(second.Config, "image", "repository"))

		require.NoError(t, action.NewRollback(cfg).Run(Release), name)
		_, err = action.NewUninstall(cfg).Run(Release)
		require.NoError(t, err, name)
	}
}

// revisionLabel is the most that Kubernetes appends to the name of a StatefulSet for the label controller-revision-hash.
const revisionLabel = len("-") + 10

// The pods of a StatefulSet carry its name and a hash in a label, or none is created. Long names are cut, each set keeps a
// name of its own, and names that fit are never changed: a StatefulSet cannot be renamed.
func TestStatefulSetNamesLeaveRoomForTheRevision(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long-name-", 5) + "end"
	for release, want := range map[string][]string{
		"tg":               {"tg-tradegrid-dispatcher-aaaaaaaaaa", "tg-tradegrid-dispatcher-aaaaaaaaab", "tg-tradegrid-dispatcher-b"},
		"just-about-fits0": {"just-about-fits0-tradegrid-dispatcher-aaaaaaaaaa", "just-about-fits0-tradegrid-dispatcher-aaaaaaaaab", "just-about-fits0-tradegrid-dispatcher-b"},
		"here-exactly-52-1234": {
			"here-exactly-52-1234-tradegrid-dispatcher-aaaaaaaaaa", "here-exactly-52-1234-tradegrid-dispatcher-aaaaaaaaab", "here-exactly-52-1234-tradegrid-dispatcher-b",
		},
		"here-exactly-53-12345": {
			"here-exactly-53-12345-tradegrid-dispatcher-HASH", "here-exactly-53-12345-tradegrid-dispatcher-HASH", "here-exactly-53-12345-tradegrid-dispatcher-b",
		},
		long: {"long-name-long-name-long-name-long-n-dispat-HASH", "long-name-long-name-long-name-long-n-dispat-HASH", "long-name-long-name-long-name-long-n-dispatcher-b"},
	} {
		values, err := Values("minimal", "dispatcher.sets.aaaaaaaaaa.roles={router,delay,sweeper}", "dispatcher.sets.aaaaaaaaab.roles={sender}", "dispatcher.sets.b.roles={sender}")
		require.NoError(t, err)
		r, err := RenderAs(load(t), values, newest, release)
		require.NoError(t, err)
		unique(t, r)
		var got []string
		for _, o := range r.Kind("StatefulSet") {
			require.LessOrEqual(t, len(o.Name()), 63-revisionLabel, o.Name())
			find(t, r, "ConfigMap", o.Name())
			find(t, r, "PodDisruptionBudget", o.Name())
			got = append(got, regexp.MustCompile("-[0-9a-f]{8}$").ReplaceAllString(o.Name(), "-HASH"))
		}
		slices.Sort(got)
		slices.Sort(want)
		require.Equal(t, want, got, release)
	}
}

// Every StatefulSet of every file of values has such a name, also under the longest name that a release may have.
func TestStatefulSetNamesAreShort(t *testing.T) {
	t.Parallel()
	for _, name := range matrix(t) {
		values, err := Values(name)
		require.NoError(t, err)
		r, err := RenderAs(load(t), values, newest, strings.Repeat("x", 53))
		require.NoError(t, err)
		for _, o := range r.Kind("StatefulSet") {
			require.LessOrEqual(t, len(o.Name()), 63-revisionLabel, "%s: %s", name, o.Name())
		}
		for _, o := range r.Objects {
			names(t, o)
		}
	}
}

// Switching to sets of dispatchers and back makes other workloads and leaves none with changed selectors.
func TestSetsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	one := immutable(render(t, "minimal"))
	two := immutable(render(t, "minimal", "dispatcher.sets.all.replicas=2"))
	sameWhereBothAre(t, one, two, "with sets")
	require.NotContains(t, two, "StatefulSet/tg-tradegrid-dispatcher")
	require.Contains(t, slices.Collect(maps.Keys(two)), "StatefulSet/tg-tradegrid-dispatcher-all")
}
