{{/*
The pod of any role or Job. Takes root, component, name (of its ConfigMap), args, values, and
  set        name of the set of pods, if there are several
  database   settings of the database, if the pod uses it
  kafka      settings of Kafka, if the pod uses it
  webhooks   true if the pod handles webhook secrets
  s3         true if the pod reaches the bucket of files
  mail       true if the pod sends mails
  operators  true if the pod checks tokens of operators, and lets people in
  job        true for a Job: no ports, probes, configuration file
  containers  YAML of the containers in place of the one of the role, with volumes, the YAML of theirs, and first, the name of the first
  account    name of the ServiceAccount, if it is not that of the roles or, for a Job, that of the Jobs
*/}}
{{- define "tradegrid.podTemplate" -}}
{{- $v := .root.Values -}}
{{- $own := .values -}}
metadata:
  labels:
    {{- include "tradegrid.selectorLabels" . | nindent 4 }}
    app.kubernetes.io/part-of: tradegrid
    {{- if not .job }}
    tradegrid.io/metrics: "true"
    {{- end }}
    {{- if include "tradegrid.does" (dict "component" .component "role" "api") }}
    tradegrid.io/api: "true"
    {{- end }}
    {{- if or (eq .component "console") (and (eq .component "run") $v.console.enabled) }}
    tradegrid.io/console: "true"
    {{- end }}
    {{- if or (eq .component "run") (and (eq .component "dispatcher") (has "sender" $own.roles)) }}
    tradegrid.io/sender: "true"
    {{- end }}
    {{- with mustMerge (deepCopy (default dict $own.podLabels)) $v.podLabels $v.commonLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    kubectl.kubernetes.io/default-container: {{ default "tradegrid" .first }}
    {{- if not .job }}
    checksum/config: {{ include "tradegrid.configChecksum" . }}
    {{- end }}
    {{- with mustMerge (deepCopy (default dict $own.podAnnotations)) $v.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ default (ternary (include "tradegrid.jobsServiceAccountName" .root) (include "tradegrid.serviceAccountName" .root) (default false .job)) .account | quote }}
  automountServiceAccountToken: false
  enableServiceLinks: false # their variables could start with TRADEGRID_ and be read as flags
  {{- with $v.dnsConfig }}
  dnsConfig:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $v.imagePullSecrets }}
  imagePullSecrets:
    {{- include "tradegrid.pullSecrets" . | nindent 4 }}
  {{- end }}
  {{- if .job }}
  restartPolicy: Never
  {{- else }}
  terminationGracePeriodSeconds: {{ int $v.terminationGracePeriodSeconds }}
  {{- end }}
  securityContext:
    {{- toYaml $v.podSecurityContext | nindent 4 }}
  {{- with default $v.priorityClassName $own.priorityClassName }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  {{- with default $v.nodeSelector $own.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with default $v.tolerations $own.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with default $v.affinity $own.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- range . }}
    - {{ toYaml . | nindent 6 | trim }}
      labelSelector:
        matchLabels:
          {{- include "tradegrid.selectorLabels" $ | nindent 10 }}
    {{- end }}
  {{- end }}
  {{- if and (not .job) (eq (include "tradegrid.jobsMode" .root) "init") }}
  initContainers:
    {{- if $v.jobs.check.enabled }}
    - name: check
      {{- include "tradegrid.checkContainer" . | nindent 6 }}
    {{- end }}
    {{- if $v.jobs.migrate.enabled }}
    - name: migrate
      args: [migrate, --log-format={{ $v.logging.format }}]
      {{- include "tradegrid.container" (merge (dict "values" (merge (dict "resources" $v.jobs.resources) $own) "job" true) .) | nindent 6 }}
    {{- end }}
    {{- if and $v.jobs.topics.enabled .kafka }}
    - name: topics
      args:
        {{- include "tradegrid.topicsArgs" .root | nindent 8 }}
      {{- include "tradegrid.container" (merge (dict "values" (merge (dict "resources" $v.jobs.resources) $own) "job" true) .) | nindent 6 }}
    {{- end }}
  {{- end }}
  containers:
    {{- if .containers }}
    {{- .containers | nindent 4 }}
    {{- else }}
    - name: tradegrid
      args:
        {{- toYaml .args | nindent 8 }}
      {{- include "tradegrid.container" . | nindent 6 }}
      {{- if not .job }}
      ports:
        {{- if include "tradegrid.does" (dict "component" .component "role" "api") }}
        - {name: http, containerPort: 8080, protocol: TCP}
        {{- end }}
        {{- if .operators }}
        - {name: {{ ternary "admin" "http" (eq .component "run") }}, containerPort: 8081, protocol: TCP}
        {{- if .root.Values.console.pages.url }}
        - {name: pages, containerPort: 8084, protocol: TCP}
        {{- end }}
        {{- end }}
        - {name: ops, containerPort: 9090, protocol: TCP}
      {{- /* An API that shares its pod with a dispatcher takes requests while that one has no brokers. */}}
      {{- range $probe, $path := dict "startupProbe" "/livez" "livenessProbe" "/livez" "readinessProbe" (ternary "/readyz?role=api" "/readyz" (eq .component "run")) }}
      {{ $probe }}: {{ merge (dict "httpGet" (dict "path" $path "port" "ops")) (default dict (get $own $probe)) (get $v $probe) | toJson }}
      {{- end }}
      {{- with int $own.preStopSeconds }}
      lifecycle:
        preStop:
          sleep: {seconds: {{ . }}}
      {{- end }}
      {{- end }}
    {{- with $own.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- end }}
  volumes:
    {{- default (include "tradegrid.volumes" . | trim | default "[]") .volumes | nindent 4 }}
{{- end -}}

{{/* Image, environment, mounts, resources and security context of a container or init container. */}}
{{- define "tradegrid.container" -}}
{{- $v := .root.Values -}}
{{- $own := .values -}}
{{- $resources := ternary $v.evaluation.resources $own.resources $v.evaluation.enabled -}}
image: {{ include "tradegrid.image" .root | quote }}
imagePullPolicy: {{ $v.image.pullPolicy }}
env:
  {{- with .database }}
  {{- include "tradegrid.databaseEnv" (dict "root" $.root "database" .) | nindent 2 }}
  {{- end }}
  {{- with .kafka }}
  {{- include "tradegrid.kafkaEnv" (dict "root" $.root "kafka" .) | nindent 2 }}
  {{- end }}
  {{- if and .webhooks (not .job) }}
  - {name: TRADEGRID_SECRET_KEYS_FILE, value: /etc/tradegrid/webhooks/keys}
  {{- end }}
  {{- if .s3 }}
  {{- include "tradegrid.s3Env" .root | nindent 2 }}
  {{- end }}
  {{- if and .mail (not .job) }}
  - {name: TRADEGRID_SMTP_URL_FILE, value: /etc/tradegrid/mail/url}
  {{- end }}
  {{- if and .operators (not .job) }}
  - {name: TRADEGRID_ADMIN_TOKENS_FILE, value: /etc/tradegrid/operators/tokens}
  {{- end }}
  - {name: TRADEGRID_CELL, value: {{ $v.cell | quote }}}
  {{- if not .job }}
  {{- with $v.policy.maxAttempts }}
  - {name: TRADEGRID_MAX_ATTEMPTS, value: {{ int . | quote }}}
  {{- end }}
  {{- with $v.policy.deliveryTtl }}
  - {name: TRADEGRID_DELIVERY_TTL, value: {{ . | quote }}}
  {{- end }}
  {{- with $v.policy.eventRetention }}
  - {name: TRADEGRID_EVENT_RETENTION, value: {{ . | quote }}}
  {{- end }}
  {{- end }}
  {{- $extra := include "tradegrid.extraEnv" (dict "all" $v.extraEnv "own" $own.extraEnv) }}
  {{- with (($resources).limits).memory }}
  {{- if not (regexMatch "(?m)^(- |  )name: GOMEMLIMIT$" $extra) }}
  - {name: GOMEMLIMIT, value: {{ include "tradegrid.memoryLimit" . }}}
  {{- end }}
  {{- end }}
  {{- if not .job }}
  {{- include "tradegrid.telemetryEnv" .root | nindent 2 }}
  {{- end }}
  {{- with $extra }}
  {{- . | nindent 2 }}
  {{- end }}
{{- with concat $v.extraEnvFrom (default list $own.extraEnvFrom) }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
resources:
  {{- toYaml $resources | nindent 2 }}
securityContext:
  {{- toYaml $v.securityContext | nindent 2 }}
volumeMounts:
  {{- include "tradegrid.mounts" . | trim | default "[]" | nindent 2 }}
{{- end -}}

{{/* Further variables: those for all, unless the role has its own of that name. Takes all and own. */}}
{{- define "tradegrid.extraEnv" -}}
{{- $names := list -}}
{{- range .own -}}{{- $names = append $names .name -}}{{- end -}}
{{- $variables := list -}}
{{- range .all -}}{{- if not (has .name $names) -}}{{- $variables = append $variables . -}}{{- end -}}{{- end -}}
{{- with concat $variables (default list .own) -}}{{- toYaml . -}}{{- end -}}
{{- end -}}

{{/* The pod that telemetry comes from. Kubernetes expands $(NAME) from the variables above it. */}}
{{- define "tradegrid.telemetryEnv" -}}
- name: K8S_POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: K8S_POD_UID
  valueFrom: {fieldRef: {fieldPath: metadata.uid}}
- name: K8S_NODE_NAME
  valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
{{- with .Values.telemetry.headersSecret }}
{{- if .name }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom: {secretKeyRef: {name: {{ .name | quote }}, key: {{ .key | quote }}}}
{{- end }}
{{- end }}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: {{ include "tradegrid.resourceAttributes" . | quote }}
{{- end -}}

{{- define "tradegrid.resourceAttributes" -}}
{{- $all := dict "k8s.namespace.name" .Release.Namespace "k8s.pod.name" "$(K8S_POD_NAME)" "k8s.pod.uid" "$(K8S_POD_UID)" "k8s.node.name" "$(K8S_NODE_NAME)" "k8s.container.name" "tradegrid" "tradegrid.cell" .Values.cell -}}
{{- $pairs := list -}}
{{- range $key, $value := mergeOverwrite $all .Values.telemetry.resourceAttributes -}}
{{- $pairs = append $pairs (printf "%s=%s" $key (include "tradegrid.text" $value)) -}}
{{- end -}}
{{- join "," $pairs -}}
{{- end -}}

{{/* A value as text. Whole numbers are floats in templates: 20261126 is not 2.0261126e+07. */}}
{{- define "tradegrid.text" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) (lt . 1e15) (gt . -1e15) -}}{{ printf "%.0f" . }}{{- else -}}{{ toString . }}{{- end -}}
{{- end -}}

{{/* Each is a name, or an object with the name, as in a pod. */}}
{{- define "tradegrid.pullSecrets" -}}
{{- range . }}
- name: {{ ternary . (get (ternary . dict (kindIs "map" .)) "name") (kindIs "string" .) | quote }}
{{- end }}
{{- end -}}

{{- define "tradegrid.topicsArgs" -}}
- topics
- apply
- --log-format={{ .Values.logging.format }}
{{- if .Values.evaluation.enabled }}
- --local
{{- else }}
- --replication={{ int .Values.jobs.topics.replication }}
{{- end }}
{{- end -}}

{{- define "tradegrid.mounts" -}}
{{- if not .job }}
- {name: config, mountPath: /etc/tradegrid/config, readOnly: true}
{{- end }}
{{- if include "tradegrid.files" (dict "part" "database" "pod" .) }}
- {name: database, mountPath: /etc/tradegrid/database, readOnly: true}
{{- end }}
{{- if include "tradegrid.files" (dict "part" "kafka" "pod" .) }}
- {name: kafka, mountPath: /etc/tradegrid/kafka, readOnly: true}
{{- end }}
{{- if and .webhooks (not .job) }}
- {name: webhooks, mountPath: /etc/tradegrid/webhooks, readOnly: true}
{{- end }}
{{- if include "tradegrid.files" (dict "part" "s3" "pod" .) }}
- {name: s3, mountPath: /etc/tradegrid/s3, readOnly: true}
{{- end }}
{{- if and .mail (not .job) }}
- {name: mail, mountPath: /etc/tradegrid/mail, readOnly: true}
{{- end }}
{{- if and .operators (not .job) }}
- {name: operators, mountPath: /etc/tradegrid/operators, readOnly: true}
{{- end }}
{{- with concat .root.Values.extraVolumeMounts (default list .values.extraVolumeMounts) }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* 0440: readable by the group, which fsGroup sets. */}}
{{- define "tradegrid.volumes" -}}
{{- if not .job }}
- name: config
  configMap:
    name: {{ .name }}
{{- end }}
{{- range $part := list "database" "kafka" "webhooks" "s3" "mail" "operators" }}
{{- with include "tradegrid.files" (dict "part" $part "pod" $) }}
- name: {{ $part }}
  projected:
    defaultMode: 0440
    sources:
      {{- . | nindent 6 }}
{{- end }}
{{- end }}
{{- with concat .root.Values.extraVolumes (default list .values.extraVolumes) }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "tradegrid.files" -}}
{{- $settings := get .pod .part -}}
{{- if and $settings (eq .part "database") -}}
{{- include "tradegrid.databaseFiles" (dict "root" .pod.root "database" $settings) | trim -}}
{{- else if and $settings (eq .part "operators") -}}
{{- with .pod.root.Values.console.tokensSecret -}}
{{- include "tradegrid.secretItem" (dict "name" .name "key" .key "path" "tokens") -}}
{{- end -}}
{{- with .pod.root.Values.console.pages.oidc -}}
{{- if and .issuer .clientSecret.name }}
{{ include "tradegrid.secretItem" (dict "name" .clientSecret.name "key" .clientSecret.key "path" "client-secret") -}}
{{- end -}}
{{- end -}}
{{- else if and $settings (eq .part "s3") -}}
{{- if not .pod.root.Values.files.s3.role -}}{{- include "tradegrid.s3Files" .pod.root | trim -}}{{- end -}}
{{- else if and $settings (eq .part "mail") -}}
{{- with .pod.root.Values.mail.urlSecret -}}
{{- include "tradegrid.secretItem" (dict "name" .name "key" .key "path" "url") -}}
{{- end -}}
{{- else if and $settings (eq .part "webhooks") -}}
{{- include "tradegrid.webhookKeysFiles" (dict "root" .pod.root) | trim -}}
{{- else if $settings -}}
{{- include "tradegrid.kafkaFiles" (dict "root" .pod.root "kafka" $settings) | trim -}}
{{- end -}}
{{- end -}}
