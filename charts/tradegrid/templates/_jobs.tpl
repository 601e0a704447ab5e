{{/*
A hook's annotations. A Job that failed stays, so that its log can be read. ServiceAccount and NetworkPolicies stay for
`helm test` and for --contract. `helm uninstall` does not know of either: docs/kubernetes.md says how to remove them.
Takes weight and job.
*/}}
{{- define "tradegrid.hook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation{{ if .job }},hook-succeeded{{ end }}
{{- end -}}

{{/*
Takes root, component, suffix (of its name), args, database or kafka, and
  annotations  as YAML
  account, containers, volumes, first  as the pod does
  attempts     settings in place of backoffLimit and activeDeadlineSeconds of the values
  generated    true for a name that the API server completes, so that each run is a Job of its own
  final        exit codes after which another attempt is of no use
*/}}
{{- define "tradegrid.job" }}
{{- $jobs := mergeOverwrite (deepCopy .root.Values.jobs) (default dict .attempts) }}
{{- $name := printf "%s-%s" (include "tradegrid.fullname" .root) .suffix }}
---
apiVersion: batch/v1
kind: Job
metadata:
  {{- if .generated }}
  generateName: {{ $name }}-
  {{- else }}
  name: {{ $name }}
  {{- end }}
  labels:
    {{- include "tradegrid.labels" . | nindent 4 }}
  {{- with merge (default "" .annotations | fromYaml) $jobs.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  backoffLimit: {{ int $jobs.backoffLimit }}
  activeDeadlineSeconds: {{ int $jobs.activeDeadlineSeconds }}
  ttlSecondsAfterFinished: {{ int $jobs.ttlSecondsAfterFinished }}
  {{- with .final }}
  podFailurePolicy:
    rules:
      - action: FailJob
        onExitCodes: {operator: In, values: {{ toJson . }}{{ if not $.containers }}, containerName: tradegrid{{ end }}}
  {{- end }}
  template:
    {{- include "tradegrid.podTemplate" (merge (dict "name" $name "values" $jobs "job" true) .) | nindent 4 }}
{{- end -}}

{{/* What a role would start with, without starting it: the program prints its settings, or names all that are wrong and exits with 2. */}}
{{- define "tradegrid.checkContainer" -}}
args:
  {{- append .args "--print-config" | toYaml | nindent 2 }}
{{ include "tradegrid.container" (merge (dict "values" (merge (dict "resources" .root.Values.jobs.check.resources) .values)) .) }}
{{- end -}}

{{/*
Checks the settings of all roles before anything changes: a container for each, side by side, so that one run names all
faults. Their volumes have the same names, so a prefix keeps them apart.
*/}}
{{- define "tradegrid.checkJob" -}}
{{- $name := printf "%s-check" (include "tradegrid.fullname" .) -}}
{{- $annotations := include "tradegrid.hook" (dict "weight" -20 "job" true) -}}
{{- $containers := list -}}
{{- $volumes := list -}}
{{- $data := dict -}}
{{- range $i, $pod := include "tradegrid.pods" . | fromJsonArray -}}
{{- $_ := set $pod "root" $ -}}
{{- $file := printf "%s.yaml" (list $pod.component (default "" $pod.set) | compact | join "-") -}}
{{- $_ := set $data $file (include "tradegrid.config" $pod) -}}
{{- $container := include "tradegrid.checkContainer" $pod | fromYaml -}}
{{- range $container.volumeMounts -}}{{- $_ := set . "name" (printf "c%d-%s" $i .name) -}}{{- end -}}
{{- $containers = append $containers (merge (dict "name" (trimSuffix ".yaml" $file)) $container) -}}
{{- range include "tradegrid.volumes" $pod | fromYamlArray -}}
{{- if eq .name "config" -}}{{- $_ := set . "configMap" (dict "name" $name "items" (list (dict "key" $file "path" "config.yaml"))) -}}{{- end -}}
{{- $volumes = append $volumes (merge (dict "name" (printf "c%d-%s" $i .name)) .) -}}
{{- end -}}
{{- end }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ $name }}
  labels:
    {{- include "tradegrid.labels" (dict "root" . "component" "check") | nindent 4 }}
  annotations:
    {{- $annotations | nindent 4 }}
data:
  {{- toYaml $data | nindent 2 }}
{{- include "tradegrid.job" (dict "root" . "component" "check" "suffix" "check" "annotations" (include "tradegrid.hook" (dict "weight" -15 "job" true))
    "containers" (toYaml $containers) "volumes" (toYaml $volumes) "first" (first $containers).name "final" (list 2)) }}
{{- end -}}
