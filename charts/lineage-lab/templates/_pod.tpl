{{/* Pods. Every template of a service includes these, so that all pods have the same restrictions and environment. */}}

{{/* Security context of a pod, as the Pod Security level `restricted` demands. */}}
{{- define "lab.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* Security context of a container. */}}
{{- define "lab.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* What all pods have in common. Arguments: root, scheduling (values with nodeSelector, tolerations, affinity). */}}
{{- define "lab.podBasics" -}}
enableServiceLinks: false
securityContext:
  {{- include "lab.podSecurity" . | nindent 2 }}
{{- with .root.Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with get $.scheduling $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* Environment of every container. Arguments: image, replicated (the pod is one of a StatefulSet). */}}
{{- define "lab.environment" -}}
- name: IMAGE
  value: {{ .image | quote }}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: POD_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
- name: POD_IP
  valueFrom: {fieldRef: {fieldPath: status.podIP}}
- name: REPLICA
{{- if .replicated }}
  valueFrom: {fieldRef: {fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']"}}
{{- else }}
  value: "0"
{{- end }}
{{- end }}

{{/* Command of a container. A program that SIGINT stops, and SIGTERM not as gracefully, gets SIGINT instead: a shell
starts it, with the signal's default action, which POSIX shells disable for their background processes. */}}
{{- define "lab.command" -}}
{{- if eq (.part.stopSignal | default "TERM") "INT" -}}
- /bin/sh
- -c
- |
  default=
  env --default-signal=INT true 2>/dev/null && default='env --default-signal=INT'
  $default /bin/sh /etc/lineage-lab/start.sh &
  program=$! stopped=
  trap 'stopped=yes; kill -INT $program' TERM
  wait $program
  status=$?
  if [ "$stopped" ]; then trap '' TERM; wait $program; status=$?; fi
  exit $status
{{- else -}}
- /bin/sh
- /etc/lineage-lab/start.sh
{{- end }}
{{- end }}

{{/* Mounts of the volumes below. Arguments: part. */}}
{{- define "lab.mounts" -}}
- name: config
  mountPath: /etc/lineage-lab
  readOnly: true
- name: files
  mountPath: /var/lib/lineage-lab/files
- name: scratch
  mountPath: /tmp
{{- if .part.volumes }}
- name: data
  mountPath: /var/lib/lineage-lab/volumes
{{- end }}
{{- if .part.secrets }}
- name: credentials
  mountPath: /run/lineage-lab
  readOnly: true
{{- end }}
{{- end }}

{{/* Volume of a part's ConfigMap: `start.sh`, `files/` and, for each replica, `replicas/N/`. Arguments: part. */}}
{{- define "lab.configVolume" -}}
- name: config
  configMap:
    name: {{ include "lab.name" .part }}
    items:
      - {key: start.sh, path: start.sh}
      {{- if .part.executor }}
      - {key: executor.sh, path: executor.sh}
      - {key: executor.yaml, path: executor.yaml}
      {{- end }}
      {{- range $name, $text := .part.files }}
      - {key: {{ include "lab.fileKey" (dict "name" $name) }}, path: {{ printf "files/%s" $name | quote }}}
      {{- end }}
      {{- range $replica, $files := .part.replicaFiles }}
      {{- range $name, $text := $files }}
      - {key: {{ include "lab.fileKey" (dict "name" $name "replica" $replica) }}, path: {{ printf "replicas/%d/%s" $replica $name | quote }}}
      {{- end }}
      {{- end }}
{{- end }}

{{/* Key of a file in a ConfigMap, which must not contain `/`. Arguments: name, replica. */}}
{{- define "lab.fileKey" -}}
{{ if hasKey . "replica" }}replica-{{ .replica }}.{{ end }}file.{{ .name | replace "/" "__" }}
{{- end }}

{{/* Volumes of a pod; a StatefulSet adds `data`. Arguments: root, part. */}}
{{- define "lab.volumes" -}}
{{ include "lab.configVolume" . }}
- name: files
  emptyDir: {sizeLimit: 16Mi}
- name: scratch
  emptyDir: {}
{{- if or .part.secrets .part.needs }}
{{ include "lab.credentialsVolume" .root }}
{{- end }}
{{- if .part.needs }}
- name: resources
  configMap:
    name: lineage-lab-resources
{{- end }}
{{- end }}

{{/* Volume of the Secret with the credentials and, in a lab with TLS, the certificates. Argument: the root. */}}
{{- define "lab.credentialsVolume" -}}
- name: credentials
  secret:
    secretName: {{ include "lab.credentialsSecret" . }}
    defaultMode: 0440
    {{- with .Values.credentials.certificates }}
    items:
      - {key: credentials.env, path: credentials.env}
      {{- range . }}
      - {key: {{ include "lab.secretKey" . }}, path: {{ . | quote }}}
      {{- end }}
    {{- end }}
{{- end }}

{{/* Key of a file in the Secret, which must not contain `/`. Argument: the file's path. */}}
{{- define "lab.secretKey" -}}
{{ . | replace "/" "__" }}
{{- end }}

{{/* Init container that waits for what a part needs: all pods of a release start at once. Arguments: root, part. */}}
{{- define "lab.await" -}}
- name: await
  image: {{ .root.Values.setup.image | quote }}
  imagePullPolicy: {{ .root.Values.images.pullPolicy }}
  command: [/bin/sh, /etc/lineage-lab-resources/await.sh]
  args: {{ toJson .part.needs }}
  env:
    {{- include "lab.environment" (dict "image" .root.Values.setup.image "replicated" false) | nindent 4 }}
  securityContext:
    {{- include "lab.containerSecurity" . | nindent 4 }}
  resources:
    {{- toYaml .root.Values.setup.podResources | nindent 4 }}
  volumeMounts:
    - {name: resources, mountPath: /etc/lineage-lab-resources, readOnly: true}
    - {name: credentials, mountPath: /run/lineage-lab, readOnly: true}
    - {name: scratch, mountPath: /tmp}
{{- end }}

{{/* Annotations that replace the pods when their configuration or credentials change. Arguments: root, part. */}}
{{- define "lab.podAnnotations" -}}
checksum/config: {{ include "lab.configData" . | sha256sum }}
dev.lineage-lab.definition: {{ .part.definition | default "" | quote }}
{{- if .part.secrets }}
dev.lineage-lab.credentials: {{ .root.Values.credentials.fingerprint | quote }}
{{- end }}
{{- with .part.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Specification of the pod of a part. Arguments: root, part, replicated, replicable, restartPolicy, environment. It
must not depend on the number of replicas: a change of that number would restart all of them. */}}
{{- define "lab.podSpec" -}}
{{ include "lab.podBasics" (dict "root" .root "scheduling" .part) }}
shareProcessNamespace: true
terminationGracePeriodSeconds: {{ .part.stopSeconds | default 30 }}
{{- with .restartPolicy }}
restartPolicy: {{ . }}
{{- end }}
{{- if not .replicated }}
hostname: {{ include "lab.name" .part }}
{{- end }}
automountServiceAccountToken: {{ not (empty .part.executor) }}
{{- if .part.executor }}
serviceAccountName: spark
{{- end }}
{{- if or .replicable .part.replicaFiles }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "lab.selector" (dict "root" .root "component" (include "lab.name" .part)) | nindent 8 }}
{{- end }}
{{- if .part.needs }}
initContainers:
  {{- include "lab.await" . | nindent 2 }}
{{- end }}
containers:
  - name: {{ include "lab.name" .part }}
    image: {{ .part.image | quote }}
    imagePullPolicy: {{ .root.Values.images.pullPolicy }}
    command:
      {{- include "lab.command" . | nindent 6 }}
    env:
      {{- include "lab.environment" (dict "image" .part.image "replicated" .replicated) | nindent 6 }}
      {{- with .environment }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- with .part.ports }}
    ports:
      {{- range . }}
      - {name: {{ .name }}, containerPort: {{ .port }}}
      {{- end }}
    {{- end }}
    {{- with .part.probe }}
    {{- include "lab.probes" . | nindent 4 }}
    {{- end }}
    securityContext:
      {{- include "lab.containerSecurity" . | nindent 6 }}
    resources:
      {{- toYaml .part.resources | nindent 6 }}
    volumeMounts:
      {{- include "lab.mounts" . | nindent 6 }}
volumes:
  {{- include "lab.volumes" . | nindent 2 }}
{{- end }}

{{/* Probes of a container. A service that hangs leaves the Service's endpoints; it is not killed. Argument: probe. */}}
{{- define "lab.probes" -}}
startupProbe:
  {{- include "lab.probeAction" . | nindent 2 }}
  periodSeconds: 2
  timeoutSeconds: 5
  failureThreshold: {{ div (add .seconds 1) 2 }}
readinessProbe:
  {{- include "lab.probeAction" . | nindent 2 }}
  periodSeconds: 10
  timeoutSeconds: 10
  failureThreshold: 3
{{- end }}

{{- define "lab.probeAction" -}}
{{- if .path -}}
httpGet: {path: {{ .path | quote }}, port: {{ .port }}{{ with .scheme }}, scheme: {{ . }}{{ end }}}
{{- else -}}
tcpSocket: {port: {{ .port }}}
{{- end }}
{{- end }}
