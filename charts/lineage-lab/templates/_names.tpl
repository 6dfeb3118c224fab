{{/* Names and labels. Objects have the host name of the part that they belong to; one lab per namespace. */}}

{{/* Host name of a part: `schema-registry`. Argument: the part's values. */}}
{{- define "lab.name" -}}
{{ .name | replace "_" "-" }}
{{- end }}

{{/* Labels of the release, on every object. Argument: the root. */}}
{{- define "lab.releaseLabels" -}}
{{ include "lab.podLabels" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Those of pods: without versions, so that a new version of the chart does not restart them. Argument: the root. */}}
{{- define "lab.podLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/part-of: {{ .Chart.Name }}
dev.lineage-lab.stack: {{ .Values.stack | quote }}
dev.lineage-lab.checkout: {{ .Values.checkout | quote }}
{{- end }}

{{/* Labels of an object of a part. Arguments: root, part, role. */}}
{{- define "lab.labels" -}}
{{ include "lab.releaseLabels" .root }}
{{ include "lab.partLabels" . }}
{{- end }}

{{/* Labels of the pods of a part. Arguments: root, part, role. */}}
{{- define "lab.partPodLabels" -}}
{{ include "lab.podLabels" .root }}
{{ include "lab.partLabels" . }}
{{- end }}

{{- define "lab.partLabels" -}}
app.kubernetes.io/component: {{ include "lab.name" .part }}
dev.lineage-lab.part: {{ .part.name | quote }}
dev.lineage-lab.role: {{ .role }}
{{- end }}

{{/* Labels that select the pods of a component. Arguments: root, component. */}}
{{- define "lab.selector" -}}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Name of the Secret with the credentials. Argument: the root. */}}
{{- define "lab.credentialsSecret" -}}
{{ .Values.credentials.existingSecret | default "lineage-lab-credentials" }}
{{- end }}
