{{/* Arrows of the architecture: which components connect to which. */}}

{{/* Service -> components whose programs connect to it. `jobs` are all jobs and tasks, `setup` creates resources, and
`lineage` checks whether the services that its page shows respond. */}}
{{- define "lab.clients" -}}
kafka: [kafka, connect, flink-jobmanager, flink-taskmanager, jobs, lineage, setup]
schema-registry: [connect, flink-taskmanager, jobs, lineage, setup]
connect: [connect, lineage, setup]
postgres: [connect, iceberg-catalog, lineage, marquez, shop, setup]
object-store: [connect, flink-jobmanager, flink-sql-gateway, flink-taskmanager, iceberg-catalog, jobs, lineage,
  setup, spark-history]
iceberg-catalog: [connect, flink-jobmanager, flink-sql-gateway, flink-taskmanager, jobs, lineage, setup]
lineage: [connect, flink-jobmanager, flink-sql-gateway, flink-taskmanager, jobs]
marquez: [lineage, marquez-web]
marquez-web: [lineage]
flink-jobmanager: [flink-jobmanager, flink-sql-gateway, flink-taskmanager, lineage]
flink-taskmanager: [flink-jobmanager, flink-taskmanager]
flink-sql-gateway: [lineage]
spark-history: [lineage]
dashboard: [lineage]
{{- end }}

{{/* Kind of resource -> service that has it. */}}
{{- define "lab.resourceServices" -}}
topic: kafka
subject: schema-registry
connector: connect
database: postgres
table: postgres
bucket: object-store
{{- end }}

{{/* Components that a part awaits, as JSON: it needs them, or resources that they have. Argument: its needs. */}}
{{- define "lab.awaited" -}}
{{- $services := include "lab.resourceServices" . | fromYaml }}
{{- $awaited := list }}
{{- range . }}
{{- $kind := splitList "/" . | first }}
{{- $awaited = append $awaited (get $services $kind | default ($kind | replace "_" "-")) }}
{{- end }}
{{- dict "components" $awaited | toJson }}
{{- end }}

{{/* Components of this release that may connect to a part, as JSON. A Spark executor connects to what its driver
connects to. Arguments: root, parts, component. */}}
{{- define "lab.admitted" -}}
{{- $clients := get (include "lab.clients" .root | fromYaml) .component | default list }}
{{- $component := .component }}
{{- $admitted := list "test" }}
{{- if and .root.Values.setup.enabled (has "setup" $clients) }}
{{- $admitted = append $admitted "setup" }}
{{- end }}
{{- range .parts }}
{{- $isJob := and (ne .kind "service") (has "jobs" $clients) }}
{{- $awaits := has $component (include "lab.awaited" .needs | fromJson).components }}
{{- if or $isJob $awaits (has .component $clients) }}
{{- $admitted = append $admitted .component }}
{{- if .executor }}{{ $admitted = append $admitted (printf "%s-executor" .component) }}{{ end }}
{{- end }}
{{- end }}
{{- dict "components" (without $admitted $component | uniq | sortAlpha) | toJson }}
{{- end }}
