{{/*
What the schema cannot express, or not in a clear sentence. The error lists all faults. `helm lint` only warns of them,
so that it accepts the chart without values.
*/}}
{{- define "tradegrid.check" -}}
{{- $faults := concat (include "tradegrid.checkNames" . | fromYamlArray) (include "tradegrid.checkFormats" . | fromYamlArray)
  (include "tradegrid.checkImage" . | fromYamlArray) (include "tradegrid.checkBackends" . | fromYamlArray) (include "tradegrid.checkJobs" . | fromYamlArray)
  (include "tradegrid.checkRoles" . | fromYamlArray) (include "tradegrid.checkEnv" . | fromYamlArray)
  (include "tradegrid.checkNetworks" . | fromYamlArray) (include "tradegrid.checkCluster" . | fromYamlArray) -}}
{{- if $faults -}}
{{- fail (printf "\n\nThese values cannot work:\n  - %s\n" (join "\n  - " $faults)) -}}
{{- end -}}
{{- end -}}

{{/* The name of a release may have dots and start with a digit; that of a Service may not. */}}
{{- define "tradegrid.checkNames" -}}
{{- $faults := list -}}
{{- $name := include "tradegrid.fullname" . -}}
{{- if not (regexMatch "^[a-z]([a-z0-9-]*[a-z0-9])?$" $name) -}}
{{- $fault := printf "\"%s-api\" is not a valid name of a Service: use only lowercase letters, digits and dashes, and start with a letter" $name -}}
{{- if .Values.fullnameOverride -}}
{{- $faults = append $faults (printf "fullnameOverride: %s" $fault) -}}
{{- else -}}
{{- $faults = append $faults (printf "release name %q: %s; choose another release name, or set fullnameOverride" .Release.Name $fault) -}}
{{- end -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end -}}

{{/* A tag or digest in the repository would come twice. */}}
{{- define "tradegrid.checkImage" -}}
{{- $faults := list -}}
{{- $repository := default "" .Values.image.repository -}}
{{- $image := regexReplaceAll "^https?://" $repository "" | splitList "@" | first -}}
{{- $tag := regexFind ":[^:/]*$" $image -}}
{{- $name := trimSuffix $tag $image -}}
{{- if not $repository -}}
{{- $faults = append $faults "image.repository: name the image that you built and pushed, such as registry.example.com/tradegrid" -}}
{{- else if contains "@" $repository -}}
{{- $faults = append $faults (printf "image.repository: %q has a digest; write image.repository: %s and image.digest: %q" $repository $name (splitList "@" $repository | last)) -}}
{{- else if $tag -}}
{{- $faults = append $faults (printf "image.repository: %q has a tag; write image.repository: %s and image.tag: %q" $repository $name (trimPrefix ":" $tag)) -}}
{{- else if not (regexMatch "^[A-Za-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*$" $repository) -}}
{{- $faults = append $faults (printf "image.repository: %q is not a repository: write host and path in lowercase without a scheme, such as registry.example.com/tradegrid" $repository) -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end -}}

{{- define "tradegrid.checkNetworks" -}}
{{- $faults := list -}}
{{- range include "tradegrid.at" (dict "values" $.Values "paths" (list "networkPolicy.receivers.cidrs[]" "networkPolicy.receivers.except[]"
  "api.service.loadBalancerSourceRanges[]" "api.trustedProxies[]" "console.trustedProxies[]")) | fromJsonArray -}}
{{- $text := .value -}}
{{- if and (contains "trustedProxies" .at) (not (contains "/" $text)) -}}{{- $text = printf "%s/%d" $text (ternary 128 32 (contains ":" $text)) -}}{{- end -}}
{{- if not (include "tradegrid.isCIDR" $text) -}}
{{- $faults = append $faults (printf "%s: %q is not a network; use CIDR notation, such as 203.0.113.0/24 or 2001:db8::/32" .at .value) -}}
{{- end -}}
{{- end -}}
{{- range include "tradegrid.at" (dict "values" $.Values "paths" (list "networkPolicy.extraEgress[]" "networkPolicy.*.extraEgress[]")) | fromJsonArray -}}
{{- if not (or .value.to .value.ports) -}}
{{- $faults = append $faults (printf "%s: a rule without to and ports opens everything; name peers or ports, or set networkPolicy.enabled to false" .at) -}}
{{- end -}}
{{- end -}}
{{- range include "tradegrid.at" (dict "values" $.Values.networkPolicy "paths" (list "*.from[]" "*.to[]" "extraEgress[].to[]" "*.extraEgress[].to[]")) | fromJsonArray -}}
{{- if not .value -}}
{{- $faults = append $faults (printf "networkPolicy.%s: a peer needs podSelector, namespaceSelector or ipBlock" .at) -}}
{{- end -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end -}}

{{- define "tradegrid.checkBackends" -}}
{{- $faults := list -}}
{{- $v := .Values -}}
{{- if $v.evaluation.enabled -}}
{{- if or $v.database.host $v.database.urlSecret.name -}}
{{- $faults = append $faults "evaluation.enabled brings its own database: leave database.host and database.urlSecret.name empty, or set evaluation.enabled to false" -}}
{{- end -}}
{{- if $v.kafka.brokers -}}
{{- $faults = append $faults "evaluation.enabled brings its own broker: leave kafka.brokers empty, or set evaluation.enabled to false" -}}
{{- end -}}
{{- else -}}
{{- if and (not $v.database.host) (not $v.database.urlSecret.name) -}}
{{- $faults = append $faults "database: give host (with user and passwordSecret), or urlSecret.name; or set evaluation.enabled to try things out" -}}
{{- end -}}
{{- if and $v.database.host $v.database.urlSecret.name -}}
{{- $faults = append $faults "database: give host or urlSecret.name, not both" -}}
{{- end -}}
{{- if and $v.database.passwordSecret.name $v.database.urlSecret.name -}}
{{- $faults = append $faults "database.passwordSecret.name: leave it empty with urlSecret, whose URL holds the password" -}}
{{- end -}}
{{- range $parameter, $key := dict "sslmode" "database.sslmode" "sslrootcert" "database.tls.caSecret" "sslcert" "database.tls.clientSecret" "sslkey" "database.tls.clientSecret" "user" "database.user" "password" "database.passwordSecret" -}}
{{- if hasKey $v.database.parameters $parameter -}}
{{- $faults = append $faults (printf "database.parameters.%s: the chart sets it; use %s" $parameter $key) -}}
{{- end -}}
{{- end -}}
{{- if not $v.webhooks.keysSecret.name -}}
{{- $faults = append $faults "webhooks.keysSecret.name: name the Secret with the keys that encrypt webhook secrets; step 2 of docs/kubernetes.md makes one" -}}
{{- end -}}
{{- if not $v.kafka.brokers -}}
{{- $faults = append $faults "kafka.brokers: give at least one broker as host:port; or set evaluation.enabled to try things out" -}}
{{- end -}}
{{- end -}}
{{- if eq $v.files.store "s3" -}}
{{- range $key, $value := dict "endpoint" $v.files.s3.endpoint "bucket" $v.files.s3.bucket -}}
{{- if not $value -}}
{{- $faults = append $faults (printf "files.s3.%s: is required with files.store s3" $key) -}}
{{- end -}}
{{- end -}}
{{- if eq (empty $v.files.s3.keysSecret.name) (not $v.files.s3.role) -}}
{{- $faults = append $faults "files.s3: give keysSecret.name, or set role to true for the role of the pod; one of them, not both" -}}
{{- end -}}
{{- end -}}
{{- if and (ne $v.files.store "s3") (or $v.files.s3.endpoint $v.files.s3.bucket $v.files.s3.keysSecret.name $v.files.s3.role) -}}
{{- $faults = append $faults "files.s3: has no effect with files.store database; set files.store to s3, or leave endpoint, bucket and keysSecret empty" -}}
{{- end -}}
{{- if and (not $v.kafka.tls.enabled) (or $v.kafka.tls.caSecret.name $v.kafka.tls.clientSecret.name $v.jobs.topics.kafka.clientSecret.name) -}}
{{- $faults = append $faults "kafka.tls.enabled: must be true when certificates are set" -}}
{{- end -}}
{{- if and (not $v.kafka.sasl.mechanism) (or $v.kafka.sasl.username $v.kafka.sasl.passwordSecret.name $v.jobs.topics.kafka.username $v.jobs.topics.kafka.passwordSecret.name) -}}
{{- $faults = append $faults "kafka.sasl.mechanism: set it, for example to scram-sha-512, when username or password is set" -}}
{{- end -}}
{{- if and $v.mail.urlSecret.name (not $v.mail.from) -}}
{{- $faults = append $faults "mail.from: give the address that mails come from, such as Tradegrid <tradegrid@example.com>" -}}
{{- end -}}
{{- if and $v.mail.from (not $v.mail.urlSecret.name) -}}
{{- $faults = append $faults "mail.urlSecret.name: name the Secret with the URL of the mail server; without it mail.from has no effect" -}}
{{- end -}}
{{- if and $v.kafka.sasl.mechanism (not (and $v.kafka.sasl.username $v.kafka.sasl.passwordSecret.name)) -}}
{{- $faults = append $faults "kafka.sasl: with mechanism, give username and passwordSecret.name, too" -}}
{{- end -}}
{{- if and $v.api.ingress.enabled (not $v.api.ingress.hosts) -}}
{{- $faults = append $faults "api.ingress.hosts: give at least one host name, such as api.example.com" -}}
{{- end -}}
{{- if and $v.console.pages.ingress.enabled (not (hasPrefix "https://" (default "" $v.console.pages.url))) -}}
{{- $faults = append $faults "console.pages.ingress: give console.pages.url with https://, whose host the Ingress leads to the console" -}}
{{- end -}}
{{- if and $v.api.service.externalTrafficPolicy (eq $v.api.service.type "ClusterIP") -}}
{{- $faults = append $faults "api.service.externalTrafficPolicy: has no effect with type ClusterIP; set type to LoadBalancer or NodePort, or leave it empty" -}}
{{- end -}}
{{- if and $v.api.httpRoute.enabled (not $v.api.httpRoute.parentRefs) -}}
{{- $faults = append $faults "api.httpRoute.parentRefs: name at least one Gateway, as {name: public, namespace: gateways}" -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end -}}

{{- define "tradegrid.checkJobs" -}}
{{- $faults := list -}}
{{- $mode := include "tradegrid.jobsMode" . -}}
{{- $own := .Values.jobs.migrate.database -}}
{{- $topics := .Values.jobs.topics.kafka -}}
{{- if and (eq $mode "hook") .Values.evaluation.enabled -}}
{{- $faults = append $faults "jobs.mode: hooks run before the database of the evaluation exists; use init or auto" -}}
{{- end -}}
{{- if and (ne $mode "hook") (or $own.user $own.urlSecret.name $own.passwordSecret.name $own.clientSecret.name $topics.username $topics.passwordSecret.name $topics.clientSecret.name) -}}
{{- $faults = append $faults (printf "jobs.migrate.database, jobs.topics.kafka: separate credentials need jobs.mode hook, not %s" $mode) -}}
{{- end -}}
{{- if and .Values.database.urlSecret.name (not $own.urlSecret.name) (or $own.user $own.passwordSecret.name) -}}
{{- $faults = append $faults "jobs.migrate.database: the roles use a urlSecret; set jobs.migrate.database.urlSecret too, not user and passwordSecret" -}}
{{- end -}}
{{- if and .Values.serviceAccount.create (eq $mode "hook") (eq (include "tradegrid.serviceAccountName" .) (include "tradegrid.jobsServiceAccountName" .)) -}}
{{- $faults = append $faults (printf "serviceAccount.jobsName: %q is that of the roles, too; the Jobs need one that exists before the roles: give it another name" (include "tradegrid.jobsServiceAccountName" .)) -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end -}}

{{/* The names of all alerts, as JSON. */}}
{{- define "tradegrid.alerts" -}}
{{- $alerts := list -}}
{{- range $path, $_ := .Files.Glob "rules/*.yaml" -}}
{{- range ($.Files.Get $path | fromYaml).groups -}}
{{- range .rules -}}{{- with .alert -}}{{- $alerts = append $alerts . -}}{{- end -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $alerts -}}
{{- end -}}

{{/* A helm binary that was built without its release flags assumes v1.20.0 when it renders without a cluster. */}}
{{- define "tradegrid.checkCluster" -}}
{{- $faults := list -}}
{{- $version := .Capabilities.KubeVersion.Version -}}
{{- if and (semverCompare "<1.30.0-0" $version) (ne $version "v1.20.0") -}}
{{- $faults = append $faults (printf "Kubernetes %s: 1.30 or newer is needed, for preStop hooks that sleep" $version) -}}
{{- end -}}
{{- if and .Values.metrics.podMonitor.enabled .Values.metrics.serviceMonitor.enabled -}}
{{- $faults = append $faults "metrics: enable podMonitor or serviceMonitor, not both: every pod would be counted twice" -}}
{{- end -}}
{{- range $i, $name := .Values.metrics.rules.disabled -}}
{{- $alerts := include "tradegrid.alerts" $ | fromJsonArray -}}
{{- if not (has $name $alerts) -}}
{{- $hint := include "tradegrid.nearest" (dict "word" $name "words" $alerts) -}}
{{- $faults = append $faults (printf "metrics.rules.disabled[%d]: there is no alert %q; %s" $i $name (ternary (printf "did you mean %s?" $hint) "docs/runbooks/README.md lists them" (ne $hint ""))) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.telemetry.headersSecret.name (not .Values.telemetry.otlpEndpoint) -}}
{{- $faults = append $faults "telemetry.otlpEndpoint: must be set when telemetry.headersSecret is" -}}
{{- end -}}
{{- toYaml $faults -}}
{{- end -}}
