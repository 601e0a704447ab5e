{{/* How pods reach database and Kafka, and the keys of webhook secrets: in the environment, so that `kubectl exec … /tradegrid admin` finds it too, and in files. */}}

{{/* The database's settings for migrate: those of the roles, without savepoint, which migrate does not have, and with its own credentials. */}}
{{- define "tradegrid.migrateDatabase" -}}
{{- $db := omit (deepCopy .Values.database) "savepoint" -}}
{{- $own := .Values.jobs.migrate.database -}}
{{- with $own.user -}}{{- $_ := set $db "user" . -}}{{- end -}}
{{- if $own.urlSecret.name -}}{{- $_ := set $db "urlSecret" $own.urlSecret -}}{{- end -}}
{{- if $own.passwordSecret.name -}}{{- $_ := set $db "passwordSecret" $own.passwordSecret -}}{{- end -}}
{{- if $own.clientSecret.name -}}{{- $_ := set $db.tls "clientSecret" $own.clientSecret -}}{{- end -}}
{{- toYaml $db -}}
{{- end -}}

{{/* The same of Kafka for topics. */}}
{{- define "tradegrid.topicsKafka" -}}
{{- $kafka := deepCopy .Values.kafka -}}
{{- $own := .Values.jobs.topics.kafka -}}
{{- with $own.username -}}{{- $_ := set $kafka.sasl "username" . -}}{{- end -}}
{{- if $own.passwordSecret.name -}}{{- $_ := set $kafka.sasl "passwordSecret" $own.passwordSecret -}}{{- end -}}
{{- if $own.clientSecret.name -}}{{- $_ := set $kafka.tls "clientSecret" $own.clientSecret -}}{{- end -}}
{{- toYaml $kafka -}}
{{- end -}}

{{/* The URL without a password. Takes root and database. */}}
{{- define "tradegrid.databaseURL" -}}
{{- $db := .database -}}
{{- if .root.Values.evaluation.enabled -}}
postgres://root@{{ include "tradegrid.fullname" .root }}-cockroach:26257/defaultdb?sslmode=disable
{{- else -}}
{{- $query := deepCopy $db.parameters -}}
{{- $_ := set $query "sslmode" $db.sslmode -}}
{{- if $db.tls.caSecret.name -}}{{- $_ := set $query "sslrootcert" "/etc/tradegrid/database/ca.crt" -}}{{- end -}}
{{- if $db.tls.clientSecret.name -}}
{{- $_ := set $query "sslcert" "/etc/tradegrid/database/tls.crt" -}}
{{- $_ := set $query "sslkey" "/etc/tradegrid/database/tls.key" -}}
{{- end -}}
{{- $pairs := list -}}
{{- range $key, $value := $query -}}
{{- $pairs = append $pairs (printf "%s=%s" (urlquery $key) (include "tradegrid.text" $value | urlquery)) -}}
{{- end -}}
{{- $host := default "" $db.host -}}
{{- if and (contains ":" $host) (not (hasPrefix "[" $host)) -}}{{- $host = printf "[%s]" $host -}}{{- end -}}
postgres://{{ urlquery $db.user | replace "+" "%20" }}@{{ $host }}:{{ int $db.port }}/{{ urlquery $db.name | replace "+" "%20" }}?{{ join "&" $pairs }}
{{- end -}}
{{- end -}}

{{/* Takes root and database. */}}
{{- define "tradegrid.databaseEnv" -}}
{{- $db := .database -}}
{{- if and $db.urlSecret.name (not .root.Values.evaluation.enabled) -}}
- name: TRADEGRID_DATABASE_URL_FILE
  value: /etc/tradegrid/database/url
{{- else -}}
- name: TRADEGRID_DATABASE_URL
  value: {{ include "tradegrid.databaseURL" . | quote }}
{{- if and $db.passwordSecret.name (not .root.Values.evaluation.enabled) }}
- name: TRADEGRID_DATABASE_PASSWORD_FILE
  value: /etc/tradegrid/database/password
{{- end }}
{{- end }}
{{- if $db.savepoint }}
- name: TRADEGRID_DATABASE_SAVEPOINT
  value: "true"
{{- end }}
{{- end -}}

{{/* The sources of the volume with the secrets of the database; empty without secrets. Takes root and database. */}}
{{- define "tradegrid.databaseFiles" -}}
{{- if not .root.Values.evaluation.enabled -}}
{{- $db := .database -}}
{{- if $db.urlSecret.name }}
{{ include "tradegrid.secretItem" (dict "name" $db.urlSecret.name "key" $db.urlSecret.key "path" "url") }}
{{- else if $db.passwordSecret.name }}
{{ include "tradegrid.secretItem" (dict "name" $db.passwordSecret.name "key" $db.passwordSecret.key "path" "password") }}
{{- end }}
{{- include "tradegrid.tlsFiles" $db.tls }}
{{- end -}}
{{- end -}}

{{- define "tradegrid.tlsFiles" -}}
{{- if .caSecret.name }}
{{ include "tradegrid.secretItem" (dict "name" .caSecret.name "key" .caSecret.key "path" "ca.crt") }}
{{- end }}
{{- if .clientSecret.name }}
- secret:
    name: {{ .clientSecret.name | quote }}
    items:
      - {key: {{ .clientSecret.certKey | quote }}, path: tls.crt}
      - {key: {{ .clientSecret.keyKey | quote }}, path: tls.key}
{{- end }}
{{- end -}}

{{- define "tradegrid.secretItem" -}}
- secret:
    name: {{ .name | quote }}
    items:
      - {key: {{ .key | quote }}, path: {{ .path }}}
{{- end -}}

{{- define "tradegrid.brokers" -}}
{{- if .root.Values.evaluation.enabled -}}
{{ include "tradegrid.fullname" .root }}-kafka:9092
{{- else -}}
{{ join "," .kafka.brokers }}
{{- end -}}
{{- end -}}

{{/* Takes root and kafka. */}}
{{- define "tradegrid.kafkaEnv" -}}
{{- $kafka := .kafka -}}
- name: TRADEGRID_KAFKA_BROKERS
  value: {{ include "tradegrid.brokers" . | quote }}
- name: TRADEGRID_KAFKA_SESSION
  value: {{ $kafka.session | quote }}
{{- if not .root.Values.evaluation.enabled }}
{{- if $kafka.tls.enabled }}
- name: TRADEGRID_KAFKA_TLS
  value: "true"
{{- if $kafka.tls.caSecret.name }}
- name: TRADEGRID_KAFKA_CA_FILE
  value: /etc/tradegrid/kafka/ca.crt
{{- end }}
{{- if $kafka.tls.clientSecret.name }}
- name: TRADEGRID_KAFKA_CERT_FILE
  value: /etc/tradegrid/kafka/tls.crt
- name: TRADEGRID_KAFKA_KEY_FILE
  value: /etc/tradegrid/kafka/tls.key
{{- end }}
{{- end }}
{{- if $kafka.sasl.mechanism }}
- name: TRADEGRID_KAFKA_SASL
  value: {{ $kafka.sasl.mechanism | lower | quote }}
- name: TRADEGRID_KAFKA_USERNAME
  value: {{ $kafka.sasl.username | quote }}
- name: TRADEGRID_KAFKA_PASSWORD_FILE
  value: /etc/tradegrid/kafka/password
{{- end }}
{{- end }}
{{- end -}}

{{/* Takes root and kafka. */}}
{{- define "tradegrid.kafkaFiles" -}}
{{- if not .root.Values.evaluation.enabled -}}
{{- $kafka := .kafka -}}
{{- if $kafka.sasl.mechanism }}
{{ include "tradegrid.secretItem" (dict "name" $kafka.sasl.passwordSecret.name "key" $kafka.sasl.passwordSecret.key "path" "password") }}
{{- end }}
{{- if $kafka.tls.enabled }}{{ include "tradegrid.tlsFiles" $kafka.tls }}{{- end }}
{{- end -}}
{{- end -}}

{{/* The name of the Secret with the keys of webhook secrets; an evaluation brings one. */}}
{{- define "tradegrid.webhookKeysName" -}}
{{- with .Values.webhooks.keysSecret.name -}}
{{ . }}
{{- else -}}
{{- if .Values.evaluation.enabled -}}{{ include "tradegrid.fullname" . }}-webhook-keys{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tradegrid.webhookKeysFiles" -}}
{{ include "tradegrid.secretItem" (dict "name" (include "tradegrid.webhookKeysName" .root) "key" .root.Values.webhooks.keysSecret.key "path" "keys") }}
{{- end -}}

{{- define "tradegrid.s3Env" -}}
{{- $s3 := .Values.files.s3 -}}
- {name: TRADEGRID_FILE_STORE, value: s3}
- {name: TRADEGRID_S3_ENDPOINT, value: {{ $s3.endpoint | quote }}}
- {name: TRADEGRID_S3_BUCKET, value: {{ $s3.bucket | quote }}}
- {name: TRADEGRID_S3_REGION, value: {{ $s3.region | quote }}}
- {name: TRADEGRID_S3_PATH_STYLE, value: {{ $s3.pathStyle | quote }}}
{{- if $s3.role }}
- {name: TRADEGRID_S3_ROLE, value: "true"}
{{- else }}
- {name: TRADEGRID_S3_ACCESS_KEY_FILE, value: /etc/tradegrid/s3/access-key}
- {name: TRADEGRID_S3_SECRET_KEY_FILE, value: /etc/tradegrid/s3/secret-key}
{{- end }}
{{- end -}}

{{- define "tradegrid.s3Files" -}}
{{- with .Values.files.s3.keysSecret -}}
- secret:
    name: {{ .name | quote }}
    items:
      - {key: {{ .accessKey | quote }}, path: access-key}
      - {key: {{ .secretKey | quote }}, path: secret-key}
{{- end -}}
{{- end -}}
