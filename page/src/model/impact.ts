// SPDX-License-Identifier: Apache-2.0
import type { Column, Pair } from "./apiTypes";
import type { MermaidEdge, Row } from "./tables";

interface Step {
  readonly job: Pair;
  readonly input: Column;
  readonly output: Column;
  readonly type: string | null;
  readonly subtype: string | null;
  readonly masking: boolean;
}

interface Reached {
  readonly distance: number;
  readonly certain: boolean;
  readonly edges: readonly Step[];
}

/** What `/api/v1/impact` and `/api/v1/origin` answer. */
export interface Reach {
  readonly start: Column;
  readonly columns: readonly (Required<Column> & Reached)[];
  readonly datasets: readonly (Pair & Reached & { readonly whole: boolean })[];
  readonly jobs: readonly (Pair & Reached)[];
}

/** One line of the list that the page shows and exports. */
export interface ReachRow {
  readonly kind: "column" | "dataset" | "job";
  readonly pair: Pair;
  readonly field: string;
  readonly jobs: number;
  readonly certain: boolean;
  readonly how: string;
}

/** Columns, datasets and jobs in one list, the nearest first. */
export function reachRows(reach: Reach): ReachRow[] {
  const rows: ReachRow[] = [
    ...reach.columns.map((row) => line("column", row, row.field, kinds(row.edges))),
    ...reach.datasets.map((row) => line("dataset", row, "", row.whole ? "its rows as a whole" : "some of its columns")),
    ...reach.jobs.map((row) => line("job", row, "", "")),
  ];
  return rows.sort((a, b) => a.jobs - b.jobs || compare(a.kind, b.kind) || compare(key(a), key(b)));
}

/** The list for a CSV file. */
export function exportRows(rows: readonly ReachRow[]): Row[] {
  return rows.map(({ kind, pair, field, jobs, certain, how }) => ({
    kind,
    namespace: pair.namespace,
    name: pair.name,
    column: field,
    jobs_away: jobs,
    certain,
    how,
  }));
}

/** The edges over which everything was reached first. */
export function reachEdges(reach: Reach): MermaidEdge[] {
  const steps = [...reach.columns, ...reach.datasets].flatMap(({ edges }) => edges);
  return steps.map(({ input, output, job, type, subtype }) => ({
    from: textOf(input),
    to: textOf(output),
    label: [job.name, subtype ?? type].filter(Boolean).join(": "),
  }));
}

function line(
  kind: ReachRow["kind"],
  { namespace, name, distance, certain }: Pair & Reached,
  field: string,
  how: string,
): ReachRow {
  return { kind, pair: { namespace, name }, field, jobs: distance, certain, how };
}

function kinds(edges: readonly Step[]): string {
  const found = edges.map(
    ({ type, subtype, masking }) =>
      `${(subtype ?? type ?? "").toLowerCase().replaceAll("_", " ")}${masking ? " (masked)" : ""}`,
  );
  return [...new Set(found.filter(Boolean))].sort().join(", ");
}

function textOf({ namespace, name, field }: Column): string {
  return `${namespace}/${name}${field === undefined ? "" : ` ${field}`}`;
}

function key({ pair, field }: ReachRow): string {
  return `${pair.namespace}\n${pair.name}\n${field}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
