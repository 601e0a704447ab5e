package chart

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// The dispatcher keeps its place in consumer groups under the name of its pod.
func TestDispatcherIsAStaticMember(t *testing.T) {
	t.Parallel()
	r := render(t, "minimal")
	o := find(t, r, "StatefulSet", "tg-tradegrid-dispatcher")
	require.Equal(t, true, config(t, r, o.Name())["static-membership"])
	service := find(t, r, "Service", At(o.Doc, "spec", "serviceName").(string))
	require.Equal(t, "None", At(service.Doc, "spec", "clusterIP"))
	require.Equal(t, false, config(t, render(t, "bare"), o.Name())["static-membership"])
}

// Sets share the work: each has its own pods, configuration and budget, and the four roles are done.
func TestDispatcherSets(t *testing.T) {
	t.Parallel()
	r := render(t, "full")
	sender, flow := find(t, r, "StatefulSet", "tg-grid-dispatcher-sender"), find(t, r, "StatefulSet", "tg-grid-dispatcher-flow")
	_, single := r.Find("StatefulSet", "tg-grid-dispatcher")
	require.False(t, single)
	require.Equal(t, []any{"sender"}, config(t, r, sender.Name())["roles"])
	require.Equal(t, []any{"router", "delay", "sweeper"}, config(t, r, flow.Name())["roles"])
	require.InDelta(t, 128, config(t, r, sender.Name())["company-in-flight"], 0)
	require.NotContains(t, config(t, r, flow.Name()), "company-in-flight")
	require.InDelta(t, 1000000, config(t, r, flow.Name())["in-flight"], 0, "what all sets have")
	require.Equal(t, "1Gi", At(containers(sender)[0], "resources", "limits", "memory"))
	require.Equal(t, "512Mi", At(containers(flow)[0], "resources", "limits", "memory"))
	require.InDelta(t, 3, At(flow.Doc, "spec", "replicas"), 0)
	find(t, r, "PodDisruptionBudget", flow.Name())
	find(t, r, "PodDisruptionBudget", sender.Name())
}

// Numbers are written as the flags read them, not as 1e+06.
func TestConfigWritesWholeNumbers(t *testing.T) {
	t.Parallel()
	o := find(t, render(t, "full"), "ConfigMap", "tg-grid-dispatcher-flow")
	require.Contains(t, At(o.Doc, "data", "config.yaml"), "in-flight: 1000000\n")
}

// A change of the configuration rolls the role's pods; one that a running process takes over does not.
func TestChecksumRollsPods(t *testing.T) {
	t.Parallel()
	sums := func(settings ...string) map[string]any {
		all := map[string]any{}
		for _, o := range roles(render(t, "minimal", settings...)) {
			all[o.Name()] = At(pod(o), "metadata", "annotations", "checksum/config")
			require.NotEmpty(t, all[o.Name()])
		}
		return all
	}
	before := sums()
	require.Equal(t, before, sums("logging.level=debug", "telemetry.traceSample=1", "dispatcher.config.in-flight=10"), "reloaded without a restart")
	one := sums("dispatcher.config.sweep-every=3s")
	require.NotEqual(t, before["tg-tradegrid-dispatcher"], one["tg-tradegrid-dispatcher"])
	require.Equal(t, before["tg-tradegrid-api"], one["tg-tradegrid-api"], "other roles stay")
	for name, sum := range sums("logging.format=text") {
		require.NotEqual(t, before[name], sum, name)
	}
}

// The chart takes for reloadable what docs/configuration.md, which is made from the flags, calls so.
func TestReloadableKeys(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	want := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|.*\\| at once \\|").FindAllStringSubmatch(string(docs), -1) {
		want[row[1]] = true
	}
	require.Contains(t, want, "log-level")
	template, err := os.ReadFile(Folder + "/templates/_config.tpl")
	require.NoError(t, err)
	_, list, _ := strings.Cut(string(template), `define "tradegrid.reloadable" -}}`)
	list, _, _ = strings.Cut(list, "{{- end -}}")
	got := map[string]bool{}
	for _, key := range strings.Fields(list) {
		if key != "-" {
			got[key] = true
		}
	}
	require.Equal(t, want, got)
}

func config(t *testing.T, r *Rendered, name string) map[string]any {
	t.Helper()
	text, _ := At(find(t, r, "ConfigMap", name).Doc, "data", "config.yaml").(string)
	var c map[string]any
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &c))
	return c
}

// Budgets let one pod go at a time, and are left out where they would only block or promise nothing.
func TestDisruptionBudgets(t *testing.T) {
	t.Parallel()
	require.Len(t, render(t, "minimal").Kind("PodDisruptionBudget"), 3)
	require.Empty(t, render(t, "bare").Kind("PodDisruptionBudget"), "single pods")
	require.Empty(t, render(t, "evaluation").Kind("PodDisruptionBudget"))
	require.Len(t, render(t, "minimal", "relay.podDisruptionBudget.enabled=false").Kind("PodDisruptionBudget"), 2)
	require.Len(t, render(t, "minimal", "api.replicas=1", "api.autoscaling.enabled=true").Kind("PodDisruptionBudget"), 3, "the scaler's minimum counts")
	budget := find(t, render(t, "full"), "PodDisruptionBudget", "tg-grid-api")
	require.Equal(t, "25%", At(budget.Doc, "spec", "maxUnavailable"))
	require.Equal(t, "AlwaysAllow", At(budget.Doc, "spec", "unhealthyPodEvictionPolicy"))
}

// Whoever scales a workload owns its number of pods: the chart does not set it back at each upgrade.
func TestScalers(t *testing.T) {
	t.Parallel()
	r := render(t, "full")
	for _, hpa := range r.Kind("HorizontalPodAutoscaler") {
		target := find(t, r, At(hpa.Doc, "spec", "scaleTargetRef", "kind").(string), At(hpa.Doc, "spec", "scaleTargetRef", "name").(string))
		require.NotContains(t, target.Doc["spec"], "replicas")
	}
	sender := find(t, r, "HorizontalPodAutoscaler", "tg-grid-dispatcher-sender")
	metrics := At(sender.Doc, "spec", "metrics").([]any)
	require.Equal(t, "cpu", At(metrics[0], "resource", "name"))
	require.Equal(t, "tradegrid_kafka_consumer_lag", At(metrics[1], "pods", "metric", "name"))
	require.InDelta(t, 40, At(sender.Doc, "spec", "maxReplicas"), 0)
	require.Len(t, r.Kind("HorizontalPodAutoscaler"), 2, "off unless asked for")
	require.Empty(t, render(t, "minimal").Kind("HorizontalPodAutoscaler"))

	g := render(t, "gateway")
	scaled := find(t, g, "ScaledObject", "orders-dispatcher")
	triggers := At(scaled.Doc, "spec", "triggers").([]any)
	require.Len(t, triggers, 2)
	require.Equal(t, `sum(tradegrid_kafka_consumer_lag{namespace="shop",pod=~"orders-dispatcher-[0-9]+"})`, At(triggers[0], "metadata", "query"))
	require.NotContains(t, find(t, g, "StatefulSet", "orders-dispatcher").Doc["spec"], "replicas")
}

// Requests come in by Service, Ingress or HTTPRoute, each of which leads to the API.
func TestWaysIn(t *testing.T) {
	t.Parallel()
	r := render(t, "full")
	service := find(t, r, "Service", "tg-grid-api")
	require.Equal(t, "LoadBalancer", At(service.Doc, "spec", "type"))
	require.Equal(t, []any{"192.0.2.0/24"}, At(service.Doc, "spec", "loadBalancerSourceRanges"))
	rules := At(find(t, r, "Ingress", "tg-grid-api").Doc, "spec", "rules").([]any)
	require.Len(t, rules, 2)
	path := At(rules[0], "http", "paths").([]any)[0]
	require.Equal(t, "Prefix", At(path, "pathType"))
	require.Equal(t, service.Name(), At(path, "backend", "service", "name"))
	require.Equal(t, At(At(service.Doc, "spec", "ports").([]any)[0], "name"), At(path, "backend", "service", "port", "name"))

	g := render(t, "gateway")
	rule := At(find(t, g, "HTTPRoute", "orders-api").Doc, "spec", "rules").([]any)[0]
	backend := At(rule, "backendRefs").([]any)[0]
	find(t, g, "Service", At(backend, "name").(string))
	require.InDelta(t, 80, At(backend, "port"), 0)
	require.Empty(t, g.Kind("Ingress"))
}

// The admin API runs if asked for, needs no Kafka, has the tokens of operators, and is never exposed by the chart itself.
func TestConsole(t *testing.T) {
	t.Parallel()
	for _, o := range roles(render(t, "minimal")) {
		require.NotContains(t, o.Name(), "console", "off unless asked for")
	}
	r := render(t, "full")
	console := find(t, r, "Deployment", "tg-grid-console")
	require.InDelta(t, 2, At(console.Doc, "spec", "replicas"), 0)
	require.Equal(t, []string{"database-ca", "operators", "tradegrid-database-url", "webhook-keys"}, secrets(console))
	c := env(containers(console)[0])
	require.Equal(t, "/etc/tradegrid/operators/tokens", c["TRADEGRID_ADMIN_TOKENS_FILE"])
	require.NotContains(t, c, "TRADEGRID_KAFKA_BROKERS")
	require.Equal(t, []any{"10.0.0.0/8"}, config(t, r, console.Name())["trusted-proxies"])
	find(t, r, "PodDisruptionBudget", console.Name())
	service := find(t, r, "Service", console.Name())
	require.Equal(t, "ClusterIP", At(service.Doc, "spec", "type"))
	require.InDelta(t, 8443, At(At(service.Doc, "spec", "ports").([]any)[0], "port"), 0)
	for _, o := range r.Objects {
		if o.Name() != console.Name() && o.Name() != "tg-grid-check" {
			require.NotContains(t, env(firstContainer(o)), "TRADEGRID_ADMIN_TOKENS_FILE", o.Name())
			require.NotContains(t, secrets(o), "operators", o.Name())
		}
	}
	require.Contains(t, r.Notes, "port-forward service/tg-grid-console 8081:8443")
	require.NotContains(t, render(t, "minimal").Notes, "console")
}

// The pages for people have a Service of their own, so that what leads people there does not lead them to the admin API.
func TestConsolePages(t *testing.T) {
	t.Parallel()
	args := func(o Object) []any { return containers(o)[0]["args"].([]any) }
	bare := render(t, "full")
	require.NotContains(t, args(find(t, bare, "Deployment", "tg-grid-console")), "--console-listen=:8084", "off unless asked for")
	r := render(t, "full", "console.pages.url=https://console.example.com", "networkPolicy.pages.from[0].podSelector.matchLabels.app=ingress")
	require.Subset(t, args(find(t, r, "Deployment", "tg-grid-console")), []any{"--console-listen=:8084", "--console-url=https://console.example.com"})
	traced := render(t, "full", "console.pages.url=https://console.example.com", "console.pages.traceUrl=https://traces.example.com/trace/{traceId}")
	require.Contains(t, args(find(t, traced, "Deployment", "tg-grid-console")), "--console-trace-url=https://traces.example.com/trace/{traceId}")
	service := find(t, r, "Service", "tg-grid-console-pages")
	require.Equal(t, "ClusterIP", At(service.Doc, "spec", "type"))
	require.Equal(t, "pages", At(At(service.Doc, "spec", "ports").([]any)[0], "targetPort"))
	rules := At(find(t, r, "NetworkPolicy", "tg-grid-console").Doc, "spec", "ingress").([]any)
	require.Len(t, rules, 3)
	require.True(t, portOpen(rules[1], 8084))
	require.False(t, portOpen(rules[1], 8081), "who may open the pages may not call the admin API")
}

// Only who asks for it connects the console to Kafka.
func TestConsoleWithKafka(t *testing.T) {
	t.Parallel()
	for asked, r := range map[bool]*Rendered{false: render(t, "full"), true: render(t, "full", "console.kafka=true", "jobs.topics.replication=5")} {
		console := find(t, r, "Deployment", "tg-grid-console")
		_, brokers := env(containers(console)[0])["TRADEGRID_KAFKA_BROKERS"]
		require.Equal(t, asked, brokers)
		require.Equal(t, asked, slices.Contains(containers(console)[0]["args"].([]any), any("--topics-replicas=5")))
		require.Equal(t, asked, reaches(egress(r, labelsOf(console)), "10.2.2.3", 9092))
	}
}

// In an evaluation topics have one replica, and the console compares them with that.
func TestConsoleOfAnEvaluation(t *testing.T) {
	t.Parallel()
	r := render(t, "evaluation", "console.enabled=true", "console.kafka=true", "console.tokensSecret.name=operators")
	console := find(t, r, "Deployment", "tg-tradegrid-console")
	c := containers(console)[len(containers(console))-1]
	require.Contains(t, c["args"], "--topics-local")
	require.NotContains(t, c["args"], "--topics-replicas=3")
	require.Equal(t, true, printConfig(t, mounted(t, r, console, c), c)["topics-local"])
}

// Through a tunnel, the console is at an address of the own machine.
func TestConsoleThroughATunnel(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://localhost:8084", "http://127.0.0.1:8084", "http://[::1]:8084"} {
		r := render(t, "full", "console.pages.url="+url)
		console := find(t, r, "Deployment", "tg-grid-console")
		require.Equal(t, url, printConfig(t, mounted(t, r, console, containers(console)[0]), containers(console)[0])["console-url"])
	}
}

// People sign in by a provider, too, when one is named: the console knows it, has its secret, and reaches it.
func TestConsoleProvider(t *testing.T) {
	t.Parallel()
	without := render(t, "full", "console.pages.url=https://console.example.com")
	require.NotContains(t, config(t, without, "tg-grid-console"), "oidc-issuer")
	r := render(t, "full", "console.pages.url=https://console.example.com", "console.pages.oidc.issuer=https://login.example.com", "console.pages.oidc.clientId=tradegrid",
		"console.pages.oidc.clientSecret.name=login", "console.pages.oidc.emailDomains={example.com}", "networkPolicy.oidc.ports={8443}")
	c := config(t, r, "tg-grid-console")
	require.Equal(t, "https://login.example.com", c["oidc-issuer"])
	require.Equal(t, "tradegrid", c["oidc-client-id"])
	require.Equal(t, []any{"example.com"}, c["oidc-email-domains"])
	require.Equal(t, "/etc/tradegrid/operators/client-secret", c["oidc-client-secret-file"])
	for _, o := range r.Objects {
		if o.Kind() == "Deployment" {
			require.Equal(t, o.Name() == "tg-grid-console", slices.Contains(secrets(o), "login"), o.Name())
		}
	}
	open := func(r *Rendered) bool {
		return slices.ContainsFunc(At(find(t, r, "NetworkPolicy", "tg-grid-console").Doc, "spec", "egress").([]any), func(rule any) bool { return portOpen(rule, 8443) })
	}
	require.True(t, open(r))
	require.False(t, open(without))
}

// The relay alone has the URL of the mail server, in a file: a password never stands in a ConfigMap or in the environment.
func TestMail(t *testing.T) {
	t.Parallel()
	r := render(t, "minimal", "mail.urlSecret.name=mail", "mail.from=Tradegrid <tradegrid@example.com>")
	for _, o := range r.Objects {
		require.Equal(t, o.Kind() == "Deployment" && o.Name() == "tg-tradegrid-relay" || o.Kind() == "Job" && o.Name() == "tg-tradegrid-check", slices.Contains(secrets(o), "mail"), "%s %s", o.Kind(), o.Name())
	}
	c := config(t, r, "tg-tradegrid-relay")
	require.Equal(t, "Tradegrid <tradegrid@example.com>", c["mail-from"])
	relay := find(t, r, "Deployment", "tg-tradegrid-relay")
	require.Equal(t, "/etc/tradegrid/mail/url", env(containers(relay)[0])["TRADEGRID_SMTP_URL_FILE"])
	require.Equal(t, "Tradegrid <tradegrid@example.com>", printConfig(t, mounted(t, r, relay, containers(relay)[0]), containers(relay)[0])["mail-from"])
	require.NotContains(t, config(t, render(t, "minimal"), "tg-tradegrid-relay"), "mail-from")
}

func firstContainer(o Object) map[string]any {
	if all := containers(o); len(all) > 0 {
		return all[0]
	}
	return nil
}

// Before roles of a release start, the schema and then the topics are those of the release.
func TestJobsRunFirst(t *testing.T) {
	t.Parallel()
	r := render(t, "certificates")
	weight := func(kind, name string) string {
		o := find(t, r, kind, name)
		require.True(t, o.Hook)
		a := texts(At(o.Doc, "metadata", "annotations"))
		require.Equal(t, "pre-install,pre-upgrade", a["helm.sh/hook"])
		deletion := strings.Split(a["helm.sh/hook-delete-policy"], ",")
		require.Contains(t, deletion, "before-hook-creation", "or the second upgrade would find it there")
		require.Equal(t, kind == "Job", slices.Contains(deletion, "hook-succeeded"), "%s %s: Jobs that are done go, what other Jobs need stays", kind, name)
		return a["helm.sh/hook-weight"]
	}
	require.Equal(t, "-20", weight("ServiceAccount", "tg-tradegrid-jobs"), "pods of Jobs need it")
	require.Equal(t, "-20", weight("NetworkPolicy", "tg-tradegrid-migrate"))
	require.Equal(t, "-15", weight("Job", "tg-tradegrid-check"))
	require.Equal(t, "-20", weight("NetworkPolicy", "tg-tradegrid-topics"))
	require.Equal(t, "-10", weight("Job", "tg-tradegrid-migrate"))
	require.Equal(t, "-5", weight("Job", "tg-tradegrid-topics"))
	for _, job := range hookJobs(r) {
		account := At(pod(job), "spec", "serviceAccountName").(string)
		require.True(t, find(t, r, "ServiceAccount", account).Hook, "%s needs what exists only after it", job.Name())
		require.Equal(t, "Never", At(pod(job), "spec", "restartPolicy"), "the logs of each try stay")
	}
	require.Equal(t, "existing", At(pod(roles(render(t, "bare"))[0]), "spec", "serviceAccountName"))
}

// hookJobs are the Jobs that run before an install or upgrade.
func hookJobs(r *Rendered) []Object {
	return slices.DeleteFunc(r.Kind("Job"), func(o Object) bool {
		return At(o.Doc, "metadata", "annotations", "helm.sh/hook") != "pre-install,pre-upgrade"
	})
}

// Jobs may have rights that roles have not: their Secrets are mounted into them alone.
func TestJobsHaveTheirOwnCredentials(t *testing.T) {
	t.Parallel()
	r := render(t, "certificates")
	migrate, topics := find(t, r, "Job", "tg-tradegrid-migrate"), find(t, r, "Job", "tg-tradegrid-topics")
	require.Contains(t, env(containers(migrate)[0])["TRADEGRID_DATABASE_URL"], "tradegrid_owner@")
	require.Equal(t, "tradegrid-admin", env(containers(topics)[0])["TRADEGRID_KAFKA_USERNAME"])
	require.NotContains(t, env(containers(migrate)[0]), "TRADEGRID_KAFKA_BROKERS", "migrate needs no Kafka")
	require.NotContains(t, env(containers(topics)[0]), "TRADEGRID_DATABASE_URL", "topics needs no database")
	require.Equal(t, []string{"cockroachdb-ca", "cockroachdb-client-owner"}, secrets(migrate))
	require.Equal(t, []string{"kafka-cluster-ca-cert", "tradegrid-kafka-admin", "tradegrid-kafka-user"}, secrets(topics))
	for _, o := range roles(r) {
		want := []string{"cockroachdb-ca", "cockroachdb-client-app", "kafka-cluster-ca-cert", "tradegrid-kafka-user"}
		if At(pod(o), "metadata", "labels", "app.kubernetes.io/component") != "relay" {
			want = append(want, "tradegrid-webhook-keys")
		}
		require.Equal(t, want, secrets(o))
	}
}

// secrets lists the Secrets that a workload mounts.
func secrets(o Object) []string {
	var all []string
	volumes, _ := At(pod(o), "spec", "volumes").([]any)
	for _, v := range volumes {
		sources, _ := At(v, "projected", "sources").([]any)
		for _, s := range sources {
			all = append(all, At(s, "secret", "name").(string))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Without hooks, every pod prepares first; the evaluation has to, as its database comes with the release.
func TestJobsAsInitContainers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gateway", "evaluation"} {
		r := render(t, name)
		require.Empty(t, hookJobs(r), name)
		for _, o := range roles(r) {
			var first []string
			for _, c := range asList(At(pod(o), "spec", "initContainers")) {
				first = append(first, At(c, "name").(string))
			}
			want := []string{"check", "migrate", "topics"}
			if o.Name() == "orders-console" {
				want = want[:2] // it has no access to Kafka
			}
			require.Equal(t, want, first, "%s: %s", name, o.Name())
			require.Equal(t, append(slices.Clone(containers(o)[len(want)]["args"].([]any)), "--print-config"), containers(o)[0]["args"])
		}
	}
	for _, o := range roles(render(t, "bare")) {
		require.NotContains(t, At(pod(o), "spec"), "initContainers")
	}
}

// One pod of each, a database and a broker that the pods find, and receivers inside the cluster.
func TestEvaluation(t *testing.T) {
	t.Parallel()
	r := render(t, "evaluation")
	for _, o := range roles(r) {
		require.InDelta(t, 1, At(o.Doc, "spec", "replicas"), 0)
		e := env(containers(o)[0])
		require.Equal(t, "postgres://root@tg-tradegrid-cockroach:26257/defaultdb?sslmode=disable", e["TRADEGRID_DATABASE_URL"])
		require.Equal(t, "tg-tradegrid-kafka:9092", e["TRADEGRID_KAFKA_BROKERS"])
		topics := containers(o)[2]
		require.Equal(t, "topics", topics["name"])
		require.Contains(t, topics["args"], "--local", "one replica on one broker")
	}
	for _, name := range []string{"cockroach", "kafka"} {
		o := find(t, r, "StatefulSet", "tg-tradegrid-"+name)
		require.Len(t, At(o.Doc, "spec", "volumeClaimTemplates"), 1, "its data outlives the pod")
		service := find(t, r, "Service", o.Name())
		require.Equal(t, true, At(service.Doc, "spec", "publishNotReadyAddresses"))
	}
	require.Equal(t, true, config(t, r, "tg-tradegrid-api")["allow-insecure"])
	require.Contains(t, r.Notes, "THIS IS AN EVALUATION")
	strictly := render(t, "evaluation", "evaluation.receiver=false")
	require.NotContains(t, config(t, strictly, "tg-tradegrid-api"), "allow-insecure")
	_, found := strictly.Find("Deployment", "tg-tradegrid-receiver")
	require.False(t, found)
	for _, name := range matrix(t) {
		if name != "evaluation" {
			for _, o := range roles(render(t, name)) {
				require.NotContains(t, fmt.Sprint(o.Doc), "allow-insecure", name)
			}
		}
	}
}

// Notes say what comes next, as each way of installing needs it.
func TestNotes(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		"minimal":      {"port-forward service/tg-tradegrid-api", "helm test tg -n shop", "kafka.tls.enabled is false", "Metrics are not scraped yet"},
		"full":         {"https://api.example.com", "api.trustedProxies is empty"},
		"gateway":      {"hosts of the HTTPRoute: api.example.com", "database.sslmode is require"},
		"bare":         {"jobs.mode is none", "database.sslmode is disable"},
		"certificates": {"admin company create"},
		"evaluation":   {"tg-tradegrid-receiver.shop:8090", "delete pvc"},
	} {
		notes := render(t, file).Notes
		for _, text := range want {
			require.Contains(t, notes, text, file)
		}
		require.NotContains(t, notes, "<no value>", file)
	}
	require.NotContains(t, render(t, "certificates").Notes, "WARNING")
	for url, want := range map[string][]string{
		"": {"is not served: console.pages.url is empty"}, "https://console.example.com": {"at https://console.example.com", "Service tg-grid-console-pages, port 80", "networkPolicy.pages.from is empty"},
		"http://localhost:8084": {"port-forward service/tg-grid-console-pages 8084:80"},
	} {
		for _, text := range want {
			require.Contains(t, render(t, "full", "console.pages.url="+url).Notes, text)
		}
	}
}
