// SPDX-License-Identifier: Apache-2.0
import { engineOfDataset } from "./engines";
import type { Pair } from "./apiTypes";
import type { Graph, GraphNode } from "./graph";
import { type Kind, nodeId } from "./ids";

/** What became of something between two moments. */
export type Mark = "added" | "removed" | "changed";

export const MARKS: readonly Mark[] = ["added", "removed", "changed"];

/** A mark as one sign: marks differ in shape as well as in colour. */
export const SIGN: Readonly<Record<Mark, string>> = { added: "+", removed: "−", changed: "~" };

interface Ref extends Pair {
  readonly kind: Kind;
}

export interface Change {
  readonly kind: Mark;
  readonly subject: string;
  readonly of: string;
  readonly text: string;
  readonly before: string;
  readonly after: string;
  /** The jobs and datasets that it is about, in the direction of the data. */
  readonly nodes: readonly Ref[];
}

/** What `/api/v1/diff` answers; see docs/lineage-api.md. */
export interface DifferenceAnswer {
  readonly empty: boolean;
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly changes: readonly Change[];
}

/** What became of the nodes and edges of a graph, by their places in it; undefined for what is as it was. */
export interface Marks {
  readonly nodes: readonly (Mark | undefined)[];
  readonly edges: readonly (Mark | undefined)[];
}

/** A graph with what was removed from it, and what became of everything. */
export interface Compared {
  readonly graph: Graph;
  readonly marks: Marks;
}

/**
 * The later of two graphs with the difference joined to it.
 *
 * What was removed stands behind the nodes and edges of `graph`, so that places in it stay what they are. A node is
 * changed where its own state, names or columns are; an edge where the columns are that pass over it.
 */
export function compared(graph: Graph, answer: DifferenceAnswer): Compared {
  const nodeMarks = marksOfNodes(answer.changes);
  const edgeMarks = marksOfEdges(answer.changes);
  const places = new Map(graph.nodes.map(({ id }, at) => [id, at]));
  const nodes = [...graph.nodes];
  const place = (ref: Ref): number => {
    const id = idOf(ref);
    const known = places.get(id);
    if (known !== undefined) return known;
    places.set(id, nodes.length);
    return nodes.push(lost(ref)) - 1;
  };
  const [from, to] = [Array.from(graph.from), Array.from(graph.to)];
  for (const { kind, subject, nodes: ends } of answer.changes) {
    if (kind !== "removed") continue;
    if (subject === "edge") {
      from.push(place(ends[0]));
      to.push(place(ends[1]));
      // A job is drawn with its edges: one that moves no data is not drawn in any graph.
    } else if (subject === "dataset") place(ends[0]);
  }
  return {
    graph: { nodes, from: Int32Array.from(from), to: Int32Array.from(to) },
    marks: {
      nodes: nodes.map(({ id }) => nodeMarks.get(id)),
      edges: from.map((start, edge) => edgeMarks.get(edgeKey(nodes[start].id, nodes[to[edge]].id))),
    },
  };
}

/** The marks of a subgraph: of the nodes that are kept, and of the edges between them. */
export function keptMarks({ nodes, edges }: Marks, { from, to }: Graph, kept: readonly boolean[]): Marks {
  return {
    nodes: nodes.filter((_, at) => kept[at]),
    edges: edges.filter((_, edge) => kept[from[edge]] && kept[to[edge]]),
  };
}

/** The changes that a node has part in. */
export function changesOf(answer: DifferenceAnswer, id: string): Change[] {
  return answer.changes.filter(({ nodes }) => nodes.some((ref) => idOf(ref) === id));
}

/** The mark of several things that are drawn as one: theirs where all have the same, else that some changed. */
export function joint(marks: readonly (Mark | undefined)[]): Mark | undefined {
  const [first] = marks;
  if (marks.every((mark) => mark === first)) return first;
  return marks.some(Boolean) ? "changed" : undefined;
}

/** How many have each mark; those that none has are left out. */
export function counted(marks: readonly (Mark | undefined)[]): [Mark, number][] {
  return MARKS.map((mark): [Mark, number] => [mark, marks.filter((one) => one === mark).length]).filter(
    ([, count]) => count > 0,
  );
}

/**
 * Places of the nodes where something changed: marked ones, and jobs over whose edges something else passes, so that
 * whoever goes from one to the next sees every change.
 */
export function changedPlaces({ nodes, from, to }: Graph, marks: Marks): number[] {
  const found = new Set(marks.nodes.flatMap((mark, at) => (mark ? [at] : [])));
  marks.edges.forEach((mark, edge) => {
    if (mark) found.add(nodes[from[edge]].kind === "job" ? from[edge] : to[edge]);
  });
  return [...found].sort((a, b) => a - b);
}

/** One change in words. */
export function spokenChange({ kind, before, after }: Change): string {
  if (kind === "changed") return `${before || "unknown"} → ${after || "unknown"}`;
  return before || after;
}

function marksOfNodes(changes: readonly Change[]): Map<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const { kind, subject, nodes } of changes) {
    if (subject === "job" || subject === "dataset") marks.set(idOf(nodes[0]), kind);
  }
  for (const { subject, nodes } of changes) {
    if (subject === "column" && !marks.has(idOf(nodes[0]))) marks.set(idOf(nodes[0]), "changed");
  }
  return marks;
}

function marksOfEdges(changes: readonly Change[]): Map<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const { kind, subject, nodes } of changes) {
    if (subject === "edge") marks.set(edgeKey(idOf(nodes[0]), idOf(nodes[1])), kind);
  }
  for (const { subject, nodes } of changes) {
    if (subject !== "column edge") continue;
    for (let at = 0; at + 1 < nodes.length; at++) {
      const key = edgeKey(idOf(nodes[at]), idOf(nodes[at + 1]));
      if (!marks.has(key)) marks.set(key, "changed");
    }
  }
  return marks;
}

/** What there is to say of a node that is no more. */
function lost({ kind, namespace, name }: Ref): GraphNode {
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
    aliases: [],
    columns: 0,
    masked: [],
  };
}

function idOf(ref: Ref): string {
  return nodeId(ref.kind, ref);
}

function edgeKey(from: string, to: string): string {
  return `${from}\n${to}`;
}
