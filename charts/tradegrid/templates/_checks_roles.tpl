{{/* Roles: their flags, their variables, and what scales them. */}}

{{- define "tradegrid.checkRoles" -}}
{{- $faults := list -}}
{{- $done := list -}}
{{- $sets := include "tradegrid.dispatcherSets" . | fromJson -}}
{{- range $set, $values := $sets -}}
{{- $key := ternary (printf "dispatcher.sets.%s" $set) "dispatcher" (ne $set "") -}}
{{- $done = concat $done $values.roles -}}
{{- if not (or (eq $set "") (regexMatch "^[a-z][a-z0-9]{0,9}$" $set)) -}}
{{- $faults = append $faults (printf "%s: %q is not the name of a set: write up to 10 lowercase letters and digits, a letter first" $key $set) -}}
{{- end -}}
{{- if and $values.autoscaling.enabled $values.keda.enabled -}}
{{- $faults = append $faults (printf "%s: enable autoscaling or keda, not both: they would work against each other" $key) -}}
{{- end -}}
{{- if and $values.autoscaling.enabled (not $values.autoscaling.cpu) (not $values.autoscaling.lag.enabled) -}}
{{- $faults = append $faults (printf "%s.autoscaling: scale on cpu, on lag, or both" $key) -}}
{{- end -}}
{{- if and $values.keda.enabled (not $values.keda.prometheus.serverAddress) (not $values.keda.triggers) -}}
{{- $faults = append $faults (printf "%s.keda: give prometheus.serverAddress or triggers" $key) -}}
{{- end -}}
{{- $faults = concat $faults (include "tradegrid.checkRole" (dict "root" $ "key" $key "component" "dispatcher" "values" $values) | fromYamlArray) -}}
{{- end -}}
{{- range list "router" "sender" "delay" "sweeper" -}}
{{- if not (has . $done) -}}
{{- $faults = append $faults (printf "dispatcher: no pod has the role %s; add it to dispatcher.roles, or to the roles of one of dispatcher.sets" .) -}}
{{- end -}}
{{- end -}}
{{- if .Values.console.enabled -}}
{{- if not .Values.console.tokensSecret.name -}}
{{- $faults = append $faults "console.tokensSecret.name: name the Secret with the tokens of operators, one per line as name:role:hash; docs/kubernetes.md makes one" -}}
{{- end -}}
{{- with .Values.console.pages.oidc -}}
{{- if and .issuer (not .clientId) -}}
{{- $faults = append $faults "console.pages.oidc.clientId: give the id that the console has at the provider" -}}
{{- end -}}
{{- if and .issuer (not $.Values.console.pages.url) -}}
{{- $faults = append $faults "console.pages.oidc.issuer: give console.pages.url, too: the provider sends people back there" -}}
{{- end -}}
{{- end -}}
{{- $faults = concat $faults (include "tradegrid.checkRole" (dict "root" $ "key" "console" "component" "console" "values" .Values.console) | fromYamlArray) -}}
{{- else if .Values.console.pages.url -}}
{{- $faults = append $faults "console.pages.url: has no effect without console.enabled; set that to true, or leave the URL empty" -}}
{{- end -}}
{{- range list "api" "relay" "run" -}}
{{- $faults = concat $faults (include "tradegrid.checkRole" (dict "root" $ "key" . "component" . "values" (get $.Values .)) | fromYamlArray) -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end -}}

{{/* Takes root, key (as the user writes it), component and values. */}}
{{- define "tradegrid.checkRole" -}}
{{- $faults := list -}}
{{- $key := .key -}}
{{- $taken := include "tradegrid.taken" . | fromJson -}}
{{- range $flag, $_ := .values.config -}}
{{- $flags := $.root.Files.Get "flags.yaml" | fromYaml -}}
{{- $own := get $flags $.component -}}
{{- if hasKey $taken $flag -}}
{{- $faults = append $faults (printf "%s.config.%s: the chart sets it; use %s" $key $flag (get $taken $flag)) -}}
{{- else if not (has $flag $own) -}}
{{- $others := list -}}
{{- range $role, $known := omit $flags "run" -}}{{- if has $flag $known -}}{{- $others = append $others $role -}}{{- end -}}{{- end -}}
{{- $hint := include "tradegrid.nearest" (dict "word" $flag "words" $own) -}}
{{- if $others -}}{{- $hint = printf "%s has it" (join " or " $others) -}}
{{- else if $hint -}}{{- $hint = printf "did you mean %s?" $hint -}}
{{- else -}}{{- $hint = "docs/configuration.md lists its flags" -}}{{- end -}}
{{- $faults = append $faults (printf "%s.config.%s: tradegrid %s has no such flag; %s" $key $flag $.component $hint) -}}
{{- end -}}
{{- end -}}
{{- range $kind := list "autoscaling" "keda" -}}
{{- $scale := get $.values $kind -}}
{{- if and $scale $scale.enabled (gt (int $scale.minReplicas) (int $scale.maxReplicas)) -}}
{{- $faults = append $faults (printf "%s.%s: minReplicas %d is above maxReplicas %d" $key $kind (int $scale.minReplicas) (int $scale.maxReplicas)) -}}
{{- end -}}
{{- end -}}
{{- with .values.autoscaling -}}
{{- $cpu := or (get (default dict $.values.resources.requests) "cpu") (get (default dict $.values.resources.limits) "cpu") -}}
{{- if and .enabled (int .cpu) (not $cpu) -}}
{{- $faults = append $faults (printf "%s.autoscaling.cpu: a share of the request for CPU needs one; set %s.resources.requests.cpu" $key $key) -}}
{{- end -}}
{{- end -}}
{{- $needed := add (int .values.preStopSeconds) 35 -}}
{{- $grace := int .root.Values.terminationGracePeriodSeconds -}}
{{- if lt $grace (int $needed) -}}
{{- $faults = append $faults (printf "terminationGracePeriodSeconds: %d is too short for %s; preStopSeconds, 25 s to drain and a margin of 10 s need %d" $grace $key $needed) -}}
{{- end -}}
{{- if .root.Values.evaluation.enabled -}}
{{- if or ((.values.autoscaling).enabled) ((.values.keda).enabled) -}}
{{- $faults = append $faults (printf "%s: evaluation runs one pod of each role; leave autoscaling and keda off" $key) -}}
{{- end -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end -}}

{{/* What the chart sets by itself, by flag, with the value to use instead. Takes key and component. */}}
{{- define "tradegrid.taken" -}}
{{- $taken := dict
  "log-level" "logging.level" "log-format" "logging.format" "otlp-endpoint" "telemetry.otlpEndpoint" "trace-sample" "telemetry.traceSample"
  "listen" "api.service" "ops-listen" "port 9090, which probes use" "stop-within" "terminationGracePeriodSeconds and preStopSeconds" "config" (printf "%s.config" .key)
  "database-url" "database" "database-url-file" "database.urlSecret" "database-password-file" "database.passwordSecret" "database-savepoint" "database.savepoint"
  "kafka-brokers" "kafka.brokers" "kafka-tls" "kafka.tls.enabled" "kafka-ca-file" "kafka.tls.caSecret" "kafka-cert-file" "kafka.tls.clientSecret"
  "kafka-key-file" "kafka.tls.clientSecret" "kafka-sasl" "kafka.sasl.mechanism" "kafka-username" "kafka.sasl.username"
  "kafka-password-file" "kafka.sasl.passwordSecret" "kafka-session" "kafka.session" "secret-keys-file" "webhooks.keysSecret"
  "max-attempts" "policy.maxAttempts" "delivery-ttl" "policy.deliveryTtl" "event-retention" "policy.eventRetention" -}}
{{- if include "tradegrid.does" (dict "component" .component "role" "console") -}}
{{- $_ := set $taken "trusted-proxies" "console.trustedProxies" -}}
{{- end -}}
{{- if include "tradegrid.does" (dict "component" .component "role" "api") -}}
{{- $_ := set $taken "trusted-proxies" "api.trustedProxies" -}}
{{- $_ := set $taken "file-store" "files.store" -}}
{{- range $flag, $value := dict "s3-endpoint" "endpoint" "s3-bucket" "bucket" "s3-region" "region" "s3-path-style" "pathStyle" "s3-role" "role" "s3-access-key-file" "keysSecret" "s3-secret-key-file" "keysSecret" -}}
{{- $_ := set $taken $flag (printf "files.s3.%s" $value) -}}
{{- end -}}
{{- end -}}
{{- if include "tradegrid.does" (dict "component" .component "role" "relay") -}}
{{- $_ := set $taken "smtp-url" "mail.urlSecret: it may hold a password, which would stand in a ConfigMap" -}}
{{- $_ := set $taken "smtp-url-file" "mail.urlSecret" -}}
{{- $_ := set $taken "mail-from" "mail.from" -}}
{{- end -}}
{{- if include "tradegrid.does" (dict "component" .component "role" "console") -}}
{{- $_ := set $taken "cell" "cell" -}}
{{- $_ := set $taken "admin-listen" "console.service" -}}
{{- $_ := set $taken "admin-tokens-file" "console.tokensSecret" -}}
{{- $_ := set $taken "console-listen" "console.pages" -}}
{{- $_ := set $taken "console-url" "console.pages.url" -}}
{{- range $flag, $value := dict "oidc-issuer" "issuer" "oidc-client-id" "clientId" "oidc-client-secret-file" "clientSecret" "oidc-email-domains" "emailDomains" -}}
{{- $_ := set $taken $flag (printf "console.pages.oidc.%s" $value) -}}
{{- end -}}
{{- $_ := set $taken "console-trace-url" "console.pages.traceUrl" -}}
{{- end -}}
{{- if eq .component "dispatcher" -}}
{{- $_ := set $taken "roles" "dispatcher.roles" -}}
{{- $_ := set $taken "static-membership" "dispatcher.staticMembership" -}}
{{- end -}}
{{- toJson $taken -}}
{{- end -}}

{{/*
Variables are text, come once, and are not those that the chart sets: the API server refuses a number only after the hooks
ran, and takes one of two values without a word.
*/}}
{{- define "tradegrid.checkEnv" -}}
{{- $faults := list -}}
{{- $all := list "api" "relay" "dispatcher" "console" "run" -}}
{{- $lists := list (dict "key" "extraEnv" "list" .Values.extraEnv "components" $all) (dict "key" "jobs.extraEnv" "list" .Values.jobs.extraEnv "components" (list "relay")) -}}
{{- range $all -}}
{{- $lists = append $lists (dict "key" (printf "%s.extraEnv" .) "list" (get $.Values .).extraEnv "components" (list .)) -}}
{{- end -}}
{{- range $set, $own := .Values.dispatcher.sets -}}
{{- $lists = append $lists (dict "key" (printf "dispatcher.sets.%s.extraEnv" $set) "list" (default dict $own).extraEnv "components" (list "dispatcher")) -}}
{{- end -}}
{{- range $of := $lists -}}
{{- $taken := dict "TRADEGRID_CELL" "cell" "OTEL_RESOURCE_ATTRIBUTES" "telemetry.resourceAttributes" "OTEL_EXPORTER_OTLP_HEADERS" "telemetry.headersSecret" -}}
{{- range $component := $of.components -}}
{{- range $flag, $value := include "tradegrid.taken" (dict "key" $component "component" $component) | fromJson -}}
{{- $_ := set $taken (printf "TRADEGRID_%s" (upper $flag | replace "-" "_")) $value -}}
{{- end -}}
{{- end -}}
{{- $seen := list -}}
{{- range $i, $variable := $of.list -}}
{{- $at := printf "%s[%d]" $of.key $i -}}
{{- if and (hasKey $variable "value") (not (kindIs "invalid" $variable.value)) (not (kindIs "string" $variable.value)) -}}
{{- $faults = append $faults (printf "%s.value: %s is %s, but environment variables are text; put the value in quotes (with --set, use --set-string)" $at $variable.name (toJson $variable.value)) -}}
{{- end -}}
{{- with get $taken $variable.name -}}
{{- $faults = append $faults (printf "%s: the chart sets %s; use %s" $at $variable.name .) -}}
{{- end -}}
{{- if has $variable.name $seen -}}
{{- $faults = append $faults (printf "%s: %s is there twice; keep one of them" $at $variable.name) -}}
{{- end -}}
{{- $seen = append $seen $variable.name -}}
{{- end -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end -}}
