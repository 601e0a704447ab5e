package chart

import (
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/strvals"
)

// extended renders the full values with some in JSON on top, and lets Kubernetes judge what comes out.
func extended(t *testing.T, settings ...string) *Rendered {
	t.Helper()
	values, err := Values("full")
	require.NoError(t, err)
	for _, s := range settings {
		require.NoError(t, strvals.ParseJSON(s, values), s)
	}
	r, err := Render(load(t), values, newest)
	require.NoError(t, err)
	v := conformance(t, newest)
	for _, o := range r.Objects {
		conforms(t, v, o)
	}
	return r
}

// Probes have their path from the chart and their timing from the values, a role's before those for all.
func TestProbeTimings(t *testing.T) {
	t.Parallel()
	r := extended(t, `startupProbe={"failureThreshold":300}`, `relay.livenessProbe={"timeoutSeconds":20}`, `dispatcher.sets.flow.readinessProbe={"periodSeconds":1}`)
	probe := func(kind, name, probe string) any { return At(containers(find(t, r, kind, name))[0], probe) }
	require.Equal(t, map[string]any{"httpGet": map[string]any{"path": "/livez", "port": "ops"}, "initialDelaySeconds": 0.0, "periodSeconds": 2.0, "timeoutSeconds": 1.0, "failureThreshold": 300.0}, probe("Deployment", "tg-grid-api", "startupProbe"))
	require.InDelta(t, 20, At(probe("Deployment", "tg-grid-relay", "livenessProbe"), "timeoutSeconds"), 0)
	require.InDelta(t, 10, At(probe("Deployment", "tg-grid-relay", "livenessProbe"), "periodSeconds"), 0)
	require.InDelta(t, 5, At(probe("Deployment", "tg-grid-api", "livenessProbe"), "timeoutSeconds"), 0)
	require.InDelta(t, 1, At(probe("StatefulSet", "tg-grid-dispatcher-flow", "readinessProbe"), "periodSeconds"), 0)
	require.InDelta(t, 5, At(probe("StatefulSet", "tg-grid-dispatcher-sender", "readinessProbe"), "periodSeconds"), 0)
}

// Workloads are replaced as the values say, and keep as many revisions.
func TestRollout(t *testing.T) {
	t.Parallel()
	r := extended(t, `revisionHistoryLimit=3`, `api.strategy={"rollingUpdate":{"maxSurge":"25%"}}`, `relay.strategy={"type":"Recreate"}`, `dispatcher.strategy={"rollingUpdate":{"partition":1}}`, `dispatcher.sets.flow.strategy={"type":"OnDelete"}`)
	require.Equal(t, map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": "25%", "maxUnavailable": 0.0}}, At(find(t, r, "Deployment", "tg-grid-api").Doc, "spec", "strategy"))
	require.Equal(t, map[string]any{"type": "Recreate"}, At(find(t, r, "Deployment", "tg-grid-relay").Doc, "spec", "strategy"))
	require.Equal(t, map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": 1.0, "maxUnavailable": 0.0}}, At(find(t, r, "Deployment", "tg-grid-console").Doc, "spec", "strategy"))
	require.InDelta(t, 1, At(find(t, r, "StatefulSet", "tg-grid-dispatcher-sender").Doc, "spec", "updateStrategy", "rollingUpdate", "partition"), 0)
	require.Equal(t, map[string]any{"type": "OnDelete"}, At(find(t, r, "StatefulSet", "tg-grid-dispatcher-flow").Doc, "spec", "updateStrategy"))
	for _, o := range roles(r) {
		require.InDelta(t, 3, At(o.Doc, "spec", "revisionHistoryLimit"), 0, o.Name())
	}
}

// Jobs have annotations, variables and a place of their own.
func TestJobsHaveTheirOwnPlace(t *testing.T) {
	t.Parallel()
	values := []string{
		`jobs.annotations={"argocd.argoproj.io/sync-wave":"1"}`, `jobs.podAnnotations={"sidecar.istio.io/inject":"false"}`, `jobs.podLabels={"tier":"jobs"}`, `jobs.nodeSelector={"pool":"jobs"}`,
		`jobs.tolerations=[{"key":"jobs","operator":"Exists"}]`, `jobs.priorityClassName="low"`, `jobs.extraEnv=[{"name":"GOGC","value":"50"}]`, `jobs.extraVolumes=[{"name":"x","emptyDir":{}}]`, `jobs.extraVolumeMounts=[{"name":"x","mountPath":"/x"}]`,
		`jobs.affinity={"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}}`,
	}
	r := extended(t, values...)
	for _, name := range []string{"check", "migrate", "topics", "test-migrate", "test-topics"} {
		o := find(t, r, "Job", "tg-grid-"+name)
		require.Equal(t, "1", At(o.Doc, "metadata", "annotations", "argocd.argoproj.io/sync-wave"), name)
		require.NotEmpty(t, At(o.Doc, "metadata", "annotations", "helm.sh/hook"), name)
		require.Equal(t, "false", At(pod(o), "metadata", "annotations", "sidecar.istio.io/inject"), name)
		require.Equal(t, "jobs", At(pod(o), "metadata", "labels", "tier"), name)
		require.Equal(t, map[string]any{"pool": "jobs"}, At(pod(o), "spec", "nodeSelector"), name)
		require.Equal(t, "jobs", At(At(pod(o), "spec", "tolerations").([]any)[0], "key"), name)
		require.Equal(t, "low", At(pod(o), "spec", "priorityClassName"), name)
		require.NotNil(t, At(pod(o), "spec", "affinity", "nodeAffinity"), name)
	}
	require.Equal(t, "50", env(containers(find(t, r, "Job", "tg-grid-migrate"))[0])["GOGC"])
	require.Equal(t, "linux", At(pod(find(t, r, "Deployment", "tg-grid-api")), "spec", "nodeSelector", "kubernetes.io/os"))
}

// Sidecars, DNS settings and objects of one's own come along.
func TestWhatOthersBring(t *testing.T) {
	t.Parallel()
	r := extended(t, `api.extraContainers=[{"name":"proxy","image":"proxy:1"}]`, `dnsConfig={"options":[{"name":"ndots","value":"1"}]}`,
		`extraObjects=[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"{{ .Release.Name }}-mine"},"data":{"service":"{{ include \"tradegrid.fullname\" . }}-api"}}]`)
	api := containers(find(t, r, "Deployment", "tg-grid-api"))
	require.Equal(t, "proxy", api[len(api)-1]["name"])
	require.Len(t, containers(find(t, r, "Deployment", "tg-grid-relay")), 1)
	for _, o := range append(roles(r), find(t, r, "Job", "tg-grid-migrate")) {
		require.Equal(t, []any{map[string]any{"name": "ndots", "value": "1"}}, At(pod(o), "spec", "dnsConfig", "options"), o.Name())
	}
	require.Equal(t, "tg-grid-api", At(find(t, r, "ConfigMap", "tg-mine").Doc, "data", "service"))
}

// Each role may have ways out of its own.
func TestExtraEgressOfARole(t *testing.T) {
	t.Parallel()
	rule := func(port string) string { return `[{"ports":[{"port":` + port + `}]}]` }
	r := extended(t, "networkPolicy.api.extraEgress="+rule("7001"), "networkPolicy.relay.extraEgress="+rule("7002"), "networkPolicy.dispatcher.extraEgress="+rule("7003"), "networkPolicy.console.extraEgress="+rule("7004"),
		"networkPolicy.jobs.extraEgress="+rule("7005"), "networkPolicy.extraEgress="+rule("7006"))
	for name, port := range map[string]float64{"api": 7001, "relay": 7002, "dispatcher": 7003, "console": 7004, "migrate": 7005, "topics": 7005} {
		rules := At(find(t, r, "NetworkPolicy", "tg-grid-"+name).Doc, "spec", "egress").([]any)
		for other := 7001.0; other <= 7005; other++ {
			require.Equal(t, other == port, reaches(rules, "10.9.9.9", other), "%s to %v", name, other)
		}
		require.True(t, reaches(rules, "10.9.9.9", 7006), name)
	}
	require.Empty(t, At(find(t, r, "NetworkPolicy", "tg-grid-check").Doc, "spec", "egress"), "it connects to nothing")
}

// The Ingress of the console leads its host to its pages; with nginx, what the program takes passes.
func TestIngressOfTheConsole(t *testing.T) {
	t.Parallel()
	r := extended(t, `console.pages={"url":"https://console.example.com:8443","ingress":{"enabled":true,"className":"nginx","annotations":{"a":"b"},"tls":[{"hosts":["console.example.com"],"secretName":"tls"}]}}`,
		`api.ingress.annotations={}`)
	require.Contains(t, r.Notes, "its Ingress leads there")
	ingress := find(t, r, "Ingress", "tg-grid-console-pages")
	rule := At(ingress.Doc, "spec", "rules").([]any)[0]
	require.Equal(t, "console.example.com", At(rule, "host"))
	backend := At(At(rule, "http", "paths").([]any)[0], "backend", "service", "name").(string)
	service := find(t, r, "Service", backend)
	require.Equal(t, "pages", At(At(service.Doc, "spec", "ports").([]any)[0], "targetPort"), "never the admin API")
	require.Equal(t, map[string]any{"a": "b", "nginx.ingress.kubernetes.io/proxy-body-size": "16m", "nginx.org/client-max-body-size": "16m"}, At(ingress.Doc, "metadata", "annotations"))
	require.Equal(t, "16m", At(find(t, r, "Ingress", "tg-grid-api").Doc, "metadata", "annotations", "nginx.org/client-max-body-size"))
	own := find(t, render(t, "full"), "Ingress", "tg-grid-api")
	require.Equal(t, "8m", At(own.Doc, "metadata", "annotations", "nginx.ingress.kubernetes.io/proxy-body-size"), "what the values say wins")
	other := find(t, render(t, "full", "api.ingress.className=traefik", "api.ingress.annotations=null"), "Ingress", "tg-grid-api")
	require.Nil(t, At(other.Doc, "metadata", "annotations"))
	_, found := render(t, "full", "console.pages.url=https://console.example.com").Find("Ingress", "tg-grid-console-pages")
	require.False(t, found, "off unless asked for")
}

// A LoadBalancer may keep the addresses of clients.
func TestExternalTrafficPolicy(t *testing.T) {
	t.Parallel()
	r := render(t, "full", "api.service.externalTrafficPolicy=Local")
	require.Equal(t, "Local", At(find(t, r, "Service", "tg-grid-api").Doc, "spec", "externalTrafficPolicy"))
	require.Nil(t, At(find(t, render(t, "full"), "Service", "tg-grid-api").Doc, "spec", "externalTrafficPolicy"))
}

// With a role of AWS there is no access key, and the ServiceAccount says which role.
func TestBucketByARole(t *testing.T) {
	t.Parallel()
	r := render(t, "full", "files.s3.role=true", "files.s3.keysSecret.name=", `serviceAccount.annotations.eks\.amazonaws\.com/role-arn=arn:aws:iam::1:role/tradegrid`)
	api := find(t, r, "Deployment", "tg-grid-api")
	require.NotContains(t, secrets(api), "files-bucket")
	require.Equal(t, true, printConfig(t, mounted(t, r, api, containers(api)[0]), containers(api)[0])["s3-role"])
	require.Equal(t, "arn:aws:iam::1:role/tradegrid", At(find(t, r, "ServiceAccount", "tg-grid").Doc, "metadata", "annotations", "eks.amazonaws.com/role-arn"))
}

// What the page says of OpenShift leaves users to the cluster, and lets pods reach its DNS.
func TestDocumentedOpenShift(t *testing.T) {
	t.Parallel()
	page := section(t, "### OpenShift\n", "## When something")
	for _, line := range []string{"    podSecurityContext: {runAsUser: null, runAsGroup: null, fsGroup: null}\n", "    networkPolicy: {dns: {ports: [53, 5353]}}\n"} {
		require.Contains(t, page, line)
	}
	r := render(t, "minimal", "podSecurityContext.runAsUser=null", "podSecurityContext.runAsGroup=null", "podSecurityContext.fsGroup=null", "networkPolicy.dns.ports={53,5353}")
	for _, o := range r.Objects {
		if pod(o) == nil {
			continue
		}
		require.Equal(t, map[string]any{"runAsNonRoot": true, "fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": map[string]any{"type": "RuntimeDefault"}}, At(pod(o), "spec", "securityContext"), o.Name())
	}
	require.True(t, reaches(egress(r, labelsOf(find(t, r, "Deployment", "tg-tradegrid-api"))), "10.9.9.9", 5353))
}
