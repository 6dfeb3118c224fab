{{/* Services and tasks of the release. */}}

{{/* Object with the list `parts`, as JSON. Each has component, kind (service, job or task), ports (numbers), probe,
needs and executor; the services of the lab come first. */}}
{{- define "lab.parts" -}}
{{- $parts := list }}
{{- range $key, $value := .Values }}
{{- if and (kindIs "map" $value) (hasKey $value "replicas") (index $value "enabled") }}
{{- $parts = append $parts (include "lab.partSummary" (dict "part" $value "kind" "service") | fromJson) }}
{{- end }}
{{- end }}
{{- range $name, $job := .Values.jobs }}
{{- if $job.enabled }}
{{- $parts = append $parts (include "lab.partSummary" (dict "part" $job "kind" "job") | fromJson) }}
{{- end }}
{{- end }}
{{- range $name, $task := .Values.tasks }}
{{- $parts = append $parts (include "lab.partSummary" (dict "part" $task "kind" "task") | fromJson) }}
{{- end }}
{{- dict "parts" $parts | toJson }}
{{- end }}

{{- define "lab.partSummary" -}}
{{- $ports := list }}
{{- range .part.ports }}{{ $ports = append $ports (int .port) }}{{ end }}
{{- dict
  "component" (include "lab.name" .part)
  "kind" .kind
  "ports" $ports
  "probe" .part.probe
  "needs" (.part.needs | default list)
  "executor" (not (empty .part.executor))
  | toJson }}
{{- end }}
