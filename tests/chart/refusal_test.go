package chart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Wrong values are refused, and the message names the key and what it may be.
func TestWrongValuesAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file     string
		settings []string
		want     []string
	}{
		{"minimal", []string{"api.replica=3"}, []string{"at '/api': additional properties 'replica' not allowed"}},
		{"minimal", []string{"typo=3"}, []string{"additional properties 'typo' not allowed"}},
		{"minimal", []string{"api.replicas=two"}, []string{"at '/api/replicas': got string, want integer"}},
		{"minimal", []string{"api.replicas=0"}, []string{"at '/api/replicas': minimum: got 0, want 1"}},
		{"minimal", []string{"database.sslmode=prefer"}, []string{"at '/database/sslmode': value must be one of 'disable', 'require', 'verify-ca', 'verify-full'"}},
		{"minimal", []string{"logging.level=loud", "kafka.session=45"}, []string{"at '/logging/level': value must be one of", "at '/kafka/session': got number, want string"}},
		{"minimal", []string{"image.digest=abc"}, []string{"at '/image/digest': 'abc' does not match pattern"}},
		{"minimal", []string{"kafka.brokers[0]=kafka"}, []string{"at '/kafka/brokers/0': 'kafka' does not match pattern"}},
		{"minimal", []string{"database.port=99999"}, []string{"at '/database/port': maximum: got 99,999, want 65,535"}},
		{"minimal", []string{"kafka.sasl.mechanism=scram-sha-512"}, []string{"at '/kafka/sasl/username': minLength: got 0, want 1", "at '/kafka/sasl/passwordSecret/name'"}},
		{"minimal", []string{"api.ingress.enabled=true"}, []string{"at '/api/ingress/hosts': minItems: got 0, want 1"}},
		{"minimal", []string{"api.httpRoute.enabled=true"}, []string{"at '/api/httpRoute/parentRefs': minItems: got 0, want 1"}},
		{"minimal", []string{"dispatcher.roles[0]=typist"}, []string{"at '/dispatcher/roles/0': value must be one of 'router', 'sender', 'delay', 'sweeper'"}},
		{"minimal", []string{"api.config.Max-Conns=3"}, []string{"at '/api/config': additional properties 'Max-Conns' not allowed"}},
		{"minimal", []string{"database.parameters.sslkey=x"}, []string{"database.parameters.sslkey: the chart sets it; use database.tls.clientSecret"}},
		{"minimal", []string{"telemetry.traceSample=7"}, []string{"at '/telemetry/traceSample': maximum: got 7, want 1"}},
		{"minimal", []string{"relay.resources.limits.memory=lots"}, []string{"at '/relay/resources/limits/memory': 'lots' does not match pattern"}},
		{"minimal", []string{"api.podDisruptionBudget.maxUnavailable=0"}, []string{"at '/api/podDisruptionBudget/maxUnavailable': minimum: got 0, want 1"}},
		{"minimal", []string{"image.repository=null", "kafka.brokers=null", "database.host=null"}, []string{
			"image.repository: name the image", "database: give host (with user and passwordSecret), or urlSecret.name", "kafka.brokers: give at least one broker",
		}},
		{"minimal", []string{"database.urlSecret.name=x"}, []string{"database: give host or urlSecret.name, not both", "database.passwordSecret.name: leave it empty with urlSecret"}},
		{"minimal", []string{"kafka.tls.caSecret.name=x"}, []string{"kafka.tls.enabled: must be true for certificates to be used"}},
		{"minimal", []string{"kafka.sasl.username=x"}, []string{"kafka.sasl.mechanism: name one"}},
		{"minimal", []string{"evaluation.enabled=true"}, []string{"evaluation.enabled brings its own database", "evaluation.enabled brings its own broker"}},
		{"evaluation", []string{"jobs.mode=hook", "api.autoscaling.enabled=true"}, []string{"jobs.mode: hooks run before the database of the evaluation exists", "api: evaluation runs one pod"}},
		{"certificates", []string{"jobs.mode=init"}, []string{"credentials of their own need jobs.mode hook, not init"}},
		{"full", []string{"jobs.migrate.database.user=x"}, []string{"give migrate a urlSecret of its own too"}},
		{"minimal", []string{"dispatcher.sets.sender.roles[0]=sender"}, []string{"no pod has the role router", "no pod has the role delay", "no pod has the role sweeper"}},
		{"minimal", []string{"dispatcher.autoscaling.enabled=true", "dispatcher.keda.enabled=true"}, []string{"dispatcher: enable autoscaling or keda, not both", "dispatcher.keda: give prometheus.serverAddress or triggers"}},
		{"minimal", []string{"dispatcher.autoscaling.enabled=true", "dispatcher.autoscaling.cpu=0"}, []string{"dispatcher.autoscaling: scale on cpu, on lag, or both"}},
		{"minimal", []string{"api.autoscaling.enabled=true", "api.autoscaling.minReplicas=20"}, []string{"api.autoscaling: minReplicas 20 is above maxReplicas 10"}},
		{"minimal", []string{"terminationGracePeriodSeconds=39"}, []string{"terminationGracePeriodSeconds: 39 is too short for api; preStopSeconds, 25 s to drain and 10 s to spare need 40"}},
		{"minimal", []string{"api.config.ops-listen=x", "dispatcher.config.roles=sender", "relay.config.log-level=debug"}, []string{
			"api.config.ops-listen: the chart sets it; use port 9090", "dispatcher.config.roles: the chart sets it; use dispatcher.roles", "relay.config.log-level: the chart sets it; use logging.level",
		}},
		{"minimal", []string{"metrics.podMonitor.enabled=true", "metrics.serviceMonitor.enabled=true"}, []string{"metrics: enable podMonitor or serviceMonitor, not both"}},
		{"minimal", []string{"telemetry.headersSecret.name=x"}, []string{"telemetry.otlpEndpoint: headersSecret is of no use without it"}},
	} {
		values, err := Values(c.file, c.settings...)
		require.NoError(t, err)
		_, err = Render(load(t), values, newest)
		for _, want := range c.want {
			require.ErrorContains(t, err, want, "%v", c.settings)
		}
	}
}

// A cluster that does not know the pause before a stop is named.
func TestOldClusterIsRefused(t *testing.T) {
	t.Parallel()
	values, err := Values("minimal")
	require.NoError(t, err)
	_, err = Render(load(t), values, "v1.29.9")
	require.ErrorContains(t, err, "Kubernetes v1.29.9: 1.30 or newer is needed")
	_, err = Render(load(t), values, "v1.20.0")
	require.NoError(t, err, "what a helm built without release flags says when it only renders")
}

// What the chart sets in the environment or on the command line would win over config without a word, so config refuses it.
func TestConfigRefusesWhatTheChartSets(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"minimal", "certificates", "full"} {
		c := containers(find(t, render(t, name), "Deployment", map[bool]string{true: "tg-grid-api", false: "tg-tradegrid-api"}[name == "full"]))[0]
		flags := []string{"listen", "ops-listen", "config", "stop-within"}
		for variable := range env(c) {
			if flag, ok := strings.CutPrefix(variable, "TRADEGRID_"); ok && flag != "CELL" {
				flags = append(flags, strings.ReplaceAll(strings.ToLower(flag), "_", "-"))
			}
		}
		for _, flag := range flags {
			values, err := Values("minimal", "api.config."+flag+"=x")
			require.NoError(t, err)
			_, err = Render(load(t), values, newest)
			require.ErrorContains(t, err, "api.config."+flag+": the chart sets it; use ")
		}
	}
}
