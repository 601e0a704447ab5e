{{/* Names and labels. */}}

{{- define "tradegrid.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Names of objects append to it; 36 characters leave "-dispatcher" room within the 52 of a StatefulSet. */}}
{{- define "tradegrid.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 36 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "tradegrid.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 36 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 36 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
Kubernetes puts the name of a StatefulSet and a hash of up to 10 characters into the label controller-revision-hash, which
holds 63: with a name of more than 52 no pod is created. Longer names are cut and end in a hash of the whole, which keeps
them unique. Shorter ones never change: a StatefulSet cannot be renamed. Takes the name.
*/}}
{{- define "tradegrid.statefulSetName" -}}
{{- if le (len .) 52 -}}
{{- . -}}
{{- else -}}
{{- printf "%s-%s" (trunc 43 . | trimSuffix "-") (sha256sum . | trunc 8) -}}
{{- end -}}
{{- end -}}

{{/* Labels of selectors, which can never change. Takes root and component, and set for one of several sets of pods. */}}
{{- define "tradegrid.selectorLabels" -}}
app.kubernetes.io/name: {{ include "tradegrid.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- with .set }}
tradegrid.io/set: {{ . | quote }}
{{- end }}
{{- end -}}

{{/*
What a Service selects: the pods of its role, or all that do its work while there are others, so that a change from the ones to the
others leaves no moment without a pod. Takes root and component.
*/}}
{{- define "tradegrid.serving" -}}
{{- if include "tradegrid.together" .root -}}
app.kubernetes.io/name: {{ include "tradegrid.name" .root | quote }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
tradegrid.io/{{ .component }}: "true"
{{- else -}}
{{- include "tradegrid.selectorLabels" . -}}
{{- end -}}
{{- end -}}

{{/* Labels of objects. Takes root and component. */}}
{{- define "tradegrid.labels" -}}
{{ include "tradegrid.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: tradegrid
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "tradegrid.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "tradegrid.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "tradegrid.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The Jobs run before the objects of the release exist, so they have a ServiceAccount of their own. */}}
{{- define "tradegrid.jobsServiceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (printf "%s-jobs" (include "tradegrid.fullname" .)) .Values.serviceAccount.jobsName -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.jobsName -}}
{{- end -}}
{{- end -}}

{{/* hook, init or none. */}}
{{- define "tradegrid.jobsMode" -}}
{{- if ne .Values.jobs.mode "auto" -}}
{{- .Values.jobs.mode -}}
{{- else -}}
{{- ternary "init" "hook" .Values.evaluation.enabled -}}
{{- end -}}
{{- end -}}

{{/* The sets of dispatcher pods by name, as JSON: each has the values of dispatcher, overridden by its own. Without sets there is one, with an empty name. */}}
{{- define "tradegrid.dispatcherSets" -}}
{{- $base := omit .Values.dispatcher "sets" -}}
{{- $sets := dict -}}
{{- range $name, $own := .Values.dispatcher.sets -}}
{{- $_ := set $sets $name (mustMergeOverwrite (deepCopy $base) (deepCopy (default dict $own))) -}}
{{- end -}}
{{- if not $sets -}}
{{- $_ := set $sets "" $base -}}
{{- end -}}
{{- toJson $sets -}}
{{- end -}}

{{/* Number of pods of a role that nothing scales; one in an evaluation. Takes root and values. */}}
{{- define "tradegrid.replicas" -}}
{{- if .root.Values.evaluation.enabled -}}1{{- else -}}{{ int .values.replicas }}{{- end -}}
{{- end -}}

{{/* "true" when something scales the pods. Takes root and values. */}}
{{- define "tradegrid.scaled" -}}
{{- $hpa := default dict .values.autoscaling -}}
{{- $keda := default dict .values.keda -}}
{{- if and (or $hpa.enabled $keda.enabled) (not .root.Values.evaluation.enabled) -}}true{{- end -}}
{{- end -}}
