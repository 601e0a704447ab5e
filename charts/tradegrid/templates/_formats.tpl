{{/*
Values that have a format. The schema's own messages would show a regular expression; these say what is wanted. Each format
has a pattern, what to write, and the paths of its values: `[]` is each item of a list, `*` each key of a map. Empty values
pass, except with `required`.
*/}}
{{- define "tradegrid.formats" -}}
- want: "a cell: write two lowercase letters or digits, such as c1"
  pattern: '^[a-z0-9]{2}$'
  required: true
  paths: [cell]
- want: "a tag: write letters, digits, _, . and -, such as 1.2.3"
  pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$'
  paths: [image.tag]
- want: "a digest: write sha256: and 64 hexadecimal digits in lowercase"
  pattern: '^sha256:[0-9a-f]{64}$'
  paths: [image.digest]
- want: "the name of a Kubernetes object: write lowercase letters, digits, - and ., such as my-secret"
  pattern: '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$'
  paths:
    - database.urlSecret.name
    - database.passwordSecret.name
    - database.tls.*.name
    - kafka.tls.*.name
    - kafka.sasl.passwordSecret.name
    - webhooks.keysSecret.name
    - files.s3.keysSecret.name
    - mail.urlSecret.name
    - telemetry.headersSecret.name
    - console.tokensSecret.name
    - console.pages.oidc.clientSecret.name
    - jobs.migrate.database.*.name
    - jobs.topics.kafka.*.name
    - serviceAccount.name
    - serviceAccount.jobsName
    - api.ingress.className
    - console.pages.ingress.className
    - console.pages.ingress.tls[].secretName
    - api.ingress.tls[].secretName
    - evaluation.*.storageClassName
- want: "a key of a Secret: write letters, digits, ., _ and -"
  pattern: '^[A-Za-z0-9._-]+$'
  required: true
  paths:
    - database.urlSecret.key
    - database.passwordSecret.key
    - database.tls.caSecret.key
    - database.tls.clientSecret.certKey
    - database.tls.clientSecret.keyKey
    - kafka.tls.caSecret.key
    - kafka.tls.clientSecret.certKey
    - kafka.tls.clientSecret.keyKey
    - kafka.sasl.passwordSecret.key
    - webhooks.keysSecret.key
    - files.s3.keysSecret.accessKey
    - files.s3.keysSecret.secretKey
    - mail.urlSecret.key
    - telemetry.headersSecret.key
    - console.tokensSecret.key
    - console.pages.oidc.clientSecret.key
    - jobs.migrate.database.*.key
    - jobs.topics.kafka.*.key
- want: "a host: write a name or an address alone, such as cockroachdb-public.database or 2001:db8::5; the port is database.port"
  pattern: '{{ include "tradegrid.hostPattern" . }}'
  paths: [database.host]
- want: "host:port: write such as kafka-0.kafka:9092, or [2001:db8::5]:9092"
  pattern: '^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\]):[0-9]{1,5}$'
  required: true
  paths: ["kafka.brokers[]"]
- want: "a SASL mechanism: write plain, scram-sha-256 or scram-sha-512, or leave it empty"
  pattern: '^(?i:plain|scram-sha-256|scram-sha-512)$'
  paths: [kafka.sasl.mechanism]
- want: "a duration: write such as 45s, 5m or 1h30m"
  pattern: '^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$'
  required: true
  paths: [kafka.session, api.httpRoute.timeout, metrics.interval]
- want: "a duration: write such as 22h, 36h or 720h"
  pattern: '^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$'
  paths: [policy.deliveryTtl, policy.eventRetention]
- want: "a URL: write http:// or https://, host and port, such as http://otel-collector.observability:4318"
  pattern: '^https?://[^\s/]+(/\S*)?$'
  paths: [telemetry.otlpEndpoint, "{dispatcher}.keda.prometheus.serverAddress"]
- want: "a URL without a path: write such as https://s3.eu-central-1.amazonaws.com"
  pattern: '^https?://[^\s/@?#]+/?$'
  paths: [files.s3.endpoint]
- want: "where browsers reach the console: write https:// and the host, such as https://console.example.com; http:// only for localhost"
  pattern: '^(https://[A-Za-z0-9.-]+|https://\[[0-9A-Fa-f:.]+\]|http://(localhost|127\.[0-9.]+|\[::1\]))(:[0-9]{1,5})?$'
  paths: [console.pages.url]
- want: "the address of a trace: write a URL with {traceId} in it, such as https://traces.example.com/trace/{traceId}"
  pattern: '^https?://\S*\{traceId\}\S*$'
  paths: [console.pages.traceUrl]
- want: "an OpenID Connect issuer: write https:// and what the provider calls itself, such as https://login.example.com"
  pattern: '^https://[^\s?#]+$'
  paths: [console.pages.oidc.issuer]
- want: "the domain of e-mail addresses: write such as example.com"
  pattern: '^@?([a-zA-Z0-9-]+\.)+[a-zA-Z0-9-]+$'
  paths: ["console.pages.oidc.emailDomains[]"]
- want: "a host name: write lowercase letters, digits, - and ., such as api.example.com or *.example.com"
  pattern: '^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$'
  required: true
  paths: ["api.ingress.hosts[]", "api.httpRoute.hostnames[]"]
- want: "a number: write such as 1000"
  pattern: '^[0-9]+(\.[0-9]+)?$'
  paths: ["{dispatcher}.keda.prometheus.threshold"]
- want: "a percentage: write such as 25%, or a number of pods without quotes"
  pattern: '^([1-9][0-9]?|100)%$'
  paths: ["{role}.podDisruptionBudget.maxUnavailable"]
- want: "an amount of memory: write bytes, such as 256Mi or 1Gi"
  pattern: '^[0-9]+(\.[0-9]+)?(k|M|G|T|Ki|Mi|Gi|Ti)?$'
  paths: ["{resources}.requests.memory", "{resources}.limits.memory", evaluation.*.storage]
- want: "a quantity: write such as 500m, 2 or 10Gi"
  pattern: '^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$'
  paths: ["{resources}.requests.*", "{resources}.limits.*", "{dispatcher}.autoscaling.lag.averageValue"]
{{- end -}}

{{/* A host name, an IPv4 address, or an IPv6 address with or without brackets. */}}
{{- define "tradegrid.hostPattern" -}}
^([A-Za-z0-9._-]+|\[?[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\]?)$
{{- end -}}

{{- define "tradegrid.checkFormats" -}}
{{- $groups := dict
  "{role}" (list "api" "relay" "dispatcher" "dispatcher.sets.*" "console" "run")
  "{dispatcher}" (list "dispatcher" "dispatcher.sets.*")
  "{resources}" (list "api.resources" "relay.resources" "dispatcher.resources" "dispatcher.sets.*.resources" "console.resources" "jobs.resources" "jobs.check.resources"
    "evaluation.resources" "evaluation.cockroach.resources" "evaluation.kafka.resources") -}}
{{- $faults := list -}}
{{- range $format := include "tradegrid.formats" . | fromYamlArray -}}
{{- $paths := list -}}
{{- range $path := $format.paths -}}
{{- $group := regexFind "^[{][a-z]+[}]" $path -}}
{{- range $member := ternary (get $groups $group) (list "") (ne $group "") -}}
{{- $paths = append $paths (printf "%s%s" $member (trimPrefix $group $path)) -}}
{{- end -}}
{{- end -}}
{{- range include "tradegrid.at" (dict "values" $.Values "paths" $paths) | fromJsonArray -}}
{{- if and (kindIs "string" .value) (or .value $format.required) (not (regexMatch $format.pattern .value)) -}}
{{- $faults = append $faults (printf "%s: %q is not %s" .at .value $format.want) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toYaml (uniq $faults) -}}
{{- end -}}

{{/* The values at paths, as JSON: each has `at`, its path as a user writes it, and `value`. Takes values and paths. */}}
{{- define "tradegrid.at" -}}
{{- $all := list -}}
{{- range .paths -}}
{{- $found := list (dict "at" "" "value" $.values) -}}
{{- range splitList "." . -}}
{{- $many := hasSuffix "[]" . -}}
{{- $key := trimSuffix "[]" . -}}
{{- $next := list -}}
{{- range $parent := $found -}}
{{- if kindIs "map" $parent.value -}}
{{- range $name := ternary (keys $parent.value | sortAlpha) (list $key) (eq $key "*") -}}
{{- $at := printf "%s.%s" $parent.at $name | trimPrefix "." -}}
{{- $value := get $parent.value $name -}}
{{- if and $many (kindIs "slice" $value) -}}
{{- range $i, $item := $value -}}{{- $next = append $next (dict "at" (printf "%s[%d]" $at $i) "value" $item) -}}{{- end -}}
{{- else if and (not $many) (hasKey $parent.value $name) -}}
{{- $next = append $next (dict "at" $at "value" $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $found = $next -}}
{{- end -}}
{{- $all = concat $all $found -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}
