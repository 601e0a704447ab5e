{{/* The file that each role reads with --config. */}}

{{/* Keys that a running process reloads: a change of these alone restarts no pods. */}}
{{- define "tradegrid.reloadable" -}}
- log-level
- trace-sample
- in-flight
- receiver-in-flight
- host-in-flight
- company-in-flight
- max-in-flight
- max-request-bytes
- max-response-bytes
- shed-outbox-rows
- shed-outbox-age
- shed-disk
- shed-database-size
- shed-kafka-size
- shed-pool-wait
{{- end -}}

{{/* Takes what the pod takes. */}}
{{- define "tradegrid.config" -}}
{{- $values := .root.Values -}}
{{- $config := dict "log-level" $values.logging.level "log-format" $values.logging.format "trace-sample" $values.telemetry.traceSample -}}
{{- /* The process exits by itself, with a message, shortly before Kubernetes would kill it. */ -}}
{{- $_ := set $config "stop-within" (printf "%ds" (sub (int $values.terminationGracePeriodSeconds) (add (int .values.preStopSeconds) 3))) -}}
{{- with $values.telemetry.otlpEndpoint -}}{{- $_ := set $config "otlp-endpoint" . -}}{{- end -}}
{{- if has .component (list "api" "console" "run") -}}
{{- with (ternary $values.console $values.api (eq .component "console")).trustedProxies -}}{{- $_ := set $config "trusted-proxies" . -}}{{- end -}}
{{- end -}}
{{- if and .operators $values.console.pages.oidc.issuer -}}
{{- $oidc := $values.console.pages.oidc -}}
{{- $_ := set $config "oidc-issuer" $oidc.issuer -}}
{{- $_ := set $config "oidc-client-id" $oidc.clientId -}}
{{- with $oidc.emailDomains -}}{{- $_ := set $config "oidc-email-domains" . -}}{{- end -}}
{{- if $oidc.clientSecret.name -}}{{- $_ := set $config "oidc-client-secret-file" "/etc/tradegrid/operators/client-secret" -}}{{- end -}}
{{- end -}}
{{- if include "tradegrid.does" (dict "component" .component "role" "relay") -}}
{{- with $values.mail.from -}}{{- $_ := set $config "mail-from" . -}}{{- end -}}
{{- end -}}
{{- if eq .component "dispatcher" -}}
{{- $_ := set $config "roles" .values.roles -}}
{{- $_ := set $config "static-membership" .values.staticMembership -}}
{{- end -}}
{{- if and $values.evaluation.enabled $values.evaluation.receiver (has .component (list "api" "dispatcher" "run")) -}}
{{- $_ := set $config "allow-insecure" true -}}
{{- end -}}
{{- range $key, $value := .values.config -}}
{{- $_ := set $config $key $value -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* Changes with every setting that needs new processes. */}}
{{- define "tradegrid.configChecksum" -}}
{{- $config := include "tradegrid.config" . | fromYaml -}}
{{- range include "tradegrid.reloadable" .root | fromYamlArray -}}
{{- $config = omit $config . -}}
{{- end -}}
{{- toJson $config | sha256sum -}}
{{- end -}}

{{/* 90 % of a memory limit, in the form of GOMEMLIMIT. */}}
{{- define "tradegrid.memoryLimit" -}}
{{- $text := ternary . (printf "%.0f" (float64 .)) (kindIs "string" .) -}}
{{- $number := regexFind "^[0-9.]+" $text -}}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- $unit := get $units (trimPrefix $number $text) -}}
{{- printf "%dMiB" (divf (mulf (float64 $number) $unit 0.9) 1048576 | floor | int64) -}}
{{- end -}}
