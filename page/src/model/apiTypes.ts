// SPDX-License-Identifier: Apache-2.0
/** Responses of `/api/v1/graph` and `/api/v1/summaries`; see docs/reference/lineage-api.md. */

/** Identifies a job or a dataset. */
export interface QualifiedName {
  readonly namespace: string;
  readonly name: string;
}

/** Identifies a column, or the rows of a dataset. */
export interface ColumnRef extends QualifiedName {
  /** Absent for the rows of the dataset. */
  readonly field?: string;
}

export interface Field {
  readonly name: string;
  readonly type?: string | null;
  readonly fields?: readonly Field[];
}

export interface ColumnEdgeRow {
  readonly job: QualifiedName;
  readonly output: ColumnRef;
  readonly input: ColumnRef;
  readonly type: string | null;
  readonly subtype: string | null;
  readonly masking: boolean;
}

export interface GraphExport {
  readonly version: number;
  readonly jobs: readonly (QualifiedName & { readonly type: string | null; readonly state: string | null })[];
  readonly datasets: readonly (QualifiedName & {
    readonly fields: readonly Field[];
    readonly symlinks: readonly Symlink[];
  })[];
  readonly edges: readonly { readonly job: QualifiedName; readonly direction: "input" | "output"; readonly dataset: QualifiedName }[];
  readonly columns: readonly ColumnEdgeRow[];
  readonly datasetColumns: readonly ColumnEdgeRow[];
}

interface SummaryBase {
  readonly updatedAt: string | null;
  readonly tags: readonly string[];
  readonly owners: readonly string[];
  readonly description: string | null;
}

/** A data quality assertion about a dataset that failed. */
export interface FailedCheck extends QualifiedName {
  readonly assertion: string | null;
  readonly column: string | null;
}

export interface JobSummary extends QualifiedName, SummaryBase {
  readonly engine: string | null;
  readonly processing: string | null;
  readonly state: string | null;
  readonly stale: boolean;
  readonly runs: number;
  /** Id of the latest run. */
  readonly run: string | null;
  /** Data quality assertions about inputs that failed in the latest run. */
  readonly failedChecks: readonly FailedCheck[];
  /** Run that the latest run belongs to. */
  readonly parent: (QualifiedName & { readonly run: string }) | null;
  readonly startedAt: string | null;
  /** End of the latest run; null while it runs. */
  readonly endedAt: string | null;
  /** Why the service inferred that end; null if the emitter reported it. */
  readonly endedBecause: string | null;
  /** Indexes into the list of datasets. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

export interface Symlink extends QualifiedName {
  readonly type: string | null;
}

export interface DatasetSummary extends QualifiedName, SummaryBase {
  readonly columnTags: Readonly<Record<string, readonly string[]>>;
  readonly columns: number;
  readonly masked: readonly string[];
  /** Storage layer of the `storage` facet, such as `iceberg`. */
  readonly storage: string | null;
  readonly symlinks: readonly Symlink[];
}

export interface Summaries {
  readonly jobs: readonly JobSummary[];
  readonly datasets: readonly DatasetSummary[];
}

export const EMPTY_SUMMARIES: Summaries = { jobs: [], datasets: [] };
