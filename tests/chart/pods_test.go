package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Every pod of every file of values keeps to what the restricted pod security standard asks for.
func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	for _, name := range matrix(t) {
		r := render(t, name)
		for _, o := range r.Objects {
			restricted(t, name, o)
		}
	}
}

func restricted(t *testing.T, name string, o Object) {
	t.Helper()
	for _, c := range containers(o) {
		at := fmt.Sprintf("%s: %s %s, container %v", name, o.Kind(), o.Name(), c["name"])
		require.Equal(t, true, At(pod(o), "spec", "securityContext", "runAsNonRoot"), at)
		require.Equal(t, "RuntimeDefault", At(pod(o), "spec", "securityContext", "seccompProfile", "type"), at)
		require.Equal(t, false, At(c, "securityContext", "allowPrivilegeEscalation"), at)
		require.Equal(t, []any{"ALL"}, At(c, "securityContext", "capabilities", "drop"), at)
		require.Equal(t, false, At(pod(o), "spec", "automountServiceAccountToken"), at)
		require.Equal(t, false, At(pod(o), "spec", "enableServiceLinks"), "%s: variables of Services would be read as flags", at)
		if strings.Contains(fmt.Sprint(c["image"]), "tradegrid") {
			require.Equal(t, true, At(c, "securityContext", "readOnlyRootFilesystem"), at)
			require.InDelta(t, 65532, At(pod(o), "spec", "securityContext", "runAsUser"), 0, at)
		}
	}
}

// What a pod mounts is there: no volume is missing, none is left over.
func TestVolumesAndMountsMatch(t *testing.T) {
	t.Parallel()
	for _, name := range matrix(t) {
		for _, o := range render(t, name).Objects {
			volumes, mounted := map[string]bool{}, map[string]bool{}
			for _, key := range []string{"volumes"} {
				list, _ := At(pod(o), "spec", key).([]any)
				for _, v := range list {
					volumes[At(v, "name").(string)] = true
				}
			}
			claims, _ := At(o.Doc, "spec", "volumeClaimTemplates").([]any)
			for _, v := range claims {
				volumes[At(v, "metadata", "name").(string)] = true
			}
			for _, c := range containers(o) {
				list, _ := c["volumeMounts"].([]any)
				for _, m := range list {
					mounted[At(m, "name").(string)] = true
				}
			}
			require.Equal(t, volumes, mounted, "%s: %s %s", name, o.Kind(), o.Name())
		}
	}
}

// A pod is announced gone, drains for up to 25 s, and has time to spare; probes ask the ops port.
func TestStopAndProbes(t *testing.T) {
	t.Parallel()
	for _, name := range matrix(t) {
		r := render(t, name)
		for _, o := range roles(r) {
			c := containers(o)[len(containers(o))-1]
			pause, _ := At(c, "lifecycle", "preStop", "sleep", "seconds").(float64)
			grace, _ := At(pod(o), "spec", "terminationGracePeriodSeconds").(float64)
			require.GreaterOrEqual(t, grace, pause+25+10, "%s: %s", name, o.Name())
			within, err := time.ParseDuration(config(t, r, o.Name())["stop-within"].(string))
			require.NoError(t, err)
			require.Less(t, pause+within.Seconds(), grace, "the process ends by itself before it is killed")
			require.Greater(t, within.Seconds(), 25.0, "and not before it has drained")
			for probe, path := range map[string]string{"startupProbe": "/livez", "livenessProbe": "/livez", "readinessProbe": map[bool]string{false: "/readyz", true: "/readyz?role=api"}[strings.HasSuffix(o.Name(), "-run")]} {
				require.Equal(t, path, At(c, probe, "httpGet", "path"), "%s: %s", name, o.Name())
				require.Equal(t, "ops", At(c, probe, "httpGet", "port"))
			}
			ports := map[string]float64{}
			for _, p := range c["ports"].([]any) {
				ports[At(p, "name").(string)], _ = At(p, "containerPort").(float64)
			}
			require.InDelta(t, 9090, ports["ops"], 0)
			require.Contains(t, c["args"], "--ops-listen=:9090")
			if strings.HasSuffix(o.Name(), "-api") || strings.HasSuffix(o.Name(), "-run") {
				require.InDelta(t, 8080, ports["http"], 0)
				require.Contains(t, c["args"], "--listen=:8080")
			}
			if strings.HasSuffix(o.Name(), "-console") {
				require.InDelta(t, 8081, ports["http"], 0)
				require.Contains(t, c["args"], "--admin-listen=:8081")
			}
		}
	}
	api := containers(find(t, render(t, "minimal"), "Deployment", "tg-tradegrid-api"))[0]
	require.InDelta(t, 5, At(api, "lifecycle", "preStop", "sleep", "seconds"), 0, "requests arrive until load balancers have learned")
}

// The runtime of Go learns 90 % of the memory limit.
func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]string{"256Mi": "230MiB", "1Gi": "921MiB", "1.5Gi": "1382MiB", "1G": "858MiB", "536870912": "460MiB"} {
		api := find(t, render(t, "minimal", "api.resources.limits.memory="+limit), "Deployment", "tg-tradegrid-api")
		require.Equal(t, want, env(containers(api)[0])["GOMEMLIMIT"], limit)
	}
	for _, o := range roles(render(t, "bare")) {
		require.NotContains(t, env(containers(o)[0]), "GOMEMLIMIT", "no limit, nothing to tell")
	}
}

// What the values say for all pods and for one role arrives at it, and the role wins.
func TestExtras(t *testing.T) {
	t.Parallel()
	r := render(t, "full", "api.podAnnotations.example\\.com/owner=api", "api.tolerations[0].operator=Exists", "extraEnv[0].name=ALL", "extraEnv[0].value=x")
	api, relay := find(t, r, "Deployment", "tg-grid-api"), find(t, r, "Deployment", "tg-grid-relay")
	require.Equal(t, "api", At(pod(api), "metadata", "annotations", "example.com/owner"))
	require.Equal(t, "platform", At(pod(relay), "metadata", "annotations", "example.com/owner"))
	require.Equal(t, "front", At(pod(api), "metadata", "labels", "tier"))
	require.Equal(t, "off", At(pod(api), "metadata", "labels", "mesh"))
	require.Equal(t, "platform", At(pod(relay), "metadata", "labels", "team"))
	require.Equal(t, []any{map[string]any{"operator": "Exists"}}, At(pod(api), "spec", "tolerations"))
	require.Equal(t, "dedicated", At(At(pod(relay), "spec", "tolerations").([]any)[0], "key"))
	require.Equal(t, "linux", At(pod(relay), "spec", "nodeSelector", "kubernetes.io/os"))
	require.Equal(t, "important", At(pod(api), "spec", "priorityClassName"))
	require.NotNil(t, At(pod(api), "spec", "affinity", "podAntiAffinity"))
	require.Nil(t, At(pod(relay), "spec", "affinity"))
	c := containers(api)[0]
	require.Equal(t, "200", env(c)["GOGC"])
	require.Equal(t, "x", env(c)["ALL"])
	require.Equal(t, "x", env(containers(relay)[0])["ALL"])
	require.NotContains(t, env(containers(relay)[0]), "GOGC")
	require.Len(t, c["envFrom"], 1)
	require.Contains(t, c["volumeMounts"], map[string]any{"name": "scratch", "mountPath": "/tmp"})
	require.Equal(t, []any{map[string]any{"name": "registry"}}, At(pod(api), "spec", "imagePullSecrets"))
	require.Equal(t, "Always", c["imagePullPolicy"])
}

// A variable of a role takes the place of the one for all, also of GOMEMLIMIT; none is there twice.
func TestVariablesComeOnce(t *testing.T) {
	t.Parallel()
	r := render(t, "full", "extraEnv[0].name=A", "extraEnv[0].value=all", "extraEnv[1].name=GOGC", "extraEnv[1].value=all", "relay.extraEnv[0].name=A", "relay.extraEnv[0].value=relay",
		"console.extraEnv[0].name=GOMEMLIMIT", "console.extraEnv[0].value=off")
	for name, want := range map[string][3]string{"api": {"all", "200", "691MiB"}, "relay": {"relay", "all", "230MiB"}, "console": {"all", "all", "off"}} {
		c := containers(find(t, r, "Deployment", "tg-grid-"+name))[0]
		e := env(c)
		require.Equal(t, want, [3]string{e["A"], e["GOGC"], e["GOMEMLIMIT"]}, name)
		require.Len(t, e, len(c["env"].([]any)), "%s: a name is there twice", name)
	}
}

// A digest wins over a tag; without either, the chart's release is taken.
func TestImage(t *testing.T) {
	t.Parallel()
	image := func(file string, settings ...string) any {
		return containers(roles(render(t, file, settings...))[0])[0]["image"]
	}
	require.Equal(t, "registry.example.com/tradegrid@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", image("certificates", "image.tag=v9"))
	require.Equal(t, "registry.example.com/tradegrid:1.2.3", image("full"))
	require.Equal(t, "registry.example.com/tradegrid:"+load(t).AppVersion(), image("minimal"))
}

// Pods are spread over zones and hosts by their own labels.
func TestSpread(t *testing.T) {
	t.Parallel()
	for _, o := range roles(render(t, "full")) {
		constraints, _ := At(pod(o), "spec", "topologySpreadConstraints").([]any)
		require.Len(t, constraints, 2)
		for i, key := range []string{"topology.kubernetes.io/zone", "kubernetes.io/hostname"} {
			require.Equal(t, key, At(constraints[i], "topologyKey"))
			require.Equal(t, At(o.Doc, "spec", "selector", "matchLabels"), At(constraints[i], "labelSelector", "matchLabels"))
		}
	}
}

// Signals say which pod they come from.
func TestTelemetryNamesThePod(t *testing.T) {
	t.Parallel()
	o := find(t, render(t, "full"), "Deployment", "tg-grid-relay")
	attributes := env(containers(o)[0])["OTEL_RESOURCE_ATTRIBUTES"]
	for _, want := range []string{"k8s.namespace.name=shop", "k8s.pod.name=$(K8S_POD_NAME)", "k8s.node.name=$(K8S_NODE_NAME)", "deployment.environment.name=production", "tradegrid.cell=e1"} {
		require.Contains(t, attributes, want)
	}
	order := []string{}
	for _, e := range containers(o)[0]["env"].([]any) {
		order = append(order, At(e, "name").(string))
	}
	require.Less(t, indexOf(order, "K8S_POD_NAME"), indexOf(order, "OTEL_RESOURCE_ATTRIBUTES"), "Kubernetes expands only variables that come before")
}

func indexOf(list []string, s string) int {
	for i := range list {
		if list[i] == s {
			return i
		}
	}
	return -1
}

// Only what shows or signs with webhook secrets gets their keys: the API, the console and senders, and no Job or init container that does more than check them.
func TestWhoHasTheWebhookKeys(t *testing.T) {
	t.Parallel()
	for _, name := range matrix(t) {
		r := render(t, name)
		var have []string
		for _, o := range r.Objects {
			for _, c := range containers(o) {
				if strings.HasSuffix(o.Name(), "-check") || At(c, "name") == "check" {
					continue // it sees whether they can be used
				}
				for _, e := range asList(At(c, "env")) {
					if At(e, "name") == "TRADEGRID_SECRET_KEYS_FILE" {
						have = append(have, o.Name()+"/"+At(c, "name").(string))
					}
				}
			}
		}
		want := map[string][]string{
			"single": {"-run/tradegrid"},
			"full":   {"-grid-api/tradegrid", "-grid-console/tradegrid", "-grid-dispatcher-sender/tradegrid"}, "gateway": {"orders-api/tradegrid", "orders-console/tradegrid", "orders-dispatcher/tradegrid"},
		}[name]
		if want == nil {
			want = []string{"-api/tradegrid", "-dispatcher/tradegrid"}
		}
		slices.Sort(have)
		require.Len(t, have, len(want), "%s: %v", name, have)
		for i := range want {
			require.True(t, strings.HasSuffix(have[i], want[i]), "%s: %s", name, have[i])
		}
	}
	require.Equal(t, render(t, "evaluation").Objects, render(t, "evaluation").Objects, "the key of an evaluation stays the same")
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}
