// SPDX-License-Identifier: Apache-2.0
/** What `/api/v1/graph` and `/api/v1/summaries` answer; see docs/lineage-api.md. */

export interface Pair {
  readonly namespace: string;
  readonly name: string;
}

export interface Column extends Pair {
  /** Absent where the dataset as a whole is meant. */
  readonly field?: string;
}

export interface Field {
  readonly name: string;
  readonly type?: string | null;
  readonly fields?: readonly Field[];
}

export interface ColumnEdgeRow {
  readonly job: Pair;
  readonly output: Column;
  readonly input: Column;
  readonly type: string | null;
  readonly subtype: string | null;
  readonly masking: boolean;
}

export interface GraphExport {
  readonly version: number;
  readonly jobs: readonly (Pair & { readonly type: string | null; readonly state: string | null })[];
  readonly datasets: readonly (Pair & {
    readonly fields: readonly Field[];
    readonly symlinks: readonly Symlink[];
  })[];
  readonly edges: readonly { readonly job: Pair; readonly direction: "input" | "output"; readonly dataset: Pair }[];
  readonly columns: readonly ColumnEdgeRow[];
  readonly datasetColumns: readonly ColumnEdgeRow[];
}

interface About {
  readonly updatedAt: string | null;
  readonly tags: readonly string[];
  readonly owners: readonly string[];
  readonly description: string | null;
}

export interface JobSummary extends Pair, About {
  readonly engine: string | null;
  readonly processing: string | null;
  readonly state: string | null;
  readonly stale: boolean;
  readonly runs: number;
  readonly startedAt: string | null;
  /** Places in the list of datasets. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

export interface Symlink extends Pair {
  readonly type: string | null;
}

export interface DatasetSummary extends Pair, About {
  readonly columnTags: Readonly<Record<string, readonly string[]>>;
  readonly columns: number;
  readonly masked: readonly string[];
  readonly symlinks: readonly Symlink[];
}

export interface Summaries {
  readonly jobs: readonly JobSummary[];
  readonly datasets: readonly DatasetSummary[];
}

export const NO_SUMMARIES: Summaries = { jobs: [], datasets: [] };
