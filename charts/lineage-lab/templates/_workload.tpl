{{/* Objects of a service or task. */}}

{{- define "lab.writeValues" -}}
write them with `bin/lab render kubernetes --into values.yaml`
{{- end }}

{{/* Fail if values were not rendered from the lab's model. Arguments: part, key. */}}
{{- define "lab.require" -}}
{{- range $field := list "name" "image" "script" }}
{{- if not (get $.part $field) }}
{{- $problem := printf "values of %s are incomplete (no %s.%s)" $.key $.key $field }}
{{- fail (printf "%s: %s, or set %s.enabled to false" $problem (include "lab.writeValues" .) $.key) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Fail if a service cannot have this number of replicas. Arguments: part, key, replicable. */}}
{{- define "lab.requireReplicas" -}}
{{- $replicas := int .part.replicas }}
{{- $configurations := len (.part.replicaFiles | default list) }}
{{- if and $configurations (ne $configurations $replicas) }}
{{- $problem := printf "%s.replicas is %d and %s.replicaFiles has %d entries" .key $replicas .key $configurations }}
{{- $remedy := "set their number in the stack (lineage-lab:kafkaBrokers) and write the values again" }}
{{- fail (printf "%s: each replica has a configuration of its own; %s" $problem $remedy) }}
{{- end }}
{{- if and (gt $replicas 1) (not .replicable) (not $configurations) }}
{{- fail (printf "%s.replicas is %d: this service runs as one replica" .key $replicas) }}
{{- end }}
{{- end }}

{{/* Data of a part's ConfigMap. Arguments: root, part. */}}
{{- define "lab.configData" -}}
start.sh: |
  {{- .part.script | trimSuffix "\n" | nindent 2 }}
{{- if .part.executor }}
executor.sh: |
  {{- .part.executor.script | trimSuffix "\n" | nindent 2 }}
executor.yaml: |
  {{- include "lab.executorPod" . | nindent 2 }}
{{- end }}
{{- range $name, $text := .part.files }}
{{ include "lab.fileKey" (dict "name" $name) }}: {{ $text | quote }}
{{- end }}
{{- range $replica, $files := .part.replicaFiles }}
{{- range $name, $text := $files }}
{{ include "lab.fileKey" (dict "name" $name "replica" $replica) }}: {{ $text | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* ConfigMap of a part. Arguments: root, part, role. */}}
{{- define "lab.configMap" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "lab.name" .part }}
  labels:
    {{- include "lab.labels" . | nindent 4 }}
data:
  {{- include "lab.configData" . | nindent 2 }}
{{- end }}

{{/* ConfigMap, Service and StatefulSet or Deployment of a service. Arguments: root, part, key (in the values),
replicable (several replicas with one configuration share the work), environment (further variables of the container). */}}
{{- define "lab.service" -}}
{{- if .part.enabled }}
{{- include "lab.require" . }}
{{- include "lab.requireReplicas" . }}
{{- $name := include "lab.name" .part }}
{{- $arguments := dict "root" .root "part" .part "role" "service" "replicable" .replicable }}
{{- $_ := set $arguments "environment" .environment }}
{{- $_ := set $arguments "replicated" (not (empty .part.volumes)) }}
{{ include "lab.configMap" $arguments }}
---
{{- if .part.ports }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  labels:
    {{- include "lab.labels" $arguments | nindent 4 }}
spec:
  selector:
    {{- include "lab.selector" (dict "root" .root "component" $name) | nindent 4 }}
  ports:
    {{- range .part.ports }}
    - {name: {{ .name }}, port: {{ .port }}, targetPort: {{ .port }}}
    {{- end }}
---
{{- end }}
{{- if .part.volumes }}
{{- include "lab.statefulSet" $arguments }}
{{- else }}
{{- include "lab.deployment" $arguments }}
{{- end }}
{{- if gt (int .part.replicas) 1 }}
---
{{- include "lab.disruptionBudget" $arguments }}
{{- end }}
{{- end }}
{{- end }}

{{/* StatefulSet, and the headless Service that gives each of its pods a host name. */}}
{{- define "lab.statefulSet" }}
{{- $name := include "lab.name" .part }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}-pods
  labels:
    {{- include "lab.labels" . | nindent 4 }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    {{- include "lab.selector" (dict "root" .root "component" $name) | nindent 4 }}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ $name }}
  labels:
    {{- include "lab.labels" . | nindent 4 }}
  annotations:
    dev.lineage-lab.replicas: {{ .part.replicas | quote }}
spec:
  serviceName: {{ $name }}-pods
  replicas: {{ .part.replicas }}
  podManagementPolicy: Parallel
  selector:
    matchLabels:
      {{- include "lab.selector" (dict "root" .root "component" $name) | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "lab.partPodLabels" . | nindent 8 }}
      annotations:
        {{- include "lab.podAnnotations" . | nindent 8 }}
    spec:
      {{- include "lab.podSpec" . | nindent 6 }}
  volumeClaimTemplates:
    - metadata:
        name: data
        labels:
          {{- include "lab.selector" (dict "root" .root "component" $name) | nindent 10 }}
      spec:
        accessModes: [ReadWriteOnce]
        {{- with .root.Values.storage.className }}
        storageClassName: {{ . | quote }}
        {{- end }}
        resources:
          requests:
            storage: {{ (.part.storage | default dict).size | default .root.Values.storage.size }}
{{- end }}

{{/* Deployment. Pods are stopped before their successors start: jobs and a JobManager must not run twice, and a small
cluster has no memory for both. */}}
{{- define "lab.deployment" }}
{{- $name := include "lab.name" .part }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels:
    {{- include "lab.labels" . | nindent 4 }}
  annotations:
    dev.lineage-lab.replicas: {{ .part.replicas | quote }}
spec:
  replicas: {{ .part.replicas }}
  strategy:
    {{- if gt (int .part.replicas) 1 }}
    type: RollingUpdate
    rollingUpdate: {maxSurge: 0, maxUnavailable: 1}
    {{- else }}
    type: Recreate
    {{- end }}
  selector:
    matchLabels:
      {{- include "lab.selector" (dict "root" .root "component" $name) | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "lab.partPodLabels" . | nindent 8 }}
      annotations:
        {{- include "lab.podAnnotations" . | nindent 8 }}
    spec:
      {{- include "lab.podSpec" . | nindent 6 }}
{{- end }}

{{/* Of several replicas, one at most may be evicted at a time. */}}
{{- define "lab.disruptionBudget" }}
{{- $name := include "lab.name" .part }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels:
    {{- include "lab.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "lab.selector" (dict "root" .root "component" $name) | nindent 6 }}
{{- end }}

{{/* ConfigMap and suspended CronJob of a task; a run is a Job made from it. Arguments: root, part, key. */}}
{{- define "lab.task" -}}
{{- include "lab.require" . }}
{{- $name := include "lab.name" .part }}
{{- $arguments := dict "root" .root "part" .part "role" "task" "replicated" false "restartPolicy" "Never" }}
{{ include "lab.configMap" $arguments }}
---
apiVersion: batch/v1
kind: CronJob
metadata:
  name: {{ $name }}
  labels:
    {{- include "lab.labels" $arguments | nindent 4 }}
spec:
  # Never: a run is requested, by `lab run` or `kubectl create job --from=cronjob/{{ $name }}`.
  schedule: "0 0 31 2 *"
  suspend: true
  concurrencyPolicy: Forbid
  jobTemplate:
    metadata:
      labels:
        {{- include "lab.labels" $arguments | nindent 8 }}
    spec:
      backoffLimit: 0
      template:
        metadata:
          labels:
            {{- include "lab.partPodLabels" $arguments | nindent 12 }}
          annotations:
            {{- include "lab.podAnnotations" $arguments | nindent 12 }}
        spec:
          {{- include "lab.podSpec" $arguments | nindent 10 }}
{{- end }}
