{{- define "reveille.name" -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "reveille.selector" -}}
app.kubernetes.io/name: reveille
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "reveille.labels" -}}
{{ include "reveille.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* "true" where pods share a PostgreSQL database, else nothing. */}}
{{- define "reveille.isShared" -}}
{{- if ne .Values.store "sqlite" }}true{{ end -}}
{{- end -}}

{{- define "reveille.hooksPath" -}}
{{- dig "hooks" "path" "/hooks" .Values.config -}}
{{- end -}}
