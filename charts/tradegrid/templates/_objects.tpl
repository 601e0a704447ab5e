{{/* Objects that several roles have besides their pods. Each takes what the pod takes. */}}

{{- define "tradegrid.configMap" }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .name }}
  labels:
    {{- include "tradegrid.labels" . | nindent 4 }}
data:
  config.yaml: |
    {{- include "tradegrid.config" . | nindent 4 }}
{{- end -}}

{{/* How a workload replaces its pods. Takes field, the name that its kind has for that. */}}
{{- define "tradegrid.rollout" -}}
revisionHistoryLimit: {{ int .root.Values.revisionHistoryLimit }}
{{ .field }}:
  {{- ternary .values.strategy (omit .values.strategy "rollingUpdate") (eq .values.strategy.type "RollingUpdate") | toYaml | nindent 2 }}
{{- end -}}

{{/* Takes hosts and ingress, and service and port of the pods that all paths lead to. */}}
{{- define "tradegrid.ingress" }}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ .service }}
  labels:
    {{- include "tradegrid.labels" . | nindent 4 }}
  {{- $annotations := deepCopy (default dict .ingress.annotations) }}
  {{- if contains "nginx" (default "" .ingress.className) }}{{/* its default refuses bodies above 1 MiB, which is what the program can do itself */}}
  {{- $annotations = merge $annotations (dict "nginx.ingress.kubernetes.io/proxy-body-size" "16m" "nginx.org/client-max-body-size" "16m") }}
  {{- end }}
  {{- with $annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .ingress.className }}
  ingressClassName: {{ . | quote }}
  {{- end }}
  {{- with .ingress.tls }}
  tls:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  rules:
    {{- range .hosts }}
    - host: {{ . | quote }}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend: {service: {name: {{ $.service }}, port: {name: http}}}
    {{- end }}
{{- end -}}

{{/* None for a single pod: it would block every drain, or guarantee nothing. */}}
{{- define "tradegrid.disruption" -}}
{{- $budget := .values.podDisruptionBudget -}}
{{- $pods := int (include "tradegrid.replicas" .) -}}
{{- if include "tradegrid.scaled" . -}}
{{- $pods = int (ternary ((.values.keda).minReplicas) ((.values.autoscaling).minReplicas) (default false ((.values.keda).enabled))) -}}
{{- end -}}
{{- if and $budget.enabled (gt $pods 1) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  labels:
    {{- include "tradegrid.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ $budget.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow # a pod that is not ready must not block a drain
  selector:
    matchLabels:
      {{- include "tradegrid.selectorLabels" . | nindent 6 }}
{{- end }}
{{- end -}}

{{/* HorizontalPodAutoscaler or ScaledObject. Takes kind too. */}}
{{- define "tradegrid.scaler" -}}
{{- if include "tradegrid.scaled" . -}}
{{- if (.values.keda).enabled }}
{{ include "tradegrid.scaledObject" . }}
{{- else }}
{{ include "tradegrid.autoscaler" . }}
{{- end }}
{{- end -}}
{{- end -}}

{{- define "tradegrid.autoscaler" -}}
{{- $hpa := .values.autoscaling -}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .name }}
  labels:
    {{- include "tradegrid.labels" . | nindent 4 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: {{ .kind }}, name: {{ .name }}}
  minReplicas: {{ int $hpa.minReplicas }}
  maxReplicas: {{ int $hpa.maxReplicas }}
  metrics:
    {{- with int $hpa.cpu }}
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: {{ . }}}
    {{- end }}
    {{- if ($hpa.lag).enabled }}
    - type: Pods
      pods:
        metric: {name: {{ $hpa.lag.metric | quote }}}
        target: {type: AverageValue, averageValue: {{ $hpa.lag.averageValue | quote }}}
    {{- end }}
  {{- with $hpa.behavior }}
  behavior:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "tradegrid.scaledObject" -}}
{{- $keda := .values.keda -}}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ .name }}
  labels:
    {{- include "tradegrid.labels" . | nindent 4 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: {{ .kind }}, name: {{ .name }}}
  minReplicaCount: {{ int $keda.minReplicas }}
  maxReplicaCount: {{ int $keda.maxReplicas }}
  pollingInterval: {{ int $keda.pollingInterval }}
  cooldownPeriod: {{ int $keda.cooldownPeriod }}
  triggers:
    {{- if $keda.prometheus.serverAddress }}
    - type: prometheus
      metadata:
        serverAddress: {{ $keda.prometheus.serverAddress | quote }}
        threshold: {{ $keda.prometheus.threshold | quote }}
        query: sum(tradegrid_kafka_consumer_lag{namespace="{{ .root.Release.Namespace }}",pod=~"{{ .name }}-[0-9]+"})
    {{- end }}
    {{- with $keda.triggers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
