// SPDX-License-Identifier: Apache-2.0
import { engineOfDataset } from "./engines";
import type { QualifiedName } from "./apiTypes";
import type { Graph, GraphNode } from "./graph";
import { type NodeKind, nodeId } from "./ids";

/** Change of a node or edge between two times. */
export type DiffStatus = "added" | "removed" | "changed";

export const DIFF_STATUSES: readonly DiffStatus[] = ["added", "removed", "changed"];

/** One sign per status, so that statuses differ in shape and not only in color. */
export const DIFF_SIGN: Readonly<Record<DiffStatus, string>> = { added: "+", removed: "−", changed: "~" };

interface NodeRef extends QualifiedName {
  readonly kind: NodeKind;
}

export interface DiffChange {
  readonly kind: DiffStatus;
  readonly subject: string;
  readonly of: string;
  readonly text: string;
  readonly before: string;
  readonly after: string;
  /** The affected jobs and datasets, in the direction of the data. */
  readonly nodes: readonly NodeRef[];
}

/** Response of `/api/v1/diff`; see docs/reference/lineage-api.md. */
export interface DiffResponse {
  readonly empty: boolean;
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly changes: readonly DiffChange[];
}

/** Diff status of each node and edge of a graph, by index; undefined if unchanged. */
export interface DiffStatuses {
  readonly nodes: readonly (DiffStatus | undefined)[];
  readonly edges: readonly (DiffStatus | undefined)[];
}

/** The later graph plus the removed nodes and edges, with the status of each. */
export interface DiffGraph {
  readonly graph: Graph;
  readonly statuses: DiffStatuses;
}

/**
 * Add a diff to the later of its two graphs.
 *
 * Removed nodes and edges are appended, so that indexes into `graph` stay valid. A node is changed if its state, names
 * or columns are; an edge is changed if the column lineage along it is.
 */
export function applyDiff(graph: Graph, diff: DiffResponse): DiffGraph {
  const statusByNode = nodeStatuses(diff.changes);
  const statusByEdge = edgeStatuses(diff.changes);
  const indexes = new Map(graph.nodes.map(({ id }, at) => [id, at]));
  const nodes = [...graph.nodes];
  const indexOf = (ref: NodeRef): number => {
    const id = refId(ref);
    const known = indexes.get(id);
    if (known !== undefined) return known;
    indexes.set(id, nodes.length);
    return nodes.push(removedNode(ref)) - 1;
  };
  const [from, to] = [Array.from(graph.from), Array.from(graph.to)];
  for (const { kind, subject, nodes: ends } of diff.changes) {
    if (kind !== "removed") continue;
    if (subject === "edge") {
      from.push(indexOf(ends[0]));
      to.push(indexOf(ends[1]));
      // A removed job is added with its edges. Jobs without edges are not drawn in any graph.
    } else if (subject === "dataset") indexOf(ends[0]);
  }
  return {
    graph: { nodes, from: Int32Array.from(from), to: Int32Array.from(to) },
    statuses: {
      nodes: nodes.map(({ id }) => statusByNode.get(id)),
      edges: from.map((start, edge) => statusByEdge.get(edgeKey(nodes[start].id, nodes[to[edge]].id))),
    },
  };
}

/** The statuses of a subgraph: of the kept nodes and the edges between them. */
export function filterStatuses({ nodes, edges }: DiffStatuses, { from, to }: Graph, kept: readonly boolean[]): DiffStatuses {
  return {
    nodes: nodes.filter((_, at) => kept[at]),
    edges: edges.filter((_, edge) => kept[from[edge]] && kept[to[edge]]),
  };
}

/** The changes that affect a node. */
export function changesOf(diff: DiffResponse, id: string): DiffChange[] {
  return diff.changes.filter(({ nodes }) => nodes.some((ref) => refId(ref) === id));
}

/** Status of several nodes or edges drawn as one: their status if all share it, else `changed`. */
export function combinedStatus(statuses: readonly (DiffStatus | undefined)[]): DiffStatus | undefined {
  const [first] = statuses;
  if (statuses.every((status) => status === first)) return first;
  return statuses.some(Boolean) ? "changed" : undefined;
}

/** Number of occurrences of each status that occurs. */
export function countStatuses(statuses: readonly (DiffStatus | undefined)[]): [DiffStatus, number][] {
  return DIFF_STATUSES.map((status): [DiffStatus, number] => [status, statuses.filter((one) => one === status).length]).filter(
    ([, count]) => count > 0,
  );
}

/** Indexes of the changed nodes, and of the jobs at changed edges: visiting them in turn shows every change. */
export function changedNodes({ nodes, from, to }: Graph, statuses: DiffStatuses): number[] {
  const found = new Set(statuses.nodes.flatMap((status, at) => (status ? [at] : [])));
  statuses.edges.forEach((status, edge) => {
    if (status) found.add(nodes[from[edge]].kind === "job" ? from[edge] : to[edge]);
  });
  return [...found].sort((a, b) => a - b);
}

/** Value before and after a change, or the added or removed value. */
export function changeText({ kind, before, after }: DiffChange): string {
  if (kind === "changed") return `${before || "unknown"} → ${after || "unknown"}`;
  return before || after;
}

function nodeStatuses(changes: readonly DiffChange[]): Map<string, DiffStatus> {
  const statuses = new Map<string, DiffStatus>();
  for (const { kind, subject, nodes } of changes) {
    if (subject === "job" || subject === "dataset") statuses.set(refId(nodes[0]), kind);
  }
  for (const { subject, nodes } of changes) {
    if (subject === "column" && !statuses.has(refId(nodes[0]))) statuses.set(refId(nodes[0]), "changed");
  }
  return statuses;
}

function edgeStatuses(changes: readonly DiffChange[]): Map<string, DiffStatus> {
  const statuses = new Map<string, DiffStatus>();
  for (const { kind, subject, nodes } of changes) {
    if (subject === "edge") statuses.set(edgeKey(refId(nodes[0]), refId(nodes[1])), kind);
  }
  for (const { subject, nodes } of changes) {
    if (subject !== "column edge") continue;
    for (let at = 0; at + 1 < nodes.length; at++) {
      const key = edgeKey(refId(nodes[at]), refId(nodes[at + 1]));
      if (!statuses.has(key)) statuses.set(key, "changed");
    }
  }
  return statuses;
}

/** A node that exists only in the earlier graph: the diff contains only its name. */
function removedNode({ kind, namespace, name }: NodeRef): GraphNode {
  return {
    id: nodeId(kind, { namespace, name }),
    kind,
    namespace,
    name,
    engine: kind === "dataset" ? engineOfDataset(namespace, []) : "job",
    streaming: false,
    state: "none",
    tags: [],
    owners: [],
    description: null,
    updatedAt: null,
    startedAt: null,
    runs: 0,
    endedAt: null,
    endedBecause: null,
    failedChecks: [],
    aliases: [],
    columns: 0,
    masked: [],
  };
}

function refId(ref: NodeRef): string {
  return nodeId(ref.kind, ref);
}

function edgeKey(from: string, to: string): string {
  return `${from}\n${to}`;
}
