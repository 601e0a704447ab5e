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
		{"minimal", []string{"kafka.tls.caSecret.name=x"}, []string{"kafka.tls.enabled: must be true when certificates are set"}},
		{"minimal", []string{"webhooks.keysSecret.name="}, []string{"webhooks.keysSecret.name: name the Secret with the keys that encrypt webhook secrets"}},
		{"minimal", []string{"api.config.secret-keys-file=/x"}, []string{"api.config.secret-keys-file: the chart sets it; use webhooks.keysSecret"}},
		{"minimal", []string{"kafka.sasl.username=x"}, []string{"kafka.sasl.mechanism: set it"}},
		{"minimal", []string{"evaluation.enabled=true"}, []string{"evaluation.enabled brings its own database", "evaluation.enabled brings its own broker"}},
		{"evaluation", []string{"jobs.mode=hook", "api.autoscaling.enabled=true"}, []string{"jobs.mode: hooks run before the database of the evaluation exists", "api: evaluation runs one pod"}},
		{"certificates", []string{"jobs.mode=init"}, []string{"separate credentials need jobs.mode hook, not init"}},
		{"full", []string{"jobs.migrate.database.user=x"}, []string{"set jobs.migrate.database.urlSecret too"}},
		{"minimal", []string{"dispatcher.sets.sender.roles[0]=sender"}, []string{"no pod has the role router", "no pod has the role delay", "no pod has the role sweeper"}},
		{"minimal", []string{"dispatcher.autoscaling.enabled=true", "dispatcher.keda.enabled=true"}, []string{"dispatcher: enable autoscaling or keda, not both", "dispatcher.keda: give prometheus.serverAddress or triggers"}},
		{"minimal", []string{"dispatcher.autoscaling.enabled=true", "dispatcher.autoscaling.cpu=0"}, []string{"dispatcher.autoscaling: scale on cpu, on lag, or both"}},
		{"minimal", []string{"api.autoscaling.enabled=true", "api.autoscaling.minReplicas=20"}, []string{"api.autoscaling: minReplicas 20 is above maxReplicas 10"}},
		{"minimal", []string{"terminationGracePeriodSeconds=39"}, []string{"terminationGracePeriodSeconds: 39 is too short for api; preStopSeconds, 25 s to drain and a margin of 10 s need 40"}},
		{"minimal", []string{"console.enabled=true", "console.config.admin-listen=x"}, []string{
			"console.tokensSecret.name: name the Secret with the tokens of operators", "console.config.admin-listen: the chart sets it; use console.service",
		}},
		{"full", []string{"console.pages.oidc.issuer=https://login.example.com", "console.config.oidc-issuer=x"}, []string{
			"console.pages.oidc.clientId: give the id", "console.pages.oidc.issuer: give console.pages.url, too", "console.config.oidc-issuer: the chart sets it; use console.pages.oidc.issuer",
		}},
		{"minimal", []string{"api.config.ops-listen=x", "dispatcher.config.roles=sender", "relay.config.log-level=debug"}, []string{
			"api.config.ops-listen: the chart sets it; use port 9090", "dispatcher.config.roles: the chart sets it; use dispatcher.roles", "relay.config.log-level: the chart sets it; use logging.level",
		}},
		{"minimal", []string{"metrics.podMonitor.enabled=true", "metrics.serviceMonitor.enabled=true"}, []string{"metrics: enable podMonitor or serviceMonitor, not both"}},
		{"minimal", []string{"extraEnv[0].name=GOGC", "extraEnv[0].value=200", "api.extraEnv[0].name=A", "api.extraEnv[0].value=true"}, []string{
			"extraEnv[0].value: GOGC is 200, but environment variables are text; put the value in quotes (with --set, use --set-string)",
			"api.extraEnv[0].value: A is true, but environment variables are text",
		}},
		{"full", []string{"relay.extraEnv[0].name=A", "relay.extraEnv[0].value=1000000", "dispatcher.extraEnv[0].name=B", "dispatcher.extraEnv[0].value=15", "dispatcher.sets.flow.extraEnv[0].name=C", "dispatcher.sets.flow.extraEnv[0].value=3"}, []string{
			"relay.extraEnv[0].value: A is 1000000, but", "dispatcher.extraEnv[0].value: B is 15, but", "dispatcher.sets.flow.extraEnv[0].value: C is 3, but",
		}},
		{"minimal", []string{"fullnameOverride=tg.shop"}, []string{`fullnameOverride: "tg.shop-api" is not a valid name of a Service: use only lowercase letters, digits and dashes, and start with a letter`}},
		{"minimal", []string{"networkPolicy.receivers.cidrs={10.1.2.3,256.0.0.0/8,10.0.0.0/33,1::2::3/64,1:2:3:4:5:6:7/64,1:2:3:4::5:6:7:8/64,12345::/16,::/129,::ffff:10.0.0.1/128,010.0.0.0/8}"}, []string{
			"at '/networkPolicy/receivers/cidrs/0': '10.1.2.3' does not match pattern",
		}},
		{"minimal", []string{"networkPolicy.receivers.cidrs={256.0.0.0/8,10.0.0.0/33,1::2::3/64,1:2:3:4:5:6:7/64,1:2:3:4::5:6:7:8/64,12345::/16,::/129,::ffff:10.0.0.1/128,010.0.0.0/8}", "networkPolicy.receivers.except={1.2.3/8}"}, []string{
			`networkPolicy.receivers.cidrs[0]: "256.0.0.0/8" is not a network; use CIDR notation, such as 203.0.113.0/24 or 2001:db8::/32`,
			`cidrs[1]: "10.0.0.0/33" is`, `cidrs[2]: "1::2::3/64" is`, `cidrs[3]: "1:2:3:4:5:6:7/64" is`, `cidrs[4]: "1:2:3:4::5:6:7:8/64" is`, `cidrs[5]: "12345::/16" is`,
			`cidrs[6]: "::/129" is`, `cidrs[7]: "::ffff:10.0.0.1/128" is`, `cidrs[8]: "010.0.0.0/8" is`, `networkPolicy.receivers.except[0]: "1.2.3/8" is`,
		}},
		{"minimal", []string{"telemetry.headersSecret.name=x"}, []string{"telemetry.otlpEndpoint: must be set when telemetry.headersSecret is"}},
	} {
		values, err := Values(c.file, c.settings...)
		require.NoError(t, err)
		_, err = Render(load(t), values, newest)
		for _, want := range c.want {
			require.ErrorContains(t, err, want, "%v", c.settings)
		}
	}
}

// A name that Kubernetes refuses for a Service is refused before the hooks run; the same release with other names is not.
func TestReleaseNameIsChecked(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"my.shop", "1shop"} {
		values, err := Values("minimal")
		require.NoError(t, err)
		_, err = RenderAs(load(t), values, newest, name)
		require.ErrorContains(t, err, `release name "`+name+`": "`+name+`-tradegrid-api" is not a valid name of a Service`)
		require.ErrorContains(t, err, "and start with a letter; choose another release name, or set fullnameOverride")

		values, err = Values("minimal", "fullnameOverride=shop")
		require.NoError(t, err)
		r, err := RenderAs(load(t), values, newest, name)
		require.NoError(t, err)
		for _, o := range r.Objects {
			names(t, o)
		}
	}
}

// Text that looks like a number, an empty variable and one from a Secret are fine.
func TestExtraEnvTakesText(t *testing.T) {
	t.Parallel()
	values, err := Values("minimal")
	require.NoError(t, err)
	values["extraEnv"] = []any{
		map[string]any{"name": "A", "value": "200"},
		map[string]any{"name": "B", "value": ""},
		map[string]any{"name": "C"},
		map[string]any{"name": "D", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "s", "key": "k"}}},
	}
	_, err = Render(load(t), values, newest)
	require.NoError(t, err)
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
