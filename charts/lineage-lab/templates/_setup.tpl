{{/* Pods of the setup image: the setup Job and the test. */}}

{{/* Common part of their containers. Argument: the root. */}}
{{- define "lab.setupContainer" -}}
image: {{ .Values.setup.image | quote }}
imagePullPolicy: {{ .Values.images.pullPolicy }}
env:
  {{- include "lab.environment" (dict "image" .Values.setup.image "replicated" false) | nindent 2 }}
securityContext:
  {{- include "lab.containerSecurity" . | nindent 2 }}
resources:
  {{- toYaml .Values.setup.podResources | nindent 2 }}
{{- end }}

{{/* Pod template of the setup Job. Argument: the root. */}}
{{- define "lab.setupPodTemplate" -}}
metadata:
  labels:
    {{- include "lab.podLabels" . | nindent 4 }}
    app.kubernetes.io/component: setup
spec:
  {{- include "lab.podBasics" (dict "root" . "scheduling" .Values.setup) | nindent 2 }}
  automountServiceAccountToken: false
  restartPolicy: OnFailure
  containers:
    - name: setup
      command: [/bin/sh, /etc/lineage-lab-resources/apply.sh]
      {{- include "lab.setupContainer" . | nindent 6 }}
      volumeMounts:
        - {name: resources, mountPath: /etc/lineage-lab-resources, readOnly: true}
        - {name: credentials, mountPath: /run/lineage-lab, readOnly: true}
        - {name: scratch, mountPath: /tmp}
  volumes:
    - name: resources
      configMap:
        name: lineage-lab-resources
    {{- include "lab.credentialsVolume" . | nindent 4 }}
    - name: scratch
      emptyDir: {}
{{- end }}

{{/* Fail if the values of the setup were not rendered from the lab's model, but something needs them. */}}
{{- define "lab.requireSetup" -}}
{{- range $field := list "image" "script" "awaitScript" }}
{{- if not (get $.Values.setup $field) }}
{{- fail (printf "values of setup are incomplete (no setup.%s): %s" $field (include "lab.writeValues" .)) }}
{{- end }}
{{- end }}
{{- end }}
