{{/*
The pods of the roles. A new role is a line here and a template with its workload.
*/}}

{{/* All pods of the release, as a JSON list of what the pod template takes, without root. */}}
{{- define "tradegrid.pods" -}}
{{- $pods := list (include "tradegrid.apiPod" . | fromJson) (include "tradegrid.relayPod" . | fromJson) -}}
{{- range $set, $values := include "tradegrid.dispatcherSets" . | fromJson -}}
{{- $pods = append $pods (include "tradegrid.dispatcherPod" (dict "root" $ "set" $set "values" $values) | fromJson) -}}
{{- end -}}
{{- if .Values.console.enabled -}}
{{- $pods = append $pods (include "tradegrid.consolePod" . | fromJson) -}}
{{- end -}}
{{- toJson $pods -}}
{{- end -}}

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
{{- $args := list "console" "--config=/etc/tradegrid/config/config.yaml" "--admin-listen=:8081" "--ops-listen=:9090" -}}
{{- with $console.pages.url -}}{{- $args = concat $args (list "--console-listen=:8084" (printf "--console-url=%s" .)) -}}{{- end -}}
{{- if and $console.kafka .Values.evaluation.enabled -}}
{{- $args = append $args "--topics-local" -}}
{{- else if $console.kafka -}}
{{- $args = append $args (printf "--topics-replicas=%d" (int .Values.jobs.topics.replication)) -}}
{{- end -}}
{{- with $console.pages.traceUrl -}}{{- $args = append $args (printf "--console-trace-url=%s" .) -}}{{- end -}}
{{- toJson (dict "component" "console" "name" (printf "%s-console" (include "tradegrid.fullname" .)) "values" $console "database" .Values.database
  "kafka" (ternary .Values.kafka dict $console.kafka) "webhooks" true "operators" true "args" $args) -}}
{{- end -}}
