// SPDX-License-Identifier: Apache-2.0
import type { Symlink } from "./apiTypes";

/** What runs a job or holds a dataset, as far as the page has a picture of it. */
export type Engine =
  | "kafka"
  | "connect"
  | "flink"
  | "spark"
  | "iceberg"
  | "s3"
  | "postgres"
  | "database"
  | "file"
  | "job";

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
};

const OF_INTEGRATION: readonly [RegExp, Engine][] = [
  [/connect/i, "connect"],
  [/flink/i, "flink"],
  [/spark/i, "spark"],
];

const OF_SCHEME: Readonly<Record<string, Engine>> = {
  kafka: "kafka",
  postgres: "postgres",
  postgresql: "postgres",
  s3: "s3",
  s3a: "s3",
  gs: "s3",
  abfss: "s3",
  file: "file",
  hdfs: "file",
};

/** The engine of a job, from what its `jobType` facet calls the integration. */
export function engineOfJob(integration: string | null): Engine {
  return OF_INTEGRATION.find(([pattern]) => pattern.test(integration ?? ""))?.[1] ?? "job";
}

/** The engine of a dataset: its namespace's scheme, and Iceberg where an object store's path has a table's name. */
export function engineOfDataset(namespace: string, symlinks: readonly Symlink[]): Engine {
  const scheme = /^([a-z0-9+.-]+):/i.exec(namespace)?.[1]?.toLowerCase() ?? "";
  const engine = OF_SCHEME[scheme] ?? "database";
  return engine === "s3" && symlinks.some(({ type }) => type === "TABLE") ? "iceberg" : engine;
}
