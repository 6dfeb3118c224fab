// SPDX-License-Identifier: Apache-2.0
import type { ColumnPath, PathEdge, PathNode } from "./columnPath";
import { nodeId } from "./ids";

/** A node of a folded path: a column, or several columns that influence another one only indirectly. */
export interface FoldedNode extends PathNode {
  /** Number of columns that this node stands for; absent for a column. */
  readonly columns?: number;
}

export interface FoldedPath {
  readonly nodes: readonly FoldedNode[];
  readonly edges: readonly PathEdge[];
}

/** Number of indirect edges from which they are folded. */
const MIN_FOLDED = 2;

interface Fold {
  readonly id: string;
  readonly side: "from" | "to";
  readonly edges: PathEdge[];
}

/**
 * Fold indirect edges: those by which one job lets several columns of one dataset influence one column (or one column
 * several) become one edge of one node. `open` has the ids of the folds to leave as they are.
 *
 * Columns that are then not connected to the start any more are left out. The start is the first node.
 */
export function foldIndirect(path: ColumnPath, open: ReadonlySet<string>): FoldedPath {
  const closed = [...findFolds(path)].filter(({ id }) => !open.has(id));
  const folded = new Set(closed.flatMap(({ edges }) => edges));
  const nodes: FoldedNode[] = [...path.nodes];
  const edges = path.edges.filter((edge) => !folded.has(edge));
  for (const fold of closed) {
    const at = nodes.push(foldNode(path, fold)) - 1;
    edges.push({ ...foldEdge(fold), [fold.side]: at });
  }
  return connected(nodes, edges);
}

function* findFolds({ nodes, edges }: ColumnPath): Iterable<Fold> {
  const groups = new Map<string, Fold>();
  for (const edge of edges) {
    if (edge.direct) continue;
    const side = nodes[edge.to].distance <= 0 ? "from" : "to";
    const [many, one] = side === "from" ? [edge.from, edge.to] : [edge.to, edge.from];
    const id = `fold:${side} ${nodes[one].id} ${nodeId("job", edge.job)} ${nodeId("dataset", nodes[many])}`;
    const known = groups.get(id);
    if (known) known.edges.push(edge);
    else groups.set(id, { id, side, edges: [edge] });
  }
  for (const fold of groups.values()) if (fold.edges.length >= MIN_FOLDED) yield fold;
}

function foldNode({ nodes }: ColumnPath, { id, side, edges }: Fold): FoldedNode {
  const { namespace, name, distance } = nodes[edges[0][side]];
  return { id, namespace, name, distance, type: null, columns: edges.length };
}

function foldEdge({ edges }: Fold): PathEdge {
  return {
    ...edges[0],
    kinds: [...new Set(edges.flatMap(({ kinds }) => kinds))].sort(),
    masking: edges.some(({ masking }) => masking),
  };
}

/** The nodes upstream and downstream of the first one, with the edges between them. */
function connected(nodes: readonly FoldedNode[], edges: readonly PathEdge[]) {
  const kept = new Set([...reach(edges, "from", "to"), ...reach(edges, "to", "from")]);
  const indexes = new Map<number, number>();
  nodes.forEach((_, at) => kept.has(at) && indexes.set(at, indexes.size));
  return {
    nodes: nodes.filter((_, at) => kept.has(at)),
    edges: edges
      .filter(({ from, to }) => kept.has(from) && kept.has(to))
      .map((edge) => ({ ...edge, from: indexes.get(edge.from)!, to: indexes.get(edge.to)! })),
  };
}

function reach(edges: readonly PathEdge[], near: "from" | "to", far: "from" | "to"): Set<number> {
  const next = new Map<number, number[]>();
  for (const edge of edges) next.set(edge[near], [...(next.get(edge[near]) ?? []), edge[far]]);
  const seen = new Set([0]);
  for (const at of seen) for (const other of next.get(at) ?? []) seen.add(other);
  return seen;
}
