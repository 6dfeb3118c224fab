// SPDX-License-Identifier: Apache-2.0
import { type Digraph, simplify } from "../layout/digraph";
import type { Layout } from "../layout/layout";
import { countStatuses, combinedStatus, type DiffStatus, type DiffStatuses, DIFF_SIGN } from "../model/diff";
import { ENGINE_NAMES, type Engine, engineOfDataset } from "../model/engines";
import type { FoldedPath } from "../model/foldIndirect";
import type { Graph, GraphNode, State } from "../model/graph";
import { type CollapsedGraph, fullTitle, type Group } from "../model/groups";
import { nodeId } from "../model/ids";
import { shortName, displayText } from "../model/names";

/** A card: a node, a group of nodes or a column. */
export interface Card {
  readonly id: string;
  readonly shape: "dataset" | "job" | "group" | "column";
  readonly title: string;
  readonly subtitle: string;
  readonly engine: Engine;
  readonly streaming: boolean;
  readonly state: State;
  readonly masked: boolean;
  /** True for datasets with failed data quality checks, and those derived from them. */
  readonly suspect?: boolean;
  /** Diff status, if the diagram shows a comparison. */
  readonly diffStatus?: DiffStatus | undefined;
  /** True for jobs and datasets that are over: drawn translucent. */
  readonly inactive?: boolean;
  /** Facts that a card shows when it is enlarged, if it has no columns. */
  readonly facts: readonly string[];
  /** Text for tooltips and screen readers. */
  readonly label: string;
}

export interface DiagramEdge {
  readonly from: number;
  readonly to: number;
  readonly style: "plain" | "stream" | "indirect" | "masked";
  readonly label: string;
  readonly diffStatus?: DiffStatus | undefined;
}

/** Cards and edges to draw. Edges refer to cards by index. */
export interface Diagram {
  readonly cards: readonly Card[];
  readonly edges: readonly DiagramEdge[];
  /** True for a comparison: unchanged cards and edges are drawn translucent. */
  readonly isDiff?: boolean;
}

/** A diagram with the positions of its cards and edges. */
export interface DiagramWithLayout extends Diagram {
  readonly layout: Layout;
}

/** The graph of a diagram, as input of a layout. */
export function digraphOf({ cards, edges }: Diagram): Digraph {
  return {
    count: cards.length,
    from: Int32Array.from(edges, ({ from }) => from),
    to: Int32Array.from(edges, ({ to }) => to),
  };
}

/** True if two diagrams have the same cards and edges, and therefore the same layout. */
export function sameStructure(one: Diagram, other: Diagram): boolean {
  return (
    one.cards.length === other.cards.length &&
    one.edges.length === other.edges.length &&
    one.cards.every((card, at) => card.id === other.cards[at].id) &&
    one.edges.every(({ from, to }, at) => from === other.edges[at].from && to === other.edges[at].to)
  );
}

/** The diagram of a collapsed graph; with `statuses`, of a comparison. */
export function graphDiagram(
  graph: Graph,
  { items, itemByNode }: CollapsedGraph,
  stateOf: (node: GraphNode) => State,
  statuses: DiffStatuses | null = null,
  inactive: Uint8Array = new Uint8Array(graph.nodes.length),
  suspects: ReadonlyMap<string, string> = new Map(),
): Diagram {
  const cards = items.map((item) =>
    item.group
      ? groupCard(graph, item.group, stateOf, statuses, inactive, suspects)
      : nodeCard(graph.nodes[item.node], stateOf, statuses?.nodes[item.node], inactive[item.node] === 1, suspects),
  );
  const from = graph.from.map((node) => itemByNode[node]);
  const to = graph.to.map((node) => itemByNode[node]);
  const simple = simplify({ count: items.length, from, to });
  const statusesOf = statuses && statusesByEdge(items.length, from, to, statuses.edges);
  const edges = Array.from(simple.from, (start, edge): DiagramEdge => {
    const end = simple.to[edge];
    const streaming = [cards[start], cards[end]].some((card) => card.shape === "job" && card.streaming);
    const diffStatus = statusesOf && combinedStatus(statusesOf.get(start * items.length + end)!);
    const style = streaming ? "stream" : "plain";
    return { from: start, to: end, style, label: "", ...(diffStatus ? { diffStatus } : {}) };
  });
  return { cards, edges, isDiff: statuses !== null };
}

/** The statuses of the graph edges that are drawn as one diagram edge. */
function statusesByEdge(count: number, from: Int32Array, to: Int32Array, statuses: DiffStatuses["edges"]) {
  const found = new Map<number, (DiffStatus | undefined)[]>();
  from.forEach((start, edge) => {
    const key = start * count + to[edge];
    const known = found.get(key);
    if (known) known.push(statuses[edge]);
    else found.set(key, [statuses[edge]]);
  });
  return found;
}

/** The diagram of a column path. */
export function columnDiagram(
  { nodes, edges }: Pick<FoldedPath, "nodes" | "edges">,
  maskedColumns: ReadonlySet<string>,
  engineOf: (dataset: string) => Engine | undefined,
): Diagram {
  return {
    cards: nodes.map((node) => {
      const where = `${displayText(node.namespace)}/${displayText(node.name)}`;
      const rows = node.columns === undefined ? "dataset rows" : `${node.columns} columns`;
      const title = node.field === undefined ? rows : displayText(node.field);
      const masked = maskedColumns.has(node.id);
      const type = node.type ? `, ${displayText(node.type)}` : "";
      return {
        id: node.id,
        shape: node.columns === undefined ? ("column" as const) : ("group" as const),
        title,
        subtitle: `${displayText(node.name)}${type}`,
        engine: engineOf(nodeId("dataset", node)) ?? engineOfDataset(node.namespace, []),
        streaming: false,
        state: "none" as const,
        masked,
        facts: NO_FACTS,
        label: `${title} of ${where}${type}${masked ? ", masked" : ""}${node.columns === undefined ? "" : "; select to expand"}`,
      };
    }),
    edges: edges.map(({ from, to, kinds, direct, masking }) => ({
      from,
      to,
      style: masking ? ("masked" as const) : direct ? ("plain" as const) : ("indirect" as const),
      label: `${kinds.map(readableKind).join(", ")}${masking ? ", masked" : ""}`,
    })),
  };
}

/** A transformation subtype for display: `GROUP_BY` becomes "group by". */
export function readableKind(kind: string): string {
  return displayText(kind).toLowerCase().replaceAll("_", " ");
}

function nodeCard(
  node: GraphNode,
  stateOf: (node: GraphNode) => State,
  diffStatus: DiffStatus | undefined,
  inactive: boolean,
  suspects: ReadonlyMap<string, string>,
): Card {
  const state = stateOf(node);
  const engine = ENGINE_NAMES[node.engine];
  const mode = node.kind === "job" ? `${node.streaming ? "streaming" : "batch"} job` : "dataset";
  const about = [
    mode,
    node.kind === "job" && state !== "none" ? state : "",
    node.tags.map((tag) => `tag ${tag}`).join(", "),
    inactive ? (node.kind === "job" ? "inactive" : "unused") : "",
    suspects.has(node.id) ? "suspect" : "",
    diffStatus ?? "",
  ];
  return {
    id: node.id,
    shape: node.kind,
    title:
      node.kind === "job" ? displayText(node.name) : node.name.includes("/") ? lastTwoSegments(node.name) : shortName(node.name),
    subtitle: node.kind === "job" ? `${engine} · ${node.streaming ? "streaming" : "batch"}` : displayText(node.namespace),
    engine: node.engine,
    streaming: node.streaming,
    state,
    masked: node.masked.length > 0,
    suspect: suspects.has(node.id),
    diffStatus,
    inactive,
    facts: node.kind === "job" ? jobFacts(node, state) : NO_FACTS,
    label: `${displayText(node.namespace)}/${displayText(node.name)}: ${engine}, ${about.filter(Boolean).join(", ")}`,
  };
}

const NO_FACTS: readonly string[] = [];

function jobFacts(node: GraphNode, state: State): readonly string[] {
  const mode = `${ENGINE_NAMES[node.engine]}, ${node.streaming ? "streaming" : "batch"}`;
  const runs = `${node.runs} ${node.runs === 1 ? "run" : "runs"}`;
  const latest = state === "none" ? [] : [`latest ${state}`];
  return [mode, runs, ...latest, ...node.owners.map((owner) => `owner ${displayText(owner)}`)];
}

/** The last two segments of a path: schema and table. */
function lastTwoSegments(name: string): string {
  return displayText(name.split("/").filter(Boolean).slice(-2).join("/"));
}

/** A group shows the most severe state of its members. */
const STATES_BY_SEVERITY: readonly State[] = ["failed", "stale", "aborted", "running", "new", "completed", "none"];

/** States that a group reports with a number. */
const PROBLEM_STATES: readonly State[] = ["failed", "stale"];

function countBy<Value>(values: readonly Value[]): Map<Value, number> {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function groupCard(
  graph: Graph,
  group: Group,
  stateOf: (node: GraphNode) => State,
  statuses: DiffStatuses | null,
  inactive: Uint8Array,
  suspects: ReadonlyMap<string, string>,
): Card {
  const active = group.members.filter((member) => inactive[member] === 0);
  const states = countBy((active.length > 0 ? active : group.members).map((member) => stateOf(graph.nodes[member])));
  const state = STATES_BY_SEVERITY.find((known) => states.has(known)) ?? "none";
  const count = `${group.members.length} ${group.kind === "mixed" ? "nodes" : `${group.kind}s`}`;
  const suspect = group.members.filter((member) => suspects.has(graph.nodes[member].id)).length;
  const problems = [
    ...PROBLEM_STATES.filter((known) => states.has(known)).map((known) => `${states.get(known)} ${known}`),
    ...(suspect > 0 ? [`${suspect} suspect`] : []),
  ];
  const memberStatuses = group.members.map((member) => statuses?.nodes[member]);
  const changes = countStatuses(memberStatuses);
  const changeTexts = changes.map(([status, number]) => `${number} ${status}`);
  const summary = problems.length > 0 || state === "none" ? problems : [state];
  const about = [count, ...summary, ...changeTexts].filter(Boolean).join(", ");
  return {
    id: group.id,
    shape: "group",
    title: group.title,
    subtitle: [count, ...problems, group.within, changes.map(([status, number]) => `${DIFF_SIGN[status]}${number}`).join(" ")].filter(Boolean).join(" · "),
    engine: group.engine,
    streaming: false,
    state,
    masked: false,
    suspect: suspect > 0,
    diffStatus: combinedStatus(memberStatuses),
    inactive: active.length === 0,
    facts: [count, ...problems, ...(group.within === "" ? [] : [group.within])],
    label: `Group ${fullTitle(group)}: ${about}; select to expand`,
  };
}
