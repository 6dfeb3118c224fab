{{/* Parts of network policies. */}}

{{/* Fail if rules are given for a component that the release does not have. Arguments: parts, rules. */}}
{{- define "lab.requireComponents" -}}
{{- $known := list }}
{{- range .parts }}{{ $known = append $known .component }}{{ end }}
{{- range $component, $rules := .rules }}
{{- if not (has $component $known) }}
{{- fail (printf "networkPolicy.extraIngress.%s: the components are %s" $component (join ", " $known)) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Beginning of a policy. Arguments: root, component, name (default: the component), selects (components; default: the
component). */}}
{{- define "lab.policyHead" }}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .name | default .component }}
  labels:
    {{- include "lab.releaseLabels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  podSelector:
    {{- $components := .selects | default (list .component) }}
    {{- include "lab.componentSelector" (dict "root" .root "components" $components) | nindent 4 }}
  policyTypes: [Ingress]
{{- end }}

{{- define "lab.peer" -}}
- podSelector:
    {{- include "lab.componentSelector" . | nindent 4 }}
{{- end }}

{{/* Selector of the pods of several components. Arguments: root, components. */}}
{{- define "lab.componentSelector" -}}
matchLabels:
  app.kubernetes.io/instance: {{ .root.Release.Name }}
matchExpressions:
  - {key: app.kubernetes.io/component, operator: In, values: {{ toJson .components }}}
{{- end }}
