// SPDX-License-Identifier: Apache-2.0
import type { ColumnEdgeRow, DatasetSummary, GraphExport, JobSummary, QualifiedName, Summaries } from "../src/model/apiTypes";

const ABOUT = { updatedAt: "2026-01-01T00:00:00Z", tags: [], owners: [], description: null };

export function job(name: string, inputs: number[], outputs: number[], more: Partial<JobSummary> = {}): JobSummary {
  const state = { engine: "SPARK", processing: "BATCH", state: "COMPLETED", stale: false, runs: 1, run: null, parent: null, failedChecks: [], startedAt: null, endedAt: null, endedBecause: null };
  return { namespace: "jobs", name, inputs, outputs, ...ABOUT, ...state, ...more };
}

export function dataset(name: string, more: Partial<DatasetSummary> = {}): DatasetSummary {
  return { namespace: "s3://lake", name, columns: 0, columnTags: {}, masked: [], storage: null, symlinks: [], ...ABOUT, ...more };
}

export function identity(input: string, output: string, more: Partial<ColumnEdgeRow> = {}): ColumnEdgeRow {
  return {
    job: JOB,
    input: column(input),
    output: column(output),
    type: "DIRECT",
    subtype: "IDENTITY",
    masking: false,
    ...more,
  };
}

/** Column from `table.field`; the rows of a dataset from `table`. */
export function column(text: string) {
  const [name, field] = text.split(".");
  return field === undefined ? { namespace: "s3://lake", name } : { namespace: "s3://lake", name, field };
}

const JOB: QualifiedName = { namespace: "jobs", name: "etl" };

export function exported(more: Partial<GraphExport>): GraphExport {
  return { version: 1, jobs: [], datasets: [], edges: [], columns: [], datasetColumns: [], ...more };
}

export const SHOP: Summaries = {
  jobs: [
    job("etl", [0], [1], { processing: "STREAMING", state: "RUNNING", engine: "FLINK", owners: ["team-data"] }),
    job("report", [1], [2], { state: "FAILED" }),
    job("application", [], []),
  ],
  datasets: [
    dataset("orders", { namespace: "kafka://kafka:9092", tags: ["gold"] }),
    dataset("sales/orders", {
      symlinks: [{ namespace: "http://c", name: "lake.sales.orders", type: "TABLE" }],
      columnTags: { email: ["pii"] },
    }),
    dataset("sales/stats"),
  ],
};
