// SPDX-License-Identifier: Apache-2.0
import type { Column, ColumnEdgeRow, GraphExport, Pair } from "./apiTypes";
import { columnId, nodeId } from "./ids";
import { paths } from "./search";

/** A column, or (without `field`) the rows of a dataset as a whole. */
export interface PathNode extends Column {
  readonly id: string;
  readonly type: string | null;
  /** Jobs between it and the column that was asked for; negative upstream. */
  readonly distance: number;
}

export interface PathEdge {
  readonly from: number;
  readonly to: number;
  readonly job: Pair;
  /** `IDENTITY`, `AGGREGATION`, `FILTER` ...; several where a job derives a column in several ways from another. */
  readonly kinds: readonly string[];
  readonly direct: boolean;
  readonly masking: boolean;
}

/** The way of one column through all hops. */
export interface ColumnPath {
  readonly nodes: readonly PathNode[];
  readonly edges: readonly PathEdge[];
  /** There is more than is shown. */
  readonly truncated: boolean;
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly row: ColumnEdgeRow;
}

/** Column edges by their ends, made once for a graph. */
export interface ColumnIndex {
  readonly into: ReadonlyMap<string, readonly Edge[]>;
  readonly outOf: ReadonlyMap<string, readonly Edge[]>;
  readonly types: ReadonlyMap<string, string | null>;
}

const MOST_NODES = 1500;

export function columnIndex(found: GraphExport): ColumnIndex {
  const into = new Map<string, Edge[]>();
  const outOf = new Map<string, Edge[]>();
  for (const row of [...found.columns, ...found.datasetColumns]) {
    const edge = { from: keyOf(row.input), to: keyOf(row.output), row };
    push(into, edge.to, edge);
    push(outOf, edge.from, edge);
  }
  const types = new Map<string, string | null>();
  for (const dataset of found.datasets) {
    for (const path of paths(dataset.fields)) types.set(columnId(dataset, path), null);
    for (const field of dataset.fields) types.set(columnId(dataset, field.name), field.type ?? null);
  }
  return { into, outOf, types };
}

/**
 * Everything that a column is made of and everything that is made of it.
 *
 * What decides on the rows of a dataset (a filter, a join key) affects each of its columns: it is drawn where it acts,
 * and its own origin is not followed, nor what becomes of rows as a whole. The impact list has all of that.
 */
export function columnPath(index: ColumnIndex, start: Column): ColumnPath {
  const found = new Found(index, start);
  for (let front: Column[] = [start], distance = -1; front.length > 0; distance--)
    front = found.upstream(front, distance);
  for (let front: Column[] = [start], distance = 1; front.length > 0; distance++)
    front = found.downstream(front, distance);
  return found.path();
}

/** What a walk has found so far. */
class Found {
  private readonly nodes = new Map<string, PathNode & { readonly at: number }>();
  private readonly edges = new Map<string, Edge[]>();
  private readonly walked = { up: new Set<string>(), down: new Set<string>() };
  private truncated = false;

  constructor(
    private readonly index: ColumnIndex,
    start: Column,
  ) {
    this.add(start, 0);
  }

  /** One hop up from some columns; returns those to go on from. */
  upstream(front: readonly Column[], distance: number): Column[] {
    const next: Column[] = [];
    for (const column of front) {
      const own = this.index.into.get(keyOf(column)) ?? [];
      for (const edge of own) this.follow(edge, edge.row.input, distance, "up", next);
      const rows = column.field === undefined ? [] : (this.index.into.get(nodeId("dataset", column)) ?? []);
      for (const edge of rows) this.follow({ ...edge, to: keyOf(column) }, edge.row.input, distance, "up", null);
    }
    return next;
  }

  /** One hop down. */
  downstream(front: readonly Column[], distance: number): Column[] {
    const next: Column[] = [];
    for (const edge of front.flatMap((column) => this.index.outOf.get(keyOf(column)) ?? [])) {
      const end = edge.row.output;
      this.follow(edge, end, distance, "down", end.field === undefined ? null : next);
    }
    return next;
  }

  path(): ColumnPath {
    const place = (id: string): number => this.nodes.get(id)!.at;
    return {
      nodes: [...this.nodes.values()].map(({ at: _, ...node }) => node),
      edges: [...this.edges.values()].map((group) => merged(group, place)),
      truncated: this.truncated,
    };
  }

  private follow(edge: Edge, end: Column, distance: number, way: "up" | "down", next: Column[] | null): void {
    const id = keyOf(end);
    if (this.nodes.size >= MOST_NODES && !this.nodes.has(id)) {
      this.truncated = true;
      return;
    }
    push(this.edges, `${edge.from}\n${edge.to}\n${nodeId("job", edge.row.job)}`, edge);
    this.add(end, distance);
    if (next === null || this.walked[way].has(id)) return;
    this.walked[way].add(id);
    next.push(end);
  }

  private add({ namespace, name, field }: Column, distance: number): void {
    const where = field === undefined ? { namespace, name } : { namespace, name, field };
    const id = keyOf(where);
    if (this.nodes.has(id)) return;
    this.nodes.set(id, { ...where, id, type: this.index.types.get(id) ?? null, distance, at: this.nodes.size });
  }
}

function merged(group: readonly Edge[], place: (id: string) => number): PathEdge {
  return {
    from: place(group[0].from),
    to: place(group[0].to),
    job: group[0].row.job,
    kinds: [...new Set(group.map(({ row }) => row.subtype ?? row.type ?? "unspecified"))].sort(),
    direct: group.some(({ row }) => row.type !== "INDIRECT"),
    masking: group.some(({ row }) => row.masking),
  };
}

function keyOf(column: Column): string {
  return column.field === undefined ? nodeId("dataset", column) : columnId(column, column.field);
}

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const found = map.get(key);
  if (found) found.push(value);
  else map.set(key, [value]);
}
