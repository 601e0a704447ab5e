package chart

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// With one topology there are pods that are all roles, and the Services, policies and secrets that these need.
func TestSingle(t *testing.T) {
	t.Parallel()
	r := render(t, "single")
	workloads := roles(r)
	require.Len(t, workloads, 1)
	run := workloads[0]
	require.Equal(t, "tg-tradegrid-run", run.Name())
	require.Empty(t, r.Kind("StatefulSet"))
	require.Equal(t, []string{"files-bucket", "mail", "operators", "tradegrid-database", "webhook-keys"}, secrets(run))
	inForce := printConfig(t, mounted(t, r, run, containers(run)[0]), containers(run)[0])
	for key, want := range map[string]any{
		"listen": ":8080", "admin-listen": ":8081", "console-listen": ":8084", "console-url": "https://console.example.com", "file-store": "s3",
		"mail-from": "Tradegrid <tradegrid@example.com>", "oidc-issuer": "https://login.example.com:8444", "relay-parallel": 4, "topics-replicas": 3,
	} {
		require.EqualValues(t, want, inForce[key], key)
	}
	require.Equal(t, []any{"10.0.0.0/8"}, inForce["trusted-proxies"])
	for _, name := range []string{"tg-tradegrid-api", "tg-tradegrid-console", "tg-tradegrid-console-pages"} {
		require.True(t, serves(find(t, r, "Service", name), run), name)
	}
	find(t, r, "HorizontalPodAutoscaler", run.Name())
	find(t, r, "PodDisruptionBudget", run.Name())
	rules := egress(r, labelsOf(run))
	for _, port := range []float64{5432, 9092, 9000, 8444, 587} {
		require.True(t, reaches(rules, "10.9.9.9", port), "%v", port)
	}
	require.True(t, reaches(rules, "93.184.215.14", 8443), "receivers")
	require.False(t, reaches(rules, "10.9.9.9", 8443), "none in private networks")
	in := At(find(t, r, "NetworkPolicy", run.Name()).Doc, "spec", "ingress").([]any)
	require.Len(t, in, 4)
	require.True(t, portOpen(in[1], 8081))
	require.False(t, portOpen(in[2], 8081), "who may open the pages may not call the admin API")
	require.Contains(t, r.Notes, "deployment/tg-tradegrid-run")
	require.NotContains(t, r.Notes, "deployment/tg-tradegrid-api")
}

// Without a console, the pods have neither its ports nor the tokens of operators.
func TestSingleWithoutConsole(t *testing.T) {
	t.Parallel()
	r := render(t, "minimal", "topology=single")
	run := find(t, r, "Deployment", "tg-tradegrid-run")
	require.False(t, hasPort(run, "admin"))
	require.NotContains(t, env(containers(run)[0]), "TRADEGRID_ADMIN_TOKENS_FILE")
	require.NotContains(t, labelsOf(run), "tradegrid.io/console")
}

// The way from pods of each role to pods that are all roles, and back: each upgrade leaves pods that ran before behind each Service,
// which the next one may then take away, and changes nothing that Kubernetes lets nobody change.
func TestTopologyChangesWithoutAStop(t *testing.T) {
	t.Parallel()
	steps := []string{"roles", "both", "single", "both", "roles"}
	for i := range len(steps) - 1 {
		before, after := render(t, "single", "topology="+steps[i]), render(t, "single", "topology="+steps[i+1])
		sameWhereBothAre(t, immutable(before), immutable(after), steps[i]+" to "+steps[i+1])
		for _, name := range []string{"tg-tradegrid-api", "tg-tradegrid-console", "tg-tradegrid-console-pages"} {
			service := find(t, after, "Service", name)
			served := slices.ContainsFunc(roles(before), func(o Object) bool {
				_, stays := after.Find(o.Kind(), o.Name())
				return stays && serves(service, o)
			})
			require.True(t, served, "%s to %s: nobody who ran before is behind %s", steps[i], steps[i+1], name)
		}
	}
	both := render(t, "single", "topology=both")
	require.Len(t, roles(both), 5)
	for _, o := range roles(both) {
		require.Equal(t, slices.Contains([]string{"tg-tradegrid-api", "tg-tradegrid-run"}, o.Name()), serves(find(t, both, "Service", "tg-tradegrid-api"), o), o.Name())
	}
	for _, mine := range []string{"roles", "single"} {
		kept := map[string]string{}
		for _, o := range roles(render(t, "single", "topology="+mine)) {
			kept[o.Name()] = At(pod(o), "metadata", "annotations", "checksum/config").(string)
		}
		for _, o := range roles(both) {
			if sum, was := kept[o.Name()]; was {
				require.Equal(t, sum, At(pod(o), "metadata", "annotations", "checksum/config"), "%s restarts for nothing", o.Name())
				delete(kept, o.Name())
			}
		}
		require.Empty(t, slices.Collect(maps.Keys(kept)))
	}
}

// serves says whether a Service leads to the pods of a workload.
func serves(service, o Object) bool {
	return subset(texts(At(service.Doc, "spec", "selector")), labelsOf(o))
}
