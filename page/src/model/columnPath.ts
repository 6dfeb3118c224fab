// SPDX-License-Identifier: Apache-2.0
import type { ColumnRef, ColumnEdgeRow, GraphExport, QualifiedName } from "./apiTypes";
import { columnId, nodeId } from "./ids";
import { columnPaths } from "./search";

/** A column, or (without `field`) the rows of a dataset. */
export interface PathNode extends ColumnRef {
  readonly id: string;
  readonly type: string | null;
  /** Number of jobs between this column and the start column; negative upstream. */
  readonly distance: number;
}

export interface PathEdge {
  readonly from: number;
  readonly to: number;
  readonly job: QualifiedName;
  /** OpenLineage subtypes (`IDENTITY`, `AGGREGATION`, `FILTER` ...): one for each way in which the job uses the input. */
  readonly kinds: readonly string[];
  readonly direct: boolean;
  readonly masking: boolean;
}

/** Lineage of one column over all hops, upstream and downstream. */
export interface ColumnPath {
  readonly nodes: readonly PathNode[];
  readonly edges: readonly PathEdge[];
  /** True if the search stopped at the maximum number of nodes. */
  readonly truncated: boolean;
}

interface ColumnEdge {
  readonly from: string;
  readonly to: string;
  readonly row: ColumnEdgeRow;
}

/** Column edges by target and by source. Built once per graph. */
export interface ColumnIndex {
  readonly incoming: ReadonlyMap<string, readonly ColumnEdge[]>;
  readonly outgoing: ReadonlyMap<string, readonly ColumnEdge[]>;
  readonly types: ReadonlyMap<string, string | null>;
}

const MAX_NODES = 1500;

export function buildColumnIndex(graph: GraphExport): ColumnIndex {
  const incoming = new Map<string, ColumnEdge[]>();
  const outgoing = new Map<string, ColumnEdge[]>();
  for (const row of [...graph.columns, ...graph.datasetColumns]) {
    const edge = { from: columnKey(row.input), to: columnKey(row.output), row };
    push(incoming, edge.to, edge);
    push(outgoing, edge.from, edge);
  }
  const types = new Map<string, string | null>();
  for (const dataset of graph.datasets) {
    for (const path of columnPaths(dataset.fields)) types.set(columnId(dataset, path), null);
    for (const field of dataset.fields) types.set(columnId(dataset, field.name), field.type ?? null);
  }
  return { incoming, outgoing, types };
}

/**
 * All columns that a column is derived from, and all columns derived from it.
 *
 * Edges to the rows of a dataset (a filter, a join key) affect all of its columns. They are included as inputs of the
 * start column and of the columns upstream of it, but are not followed further, neither upstream nor downstream. The
 * impact API follows them.
 */
export function columnPath(index: ColumnIndex, start: ColumnRef): ColumnPath {
  const search = new ColumnPathSearch(index, start);
  for (let frontier: ColumnRef[] = [start], distance = -1; frontier.length > 0; distance--)
    frontier = search.upstream(frontier, distance);
  for (let frontier: ColumnRef[] = [start], distance = 1; frontier.length > 0; distance++)
    frontier = search.downstream(frontier, distance);
  return search.path();
}

/** Breadth-first search over column edges. */
class ColumnPathSearch {
  private readonly nodes = new Map<string, PathNode & { readonly index: number }>();
  private readonly edges = new Map<string, ColumnEdge[]>();
  private readonly visited = { up: new Set<string>(), down: new Set<string>() };
  private truncated = false;

  constructor(
    private readonly index: ColumnIndex,
    start: ColumnRef,
  ) {
    this.add(start, 0);
  }

  /** Follow one hop upstream; returns the next frontier. */
  upstream(frontier: readonly ColumnRef[], distance: number): ColumnRef[] {
    const next: ColumnRef[] = [];
    for (const column of frontier) {
      const edges = this.index.incoming.get(columnKey(column)) ?? [];
      for (const edge of edges) this.follow(edge, edge.row.input, distance, "up", next);
      const rows = column.field === undefined ? [] : (this.index.incoming.get(nodeId("dataset", column)) ?? []);
      for (const edge of rows) this.follow({ ...edge, to: columnKey(column) }, edge.row.input, distance, "up", null);
    }
    return next;
  }

  /** Follow one hop downstream; returns the next frontier. */
  downstream(frontier: readonly ColumnRef[], distance: number): ColumnRef[] {
    const next: ColumnRef[] = [];
    for (const edge of frontier.flatMap((column) => this.index.outgoing.get(columnKey(column)) ?? [])) {
      const end = edge.row.output;
      this.follow(edge, end, distance, "down", end.field === undefined ? null : next);
    }
    return next;
  }

  path(): ColumnPath {
    const indexOf = (id: string): number => this.nodes.get(id)!.index;
    return {
      nodes: [...this.nodes.values()].map(({ index: _, ...node }) => node),
      edges: [...this.edges.values()].map((group) => mergeEdges(group, indexOf)),
      truncated: this.truncated,
    };
  }

  private follow(edge: ColumnEdge, end: ColumnRef, distance: number, direction: "up" | "down", next: ColumnRef[] | null): void {
    const id = columnKey(end);
    if (this.nodes.size >= MAX_NODES && !this.nodes.has(id)) {
      this.truncated = true;
      return;
    }
    push(this.edges, `${edge.from}\n${edge.to}\n${nodeId("job", edge.row.job)}`, edge);
    this.add(end, distance);
    if (next === null || this.visited[direction].has(id)) return;
    this.visited[direction].add(id);
    next.push(end);
  }

  private add({ namespace, name, field }: ColumnRef, distance: number): void {
    const ref = field === undefined ? { namespace, name } : { namespace, name, field };
    const id = columnKey(ref);
    if (this.nodes.has(id)) return;
    this.nodes.set(id, { ...ref, id, type: this.index.types.get(id) ?? null, distance, index: this.nodes.size });
  }
}

function mergeEdges(group: readonly ColumnEdge[], indexOf: (id: string) => number): PathEdge {
  return {
    from: indexOf(group[0].from),
    to: indexOf(group[0].to),
    job: group[0].row.job,
    kinds: [...new Set(group.map(({ row }) => row.subtype ?? row.type ?? "unspecified"))].sort(),
    direct: group.some(({ row }) => row.type !== "INDIRECT"),
    masking: group.some(({ row }) => row.masking),
  };
}

function columnKey(column: ColumnRef): string {
  return column.field === undefined ? nodeId("dataset", column) : columnId(column, column.field);
}

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const found = map.get(key);
  if (found) found.push(value);
  else map.set(key, [value]);
}
