{{/* Takes root, component, database, kafka, job, and console: whether the pod serves it. */}}
{{- define "tradegrid.rolePolicy" }}
{{- $policy := .root.Values.networkPolicy }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "tradegrid.fullname" .root }}-{{ .component }}
  labels:
    {{- include "tradegrid.labels" . | nindent 4 }}
  {{- if .job }}
  annotations:
    {{- include "tradegrid.hook" (dict "weight" -20) | nindent 4 }}
  {{- end }}
spec:
  podSelector:
    matchLabels:
      {{- include "tradegrid.selectorLabels" (dict "root" .root "component" .component) | nindent 6 }}
  policyTypes: [Ingress, Egress]
  {{- if .job }}
  ingress: []
  {{- else }}
  ingress:
    {{- if include "tradegrid.does" (dict "component" .component "role" "api") }}
    - {{ include "tradegrid.peers" (dict "key" "from" "peers" $policy.api.from "ports" (list 8080)) | nindent 6 | trim }}
    {{- end }}
    {{- if and .console $policy.console.from }}
    - {{ include "tradegrid.peers" (dict "key" "from" "peers" $policy.console.from "ports" (list 8081)) | nindent 6 | trim }}
    {{- end }}
    {{- if and .console .root.Values.console.pages.url $policy.pages.from }}
    - {{ include "tradegrid.peers" (dict "key" "from" "peers" $policy.pages.from "ports" (list 8084)) | nindent 6 | trim }}
    {{- end }}
    - {{ include "tradegrid.peers" (dict "key" "from" "peers" $policy.ops.from "ports" (list 9090)) | nindent 6 | trim }}
  {{- end }}
  {{- if eq .component "check" }}
  egress: [] # it only reads
  {{- else }}
  egress:
    - {{ include "tradegrid.peers" (dict "key" "to" "peers" $policy.dns.to "ports" $policy.dns.ports "udp" true) | nindent 6 | trim }}
    {{- if .database }}
    - {{ include "tradegrid.backendPeers" (dict "root" .root "part" "database") | nindent 6 | trim }}
    {{- end }}
    {{- if .kafka }}
    - {{ include "tradegrid.backendPeers" (dict "root" .root "part" "kafka") | nindent 6 | trim }}
    {{- end }}
    {{- if and (include "tradegrid.does" (dict "component" .component "role" "api")) (eq .root.Values.files.store "s3") }}
    - {{ include "tradegrid.urlPeers" (dict "policy" $policy.s3 "url" .root.Values.files.s3.endpoint) | nindent 6 | trim }}
    {{- end }}
    {{- if and .console .root.Values.console.pages.oidc.issuer }}
    - {{ include "tradegrid.urlPeers" (dict "policy" $policy.oidc "url" .root.Values.console.pages.oidc.issuer) | nindent 6 | trim }}
    {{- end }}
    {{- if and (include "tradegrid.does" (dict "component" .component "role" "relay")) .root.Values.mail.urlSecret.name }}
    - {{ include "tradegrid.peers" (dict "key" "to" "peers" $policy.smtp.to "ports" $policy.smtp.ports) | nindent 6 | trim }}
    {{- end }}
    {{- if and .root.Values.telemetry.otlpEndpoint (not .job) }}
    - {{ include "tradegrid.urlPeers" (dict "policy" $policy.otlp "url" .root.Values.telemetry.otlpEndpoint) | nindent 6 | trim }}
    {{- end }}
    {{- with concat (default list $policy.extraEgress) (get $policy (ternary "jobs" .component (default false .job))).extraEgress }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
{{- end -}}

{{/* One rule. Takes key (from or to), peers, ports, and udp to open the ports for UDP as well. */}}
{{- define "tradegrid.peers" -}}
ports:
  {{- range .ports }}
  - {protocol: TCP, port: {{ int . }}}
  {{- if $.udp }}
  - {protocol: UDP, port: {{ int . }}}
  {{- end }}
  {{- end }}
{{- with .peers }}
{{ $.key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The rule for the database or kafka: that of the evaluation, or the one that the values name. Takes root and part. */}}
{{- define "tradegrid.backendPeers" -}}
{{- $root := .root -}}
{{- if $root.Values.evaluation.enabled -}}
{{- $component := ternary "cockroach" "kafka" (eq .part "database") -}}
{{- $port := ternary 26257 9092 (eq .part "database") -}}
{{- $peer := dict "podSelector" (dict "matchLabels" (include "tradegrid.selectorLabels" (dict "root" $root "component" $component) | fromYaml)) -}}
{{- include "tradegrid.peers" (dict "key" "to" "peers" (list $peer) "ports" (list $port)) -}}
{{- else -}}
{{- $policy := get $root.Values.networkPolicy .part -}}
{{- $ports := $policy.ports -}}
{{- if not $ports -}}
{{- $ports = ternary (list $root.Values.database.port) (include "tradegrid.brokerPorts" $root | fromYamlArray) (eq .part "database") -}}
{{- end -}}
{{- include "tradegrid.peers" (dict "key" "to" "peers" $policy.to "ports" $ports) -}}
{{- end -}}
{{- end -}}

{{- define "tradegrid.brokerPorts" -}}
{{- $ports := list -}}
{{- range .Values.kafka.brokers -}}
{{- $ports = append $ports (regexFind "[0-9]+$" . | int) -}}
{{- end -}}
{{- $ports | uniq | toYaml -}}
{{- end -}}

{{/* The rule for the server of a URL: its port, unless the values name others. Takes policy and url. */}}
{{- define "tradegrid.urlPeers" -}}
{{- $url := urlParse .url -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (ternary 443 80 (eq $url.scheme "https")) -}}
{{- include "tradegrid.peers" (dict "key" "to" "peers" .policy.to "ports" (default (list $port) .policy.ports)) -}}
{{- end -}}

{{/* Webhooks go to the internet, never to private networks. Kubernetes refuses an exception that is not inside its network. */}}
{{- define "tradegrid.senderPolicy" }}
{{- $receivers := .Values.networkPolicy.receivers }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "tradegrid.fullname" . }}-sender
  labels:
    {{- include "tradegrid.labels" (dict "root" . "component" "dispatcher") | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      app.kubernetes.io/name: {{ include "tradegrid.name" . | quote }}
      app.kubernetes.io/instance: {{ .Release.Name | quote }}
      tradegrid.io/sender: "true"
  policyTypes: [Egress]
  egress:
    - to:
        {{- range $cidr := $receivers.cidrs }}
        - ipBlock:
            cidr: {{ $cidr | quote }}
            {{- with include "tradegrid.networksInside" (dict "cidr" $cidr "networks" $receivers.except) | fromYamlArray }}
            except:
              {{- toYaml . | nindent 14 }}
            {{- end }}
        {{- end }}
        {{- if and .Values.evaluation.enabled .Values.evaluation.receiver }}
        - podSelector:
            matchLabels:
              {{- include "tradegrid.selectorLabels" (dict "root" . "component" "receiver") | nindent 14 }}
        {{- end }}
      {{- with $receivers.ports }}
      ports:
        {{- range . }}
        - {protocol: TCP, port: {{ int . }}}
        {{- end }}
        {{- if and $.Values.evaluation.enabled $.Values.evaluation.receiver }}
        - {protocol: TCP, port: 8090}
        {{- end }}
      {{- end }}
    {{- range include "tradegrid.egressProxies" . | fromYamlArray }}
    - {{ include "tradegrid.urlPeers" (dict "policy" $.Values.networkPolicy.egressProxy "url" .) | nindent 6 | trim }}
    {{- end }}
{{- end -}}

{{/* The proxies between senders and receivers, as YAML. */}}
{{- define "tradegrid.egressProxies" -}}
{{- $proxies := list -}}
{{- if include "tradegrid.apart" . -}}
{{- range include "tradegrid.dispatcherSets" . | fromJson -}}
{{- $proxy := get .config "egress-proxy" -}}
{{- if and $proxy (has "sender" .roles) -}}{{- $proxies = append $proxies $proxy -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if include "tradegrid.together" . -}}
{{- with get .Values.run.config "egress-proxy" -}}{{- $proxies = append $proxies . -}}{{- end -}}
{{- end -}}
{{- uniq $proxies | toYaml -}}
{{- end -}}

{{/* Only pods of the release reach the database and the broker of an evaluation. */}}
{{- define "tradegrid.evaluationPolicies" }}
{{- $root := . }}
{{- range $component, $ports := dict "cockroach" (list 26257) "kafka" (list 9092 9093) }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "tradegrid.fullname" $root }}-{{ $component }}
  labels:
    {{- include "tradegrid.labels" (dict "root" $root "component" $component) | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "tradegrid.selectorLabels" (dict "root" $root "component" $component) | nindent 6 }}
  policyTypes: [Ingress]
  ingress:
    - from:
        - podSelector:
            matchLabels:
              app.kubernetes.io/name: {{ include "tradegrid.name" $root | quote }}
              app.kubernetes.io/instance: {{ $root.Release.Name | quote }}
      ports:
        {{- range $ports }}
        - {protocol: TCP, port: {{ . }}}
        {{- end }}
{{- end }}
{{- end -}}
