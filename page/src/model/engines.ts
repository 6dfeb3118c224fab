// SPDX-License-Identifier: Apache-2.0
import type { Symlink } from "./apiTypes";

/** System that runs a job or stores a dataset, as far as the page has an icon for it. */
export const ENGINES = [
  ...(["kafka", "connect", "flink", "spark", "iceberg", "s3", "postgres", "database", "file", "job"] as const),
  ...(["trino", "duckdb", "dbt", "airflow", "dashboard", "model", "lake", "quality"] as const),
] as const;
export type Engine = (typeof ENGINES)[number];

export const ENGINE_NAMES: Readonly<Record<Engine, string>> = {
  kafka: "Kafka",
  connect: "Connect",
  flink: "Flink",
  spark: "Spark",
  iceberg: "Iceberg",
  s3: "S3",
  postgres: "Postgres",
  database: "database",
  file: "files",
  job: "job",
  trino: "Trino",
  duckdb: "DuckDB",
  dbt: "dbt",
  airflow: "Airflow",
  dashboard: "dashboard",
  model: "model",
  lake: "lake table",
  quality: "data quality check",
};

const ENGINE_BY_INTEGRATION: readonly [RegExp, Engine][] = [
  [/connect/i, "connect"],
  [/flink/i, "flink"],
  [/spark/i, "spark"],
  [/trino|presto/i, "trino"],
  [/great.?expectations|deequ|soda|data.?quality/i, "quality"],
  [/duckdb/i, "duckdb"],
  [/dbt/i, "dbt"],
  [/airflow/i, "airflow"],
  [/streamlit|superset|grafana|tableau|looker|power ?bi|dashboard/i, "dashboard"],
  [/mlflow|scikit|sklearn|\bml\b/i, "model"],
];

// A map, as wherever names of events are looked up: every object has a property `constructor`.
const ENGINE_BY_SCHEME: ReadonlyMap<string, Engine> = new Map([
  ["kafka", "kafka"],
  ["postgres", "postgres"],
  ["postgresql", "postgres"],
  ["s3", "s3"],
  ["s3a", "s3"],
  ["gs", "s3"],
  ["abfss", "s3"],
  ["file", "file"],
  ["hdfs", "file"],
  ["trino", "trino"],
  ["duckdb", "duckdb"],
  ["dashboard", "dashboard"],
  ["superset", "dashboard"],
  ["grafana", "dashboard"],
  ["mlflow", "model"],
  ["model", "model"],
]);

const ENGINE_BY_STORAGE: ReadonlyMap<string, Engine> = new Map([
  ["iceberg", "iceberg"],
  ["delta", "lake"],
  ["hudi", "lake"],
  ["paimon", "lake"],
]);

/** The engine of a job, from the integration in its `jobType` facet. */
export function engineOfJob(integration: string | null): Engine {
  return ENGINE_BY_INTEGRATION.find(([pattern]) => pattern.test(integration ?? ""))?.[1] ?? "job";
}

/**
 * The engine of a dataset: its storage layer if an event names it, else by the scheme of its namespace. An object store
 * path with a table symlink is Iceberg.
 */
export function engineOfDataset(
  namespace: string,
  symlinks: readonly Symlink[],
  storage: string | null = null,
): Engine {
  const stored = ENGINE_BY_STORAGE.get(storage?.toLowerCase() ?? "");
  if (stored) return stored;
  const scheme = /^([a-z0-9+.-]+):/i.exec(namespace)?.[1]?.toLowerCase() ?? "";
  const engine = ENGINE_BY_SCHEME.get(scheme) ?? "database";
  return engine === "s3" && symlinks.some(({ type }) => type === "TABLE") ? "iceberg" : engine;
}
