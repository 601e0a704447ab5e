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
  account      as the pod does
  attempts     settings in place of backoffLimit and activeDeadlineSeconds of the values
  final        exit codes after which another attempt is of no use
*/}}
{{- define "tradegrid.job" }}
{{- $jobs := mergeOverwrite (deepCopy .root.Values.jobs) (default dict .attempts) }}
{{- $name := printf "%s-%s" (include "tradegrid.fullname" .root) .suffix }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $name }}
  labels:
    {{- include "tradegrid.labels" . | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
spec:
  backoffLimit: {{ int $jobs.backoffLimit }}
  activeDeadlineSeconds: {{ int $jobs.activeDeadlineSeconds }}
  ttlSecondsAfterFinished: {{ int $jobs.ttlSecondsAfterFinished }}
  {{- with .final }}
  podFailurePolicy:
    rules:
      - action: FailJob
        onExitCodes: {containerName: tradegrid, operator: In, values: {{ toJson . }}}
  {{- end }}
  template:
    {{- include "tradegrid.podTemplate" (merge (dict "name" $name "values" $jobs "job" true) .) | nindent 4 }}
{{- end -}}
