package chart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/strvals"
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
		{"minimal", []string{"image.digest=abc"}, []string{`image.digest: "abc" is not a digest: write sha256: and 64 hexadecimal digits in lowercase`}},
		{"minimal", []string{"kafka.brokers[0]=kafka"}, []string{`kafka.brokers[0]: "kafka" is not host:port: write such as kafka-0.kafka:9092, or [2001:db8::5]:9092`}},
		{"minimal", []string{"database.port=99999"}, []string{"at '/database/port': maximum: got 99,999, want 65,535"}},
		{"minimal", []string{"kafka.sasl.mechanism=scram-sha-512"}, []string{"kafka.sasl: with mechanism, give username and passwordSecret.name, too"}},
		{"minimal", []string{"api.ingress.enabled=true"}, []string{"api.ingress.hosts: give at least one host name"}},
		{"minimal", []string{"api.httpRoute.enabled=true"}, []string{"api.httpRoute.parentRefs: name at least one Gateway"}},
		{"minimal", []string{"dispatcher.roles[0]=typist"}, []string{"at '/dispatcher/roles/0': value must be one of 'router', 'sender', 'delay', 'sweeper'"}},
		{"minimal", []string{"database.parameters.sslkey=x"}, []string{"database.parameters.sslkey: the chart sets it; use database.tls.clientSecret"}},
		{"minimal", []string{"telemetry.traceSample=7"}, []string{"at '/telemetry/traceSample': maximum: got 7, want 1"}},
		{"minimal", []string{"relay.resources.limits.memory=lots"}, []string{`relay.resources.limits.memory: "lots" is not an amount of memory: write bytes, such as 256Mi or 1Gi`}},
		{"minimal", []string{"api.podDisruptionBudget.maxUnavailable=0"}, []string{"at '/api/podDisruptionBudget/maxUnavailable': minimum: got 0, want 1"}},
		{"minimal", []string{"image.repository=null", "kafka.brokers=null", "database.host=null"}, []string{
			"image.repository: name the image", "database: give host (with user and passwordSecret), or urlSecret.name", "kafka.brokers: give at least one broker",
		}},
		{"minimal", []string{"database.urlSecret.name=x"}, []string{"database: give host or urlSecret.name, not both", "database.passwordSecret.name: leave it empty with urlSecret"}},
		{"minimal", []string{"kafka.tls.caSecret.name=x"}, []string{"kafka.tls.enabled: must be true when certificates are set"}},
		{"minimal", []string{"webhooks.keysSecret.name="}, []string{"webhooks.keysSecret.name: name the Secret with the keys that encrypt webhook secrets"}},
		{"minimal", []string{"api.config.secret-keys-file=/x"}, []string{"api.config.secret-keys-file: the chart sets it; use webhooks.keysSecret"}},
		{"minimal", []string{"relay.config.event-retention=1440h", "dispatcher.config.max-attempts=3", "api.extraEnv[0].name=TRADEGRID_DELIVERY_TTL", "policy.eventRetention=60d"}, []string{
			"relay.config.event-retention: the chart sets it; use policy.eventRetention", "dispatcher.config.max-attempts: the chart sets it; use policy.maxAttempts",
			"api.extraEnv[0]: the chart sets TRADEGRID_DELIVERY_TTL; use policy.deliveryTtl", `policy.eventRetention: "60d" is not a duration`,
		}},
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
			`networkPolicy.receivers.cidrs[0]: "10.1.2.3" is not a network; use CIDR notation`,
		}},
		{"minimal", []string{"networkPolicy.receivers.cidrs={256.0.0.0/8,10.0.0.0/33,1::2::3/64,1:2:3:4:5:6:7/64,1:2:3:4::5:6:7:8/64,12345::/16,::/129,::ffff:10.0.0.1/128,010.0.0.0/8}", "networkPolicy.receivers.except={1.2.3/8}"}, []string{
			`networkPolicy.receivers.cidrs[0]: "256.0.0.0/8" is not a network; use CIDR notation, such as 203.0.113.0/24 or 2001:db8::/32`,
			`cidrs[1]: "10.0.0.0/33" is`, `cidrs[2]: "1::2::3/64" is`, `cidrs[3]: "1:2:3:4:5:6:7/64" is`, `cidrs[4]: "1:2:3:4::5:6:7:8/64" is`, `cidrs[5]: "12345::/16" is`,
			`cidrs[6]: "::/129" is`, `cidrs[7]: "::ffff:10.0.0.1/128" is`, `cidrs[8]: "010.0.0.0/8" is`, `networkPolicy.receivers.except[0]: "1.2.3/8" is`,
		}},
		{"minimal", []string{"telemetry.headersSecret.name=x"}, []string{"telemetry.otlpEndpoint: must be set when telemetry.headersSecret is"}},
		{"minimal", []string{"image.repository=registry.example.com:5000/tradegrid:1.2.3"}, []string{
			`image.repository: "registry.example.com:5000/tradegrid:1.2.3" has a tag; write image.repository: registry.example.com:5000/tradegrid and image.tag: "1.2.3"`,
		}},
		{"minimal", []string{"image.repository=r.example.com/t:1@sha256:abc"}, []string{`has a digest; write image.repository: r.example.com/t and image.digest: "sha256:abc"`}},
		{"minimal", []string{"relay.config.smtp-url=smtp://a:b@mail", "relay.config.mail-from=a@example.com", "mail.urlSecret.name=mail"}, []string{
			"relay.config.smtp-url: the chart sets it; use mail.urlSecret: it may hold a password, which would stand in a ConfigMap", "relay.config.mail-from: the chart sets it; use mail.from", "mail.from: give the address",
		}},
		{"minimal", []string{"api.config.databse-conns=3", "api.config.Database-Conns=3", "api.config.relay-parallel=3", "dispatcher.config.job-workers=1", "relay.config.speed=3"}, []string{
			"api.config.databse-conns: tradegrid api has no such flag; did you mean database-conns?", "api.config.Database-Conns: tradegrid api has no such flag; did you mean database-conns?",
			"api.config.relay-parallel: tradegrid api has no such flag; relay has it", "dispatcher.config.job-workers: tradegrid dispatcher has no such flag; api has it",
			"relay.config.speed: tradegrid relay has no such flag; docs/configuration.md lists its flags",
		}},
		{"full", []string{"dispatcher.sets.flow.config.in-flght=3"}, []string{"dispatcher.sets.flow.config.in-flght: tradegrid dispatcher has no such flag; did you mean in-flight?"}},
		{"minimal", []string{"api.autoscaling.enabled=true", "api.resources.requests.cpu=null", "dispatcher.autoscaling.enabled=true", "dispatcher.resources.requests=null"}, []string{
			"api.autoscaling.cpu: a share of the request for CPU needs one; set api.resources.requests.cpu", "dispatcher.autoscaling.cpu: a share of the request for CPU needs one; set dispatcher.resources.requests.cpu",
		}},
		{"minimal", []string{"extraEnv[0].name=A", "extraEnv[1].name=A", "extraEnv[2].name=TRADEGRID_DATABASE_URL", "api.extraEnv[0].name=TRADEGRID_CELL", "relay.extraEnv[0].name=TRADEGRID_SMTP_URL", "dispatcher.sets.a.extraEnv[0].name=TRADEGRID_ROLES"}, []string{
			"extraEnv[1]: A is there twice; keep one of them", "extraEnv[2]: the chart sets TRADEGRID_DATABASE_URL; use database", "api.extraEnv[0]: the chart sets TRADEGRID_CELL; use cell",
			"relay.extraEnv[0]: the chart sets TRADEGRID_SMTP_URL; use mail.urlSecret", "dispatcher.sets.a.extraEnv[0]: the chart sets TRADEGRID_ROLES; use dispatcher.roles",
		}},
		{"minimal", []string{"serviceAccount.name=tg", "serviceAccount.jobsName=tg"}, []string{`serviceAccount.jobsName: "tg" is that of the roles, too`}},
		{"minimal", []string{"console.pages.url=https://console.example.com"}, []string{"console.pages.url: has no effect without console.enabled"}},
		{"minimal", []string{"files.s3.bucket=files"}, []string{"files.s3: has no effect with files.store database; set files.store to s3"}},
		{"minimal", []string{"metrics.rules.disabled={TradegridOutboxStaled,Nothing}"}, []string{
			`metrics.rules.disabled[0]: there is no alert "TradegridOutboxStaled"; did you mean TradegridOutboxStalled?`, `metrics.rules.disabled[1]: there is no alert "Nothing"; docs/runbooks/README.md lists them`,
		}},
		{"minimal", []string{"files.store=s3"}, []string{"files.s3.endpoint: is required", "files.s3.bucket: is required", "files.s3: give keysSecret.name, or set role to true"}},
		{"full", []string{"files.s3.role=true"}, []string{"files.s3: give keysSecret.name, or set role to true for the role of the pod; one of them, not both"}},
		{"full", []string{"console.pages.ingress.enabled=true"}, []string{"console.pages.ingress: give console.pages.url with https://"}},
		{"minimal", []string{"api.service.externalTrafficPolicy=Local"}, []string{"api.service.externalTrafficPolicy: has no effect with type ClusterIP"}},
		{"minimal", []string{"networkPolicy.relay.extraEgress[0].port=587"}, []string{"at '/networkPolicy/relay/extraEgress/0': additional properties 'port' not allowed"}},
		{"minimal", []string{"readinessProbe.period=3"}, []string{"at '/readinessProbe': additional properties 'period' not allowed"}},
		{"minimal", []string{"mail.from=a@example.com"}, []string{"mail.urlSecret.name: name the Secret with the URL of the mail server"}},
		{"minimal", []string{"image.repository=https://r.example.com/t"}, []string{`image.repository: "https://r.example.com/t" is not a repository: write host and path in lowercase without a scheme`}},
	} {
		values, err := Values(c.file, c.settings...)
		require.NoError(t, err)
		_, err = Render(load(t), values, newest)
		for _, want := range c.want {
			require.ErrorContains(t, err, want, "%v", c.settings)
		}
	}
}

// Whatever has a format is refused with what is wanted, not with a regular expression.
func TestFormatsAreExplained(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"cell=toolong": "cell: \"toolong\" is not a cell: write two lowercase letters or digits, such as c1", "image.tag=a b": "image.tag: \"a b\" is not a tag",
		"database.tls.caSecret.name=A": "database.tls.caSecret.name: \"A\" is not the name of a Kubernetes object", "database.passwordSecret.key=a/b": "database.passwordSecret.key: \"a/b\" is not a key of a Secret",
		"jobs.migrate.database.clientSecret.name=A": "jobs.migrate.database.clientSecret.name", "database.host=db:5432": "database.host: \"db:5432\" is not a host: write a name or an address alone",
		"database.host=https://db": "is not a host", "kafka.brokers[0]=::1:9092": "kafka.brokers[0]: \"::1:9092\" is not host:port", "kafka.session=45": "kafka.session: \"45\" is not a duration: write such as 45s, 5m or 1h30m",
		"kafka.sasl.mechanism=SCRAM": "kafka.sasl.mechanism: \"SCRAM\" is not a SASL mechanism: write plain, scram-sha-256 or scram-sha-512", "telemetry.otlpEndpoint=collector:4317": "telemetry.otlpEndpoint: \"collector:4317\" is not a URL",
		"files.s3.endpoint=https://s3/bucket": "files.s3.endpoint: \"https://s3/bucket\" is not a URL without a path", "console.pages.url=http://console.example.com": "console.pages.url: \"http://console.example.com\" is not where browsers reach the console: write https://",
		"console.pages.traceUrl=https://t": "console.pages.traceUrl: \"https://t\" is not the address of a trace", "console.pages.oidc.issuer=login": "is not an OpenID Connect issuer", "console.pages.oidc.emailDomains[0]=me@example.com": "is not the domain of e-mail addresses",
		"api.ingress.hosts[0]=https://api.example.com": "api.ingress.hosts[0]: \"https://api.example.com\" is not a host name", "api.podDisruptionBudget.maxUnavailable=0%": "is not a percentage",
		"dispatcher.sets.a.keda.prometheus.threshold=many": "dispatcher.sets.a.keda.prometheus.threshold: \"many\" is not a number", "evaluation.kafka.storage=big": "evaluation.kafka.storage: \"big\" is not an amount of memory",
		"jobs.resources.requests.cpu=half": "jobs.resources.requests.cpu: \"half\" is not a quantity", "api.trustedProxies[0]=10.0.0.0/33": "api.trustedProxies[0]: \"10.0.0.0/33\" is not a network", "console.trustedProxies[0]=proxy": "console.trustedProxies[0]: \"proxy\" is not a network",
		"api.service.loadBalancerSourceRanges[0]=192.0.2.1": "api.service.loadBalancerSourceRanges[0]: \"192.0.2.1\" is not a network", "dispatcher.sets.Send.priorityClassName=a": "dispatcher.sets.Send: \"Send\" is not the name of a set",
	} {
		key, value, _ := strings.Cut(setting, "=")
		values, err := Values("minimal")
		require.NoError(t, err)
		require.NoError(t, strvals.ParseIntoString(key+"="+value, values))
		_, err = Render(load(t), values, newest)
		require.ErrorContains(t, err, want, setting)
		require.NotContains(t, err.Error(), "pattern")
	}
}

// A key that Kubernetes does not know is refused wherever it stands: `port` for `ports` would open every port.
func TestNestedKeysAreKnown(t *testing.T) {
	t.Parallel()
	for setting, at := range map[string]string{
		"networkPolicy.extraEgress[0].port=587": "at '/networkPolicy/extraEgress/0': additional properties 'port' not allowed", "networkPolicy.api.from[0].podSelecter.a=b": "/networkPolicy/api/from/0",
		"networkPolicy.database.to[0].ipBlock.exept=x": "/networkPolicy/database/to/0/ipBlock", "extraVolumes[0].confgMap.name=x": "/extraVolumes/0", "api.extraVolumeMounts[0].path=/x": "/api/extraVolumeMounts/0",
		"relay.extraEnv[0].valeu=x": "/relay/extraEnv/0", "extraEnv[0].valueFrom.secretRef.name=x": "/extraEnv/0/valueFrom", "dispatcher.extraEnvFrom[0].secret.name=x": "/dispatcher/extraEnvFrom/0",
		"tolerations[0].operater=Exists": "/tolerations/0", "console.affinity.nodeAfinity.a=b": "/console/affinity", "podSecurityContext.runAsNonRot=true": "/podSecurityContext", "securityContext.privilege=true": "/securityContext",
		"api.autoscaling.behavior.scaledown.a=b": "/api/autoscaling/behavior", "dispatcher.sets.a.autoscaling.lag.metrics=x": "/dispatcher/sets/a/autoscaling/lag", "dispatcher.keda.triggers[0].meta.a=b": "/dispatcher/keda/triggers/0",
		"api.httpRoute.parentRefs[0].section=x": "/api/httpRoute/parentRefs/0", "api.resources.claims[0].nam=x": "/api/resources/claims/0", "imagePullSecrets[0].nme=x": "/imagePullSecrets/0",
	} {
		values, err := Values("minimal", setting)
		require.NoError(t, err)
		_, err = Render(load(t), values, newest)
		require.ErrorContains(t, err, at, setting)
		require.ErrorContains(t, err, "not allowed", setting)
	}
	for setting, want := range map[string]string{
		"networkPolicy.extraEgress=[{}]": "networkPolicy.extraEgress[0]: a rule without to and ports opens everything",
		"networkPolicy.s3.to=[{}]":       "networkPolicy.s3.to[0]: a peer needs podSelector, namespaceSelector or ipBlock",
	} {
		values, err := Values("minimal")
		require.NoError(t, err)
		require.NoError(t, strvals.ParseJSON(setting, values))
		_, err = Render(load(t), values, newest)
		require.ErrorContains(t, err, want, setting)
	}
}

// What people write in another form is understood: names of Secrets as in a pod, mechanisms as Kafka writes them, addresses of IPv6.
func TestOtherFormsAreUnderstood(t *testing.T) {
	t.Parallel()
	r := render(t, "minimal", "imagePullSecrets[0].name=registry", "imagePullSecrets[1]=other", "kafka.sasl.mechanism=SCRAM-SHA-512", "kafka.sasl.username=tg", "kafka.sasl.passwordSecret.name=kafka",
		"database.host=2001:db8::5", "kafka.brokers={[2001:db8::6]:9093}")
	api := find(t, r, "Deployment", "tg-tradegrid-api")
	require.Equal(t, []any{map[string]any{"name": "registry"}, map[string]any{"name": "other"}}, At(pod(api), "spec", "imagePullSecrets"))
	c := env(containers(api)[0])
	require.Equal(t, "scram-sha-512", c["TRADEGRID_KAFKA_SASL"])
	require.Contains(t, c["TRADEGRID_DATABASE_URL"], "@[2001:db8::5]:26257/")
	require.Equal(t, "[2001:db8::6]:9093", c["TRADEGRID_KAFKA_BROKERS"])
	require.True(t, reaches(egress(r, labelsOf(api)), "2001:db8::6", 9093))
	bracketed := render(t, "minimal", "database.host=[2001:db8::5]")
	require.Contains(t, env(containers(find(t, bracketed, "Deployment", "tg-tradegrid-api"))[0])["TRADEGRID_DATABASE_URL"], "@[2001:db8::5]:26257/")
}

// Names and values that look like numbers stay text.
func TestNumbersStayText(t *testing.T) {
	t.Parallel()
	values, err := Values("minimal")
	require.NoError(t, err)
	require.NoError(t, strvals.ParseIntoString("database.passwordSecret.name=20261126,database.tls.clientSecret.name=7,webhooks.keysSecret.name=1e3,telemetry.headersSecret.name=42,telemetry.otlpEndpoint=http://otlp:4318,"+
		"imagePullSecrets[0]=8,priorityClassName=9,serviceAccount.name=10,serviceAccount.jobsName=11,nameOverride=12,fullnameOverride=true", values))
	require.NoError(t, strvals.ParseInto("telemetry.resourceAttributes.build=20261126,telemetry.resourceAttributes.share=0.25,database.parameters.connect_timeout=20261126,console.enabled=true", values))
	require.NoError(t, strvals.ParseIntoString("console.tokensSecret.name=13,metrics.serviceMonitor.enabled=,dispatcher.sets.on.replicas=", values))
	values["metrics"], values["dispatcher"] = map[string]any{"serviceMonitor": map[string]any{"enabled": true}}, map[string]any{"sets": map[string]any{"on": map[string]any{}}}
	r, err := RenderAs(load(t), values, newest, "14")
	require.NoError(t, err)
	v := conformance(t, newest)
	for _, o := range r.Objects {
		conforms(t, v, o)
		names(t, o)
	}
	c := env(containers(find(t, r, "Deployment", "true-api"))[0])
	require.Contains(t, c["OTEL_RESOURCE_ATTRIBUTES"], "build=20261126,")
	require.Contains(t, c["OTEL_RESOURCE_ATTRIBUTES"], "share=0.25")
	require.Contains(t, c["TRADEGRID_DATABASE_URL"], "connect_timeout=20261126")
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
