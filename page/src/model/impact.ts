// SPDX-License-Identifier: Apache-2.0
import type { ColumnRef, QualifiedName } from "./apiTypes";
import type { CsvRow } from "./csv";
import type { MermaidEdge } from "./mermaid";

interface ImpactEdge {
  readonly job: QualifiedName;
  readonly input: ColumnRef;
  readonly output: ColumnRef;
  readonly type: string | null;
  readonly subtype: string | null;
  readonly masking: boolean;
}

interface ReachedEntity {
  readonly distance: number;
  readonly certain: boolean;
  readonly edges: readonly ImpactEdge[];
}

/** Response of `/api/v1/impact` (downstream) and `/api/v1/origin` (upstream). */
export interface ImpactResponse {
  readonly start: ColumnRef;
  readonly columns: readonly (Required<ColumnRef> & ReachedEntity)[];
  readonly datasets: readonly (QualifiedName & ReachedEntity & { readonly whole: boolean })[];
  readonly jobs: readonly (QualifiedName & ReachedEntity)[];
}

/** A row of the impact table. */
export interface ImpactRow {
  readonly kind: "column" | "dataset" | "job";
  readonly entity: QualifiedName;
  readonly field: string;
  readonly distance: number;
  readonly certain: boolean;
  readonly transformation: string;
}

/** Columns, datasets and jobs in one list, nearest first. */
export function impactRows(impact: ImpactResponse): ImpactRow[] {
  const rows: ImpactRow[] = [
    ...impact.columns.map((row) => impactRow("column", row, row.field, transformations(row.edges))),
    ...impact.datasets.map((row) => impactRow("dataset", row, "", row.whole ? "dataset rows" : "some columns")),
    ...impact.jobs.map((row) => impactRow("job", row, "", "")),
  ];
  return rows.sort((a, b) => a.distance - b.distance || compare(a.kind, b.kind) || compare(sortKey(a), sortKey(b)));
}

/** The impact table for a CSV file. */
export function impactCsvRows(rows: readonly ImpactRow[]): CsvRow[] {
  return rows.map(({ kind, entity, field, distance, certain, transformation }) => ({
    kind,
    namespace: entity.namespace,
    name: entity.name,
    column: field,
    jobs_away: distance,
    certain,
    how: transformation,
  }));
}

/** The edges of the shortest paths to each column and dataset. */
export function impactEdges(impact: ImpactResponse): MermaidEdge[] {
  const edges = [...impact.columns, ...impact.datasets].flatMap(({ edges }) => edges);
  return edges.map(({ input, output, job, type, subtype }) => ({
    from: columnText(input),
    to: columnText(output),
    label: [job.name, subtype ?? type].filter(Boolean).join(": "),
  }));
}

function impactRow(
  kind: ImpactRow["kind"],
  { namespace, name, distance, certain }: QualifiedName & ReachedEntity,
  field: string,
  transformation: string,
): ImpactRow {
  return { kind, entity: { namespace, name }, field, distance, certain, transformation };
}

function transformations(edges: readonly ImpactEdge[]): string {
  const texts = edges.map(
    ({ type, subtype, masking }) =>
      `${(subtype ?? type ?? "").toLowerCase().replaceAll("_", " ")}${masking ? " (masked)" : ""}`,
  );
  return [...new Set(texts.filter(Boolean))].sort().join(", ");
}

function columnText({ namespace, name, field }: ColumnRef): string {
  return `${namespace}/${name}${field === undefined ? "" : ` ${field}`}`;
}

function sortKey({ entity, field }: ImpactRow): string {
  return `${entity.namespace}\n${entity.name}\n${field}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
