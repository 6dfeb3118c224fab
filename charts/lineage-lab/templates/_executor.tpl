{{/* Pod template of Spark executors. Spark sets image, resources and environment, and mounts its local directories at
/tmp. Arguments: root, part (the driver). */}}
{{- define "lab.executorPod" -}}
apiVersion: v1
kind: Pod
metadata:
  labels:
    {{- include "lab.podLabels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ include "lab.name" .part }}-executor
    dev.lineage-lab.part: {{ .part.name | quote }}
    dev.lineage-lab.role: executor
spec:
  {{- include "lab.podBasics" (dict "root" .root "scheduling" .part) | nindent 2 }}
  shareProcessNamespace: true
  automountServiceAccountToken: false
  restartPolicy: Never
  containers:
    - name: executor
      imagePullPolicy: {{ .root.Values.images.pullPolicy }}
      command: [/bin/sh, /etc/lineage-lab/executor.sh]
      securityContext:
        {{- include "lab.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - {name: config, mountPath: /etc/lineage-lab, readOnly: true}
        - {name: files, mountPath: /var/lib/lineage-lab/files}
        - {name: credentials, mountPath: /run/lineage-lab, readOnly: true}
  volumes:
    - name: config
      configMap:
        name: {{ include "lab.name" .part }}
        items:
          - {key: executor.sh, path: executor.sh}
    - name: files
      emptyDir: {sizeLimit: 16Mi}
    {{- include "lab.credentialsVolume" .root | nindent 4 }}
{{- end }}
