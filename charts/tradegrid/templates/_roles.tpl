{{/*
The pods of the roles. A new role is a line here and a template with its workload.
*/}}

{{/* All pods of the release, as a JSON list of what the pod template takes, without root. */}}
{{- define "tradegrid.pods" -}}
{{- $pods := list -}}
{{- if include "tradegrid.apart" . -}}
{{- $pods = list (include "tradegrid.apiPod" . | fromJson) (include "tradegrid.relayPod" . | fromJson) -}}
{{- range $set, $values := include "tradegrid.dispatcherSets" . | fromJson -}}
{{- $pods = append $pods (include "tradegrid.dispatcherPod" (dict "root" $ "set" $set "values" $values) | fromJson) -}}
{{- end -}}
{{- if .Values.console.enabled -}}
{{- $pods = append $pods (include "tradegrid.consolePod" . | fromJson) -}}
{{- end -}}
{{- end -}}
{{- if include "tradegrid.together" . -}}
{{- $pods = append $pods (include "tradegrid.runPod" . | fromJson) -}}
{{- end -}}
{{- toJson $pods -}}
{{- end -}}

{{/* "true" when there are pods of each role, and when there are pods that run all of them. */}}
{{- define "tradegrid.apart" -}}{{- if ne .Values.topology "single" -}}true{{- end -}}{{- end -}}
{{- define "tradegrid.together" -}}{{- if ne .Values.topology "roles" -}}true{{- end -}}{{- end -}}

{{/* "true" when a pod does the work of a role. Takes component and role. */}}
{{- define "tradegrid.does" -}}{{- if has .component (list .role "run") -}}true{{- end -}}{{- end -}}

{{- define "tradegrid.apiPod" -}}
{{- toJson (dict "component" "api" "name" (printf "%s-api" (include "tradegrid.fullname" .)) "values" .Values.api "database" .Values.database "kafka" .Values.kafka
  "webhooks" true "s3" (eq .Values.files.store "s3") "args" (list "api" "--config=/etc/tradegrid/config/config.yaml" "--listen=:8080" "--ops-listen=:9090")) -}}
{{- end -}}

{{- define "tradegrid.relayPod" -}}
{{- toJson (dict "component" "relay" "name" (printf "%s-relay" (include "tradegrid.fullname" .)) "values" .Values.relay "database" .Values.database "kafka" .Values.kafka
  "mail" .Values.mail.urlSecret.name "args" (list "relay" "--config=/etc/tradegrid/config/config.yaml" "--ops-listen=:9090")) -}}
{{- end -}}

{{/* Takes root, set and values. */}}
{{- define "tradegrid.dispatcherPod" -}}
{{- $base := printf "%s-dispatcher" (include "tradegrid.fullname" .root) -}}
{{- $name := ternary (printf "%s-%s" $base .set) $base (ne .set "") | include "tradegrid.statefulSetName" -}}
{{- toJson (dict "component" "dispatcher" "set" .set "name" $name "values" .values "database" .root.Values.database "kafka" .root.Values.kafka
  "webhooks" (has "sender" .values.roles) "args" (list "dispatcher" "--config=/etc/tradegrid/config/config.yaml" "--ops-listen=:9090")) -}}
{{- end -}}

{{- define "tradegrid.consolePod" -}}
{{- $console := .Values.console -}}
{{- $args := concat (list "console" "--config=/etc/tradegrid/config/config.yaml" "--ops-listen=:9090") (include "tradegrid.consoleArgs" (dict "root" . "kafka" $console.kafka) | fromJsonArray) -}}
{{- toJson (dict "component" "console" "name" (printf "%s-console" (include "tradegrid.fullname" .)) "values" $console "database" .Values.database
  "kafka" (ternary .Values.kafka dict $console.kafka) "webhooks" true "operators" true "args" $args) -}}
{{- end -}}

{{/* A pod that runs all roles; the console if it is enabled. */}}
{{- define "tradegrid.runPod" -}}
{{- $args := list "run" "--config=/etc/tradegrid/config/config.yaml" "--listen=:8080" "--ops-listen=:9090" -}}
{{- if .Values.console.enabled -}}{{- $args = concat $args (include "tradegrid.consoleArgs" (dict "root" . "kafka" true) | fromJsonArray) -}}{{- end -}}
{{- toJson (dict "component" "run" "name" (printf "%s-run" (include "tradegrid.fullname" .)) "values" .Values.run "database" .Values.database "kafka" .Values.kafka
  "webhooks" true "s3" (eq .Values.files.store "s3") "mail" .Values.mail.urlSecret.name "operators" .Values.console.enabled "args" $args) -}}
{{- end -}}

{{/* The arguments of a console. Takes root, and kafka: whether it is connected to it. */}}
{{- define "tradegrid.consoleArgs" -}}
{{- $console := .root.Values.console -}}
{{- $args := list "--admin-listen=:8081" -}}
{{- with $console.pages.url -}}{{- $args = concat $args (list "--console-listen=:8084" (printf "--console-url=%s" .)) -}}{{- end -}}
{{- if and .kafka .root.Values.evaluation.enabled -}}
{{- $args = append $args "--topics-local" -}}
{{- else if .kafka -}}
{{- $args = append $args (printf "--topics-replicas=%d" (int .root.Values.jobs.topics.replication)) -}}
{{- end -}}
{{- with $console.pages.traceUrl -}}{{- $args = append $args (printf "--console-trace-url=%s" .) -}}{{- end -}}
{{- toJson $args -}}
{{- end -}}
