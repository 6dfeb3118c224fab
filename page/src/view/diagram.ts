// SPDX-License-Identifier: Apache-2.0
import { type Digraph, simplified } from "../layout/digraph";
import type { Layout } from "../layout/layout";
import type { ColumnPath } from "../model/columnPath";
import { counted, joint, type Mark, type Marks, SIGN } from "../model/diff";
import { ENGINE_NAMES, type Engine, engineOfDataset } from "../model/engines";
import type { Graph, GraphNode, State } from "../model/graph";
import type { Collapsed, Group } from "../model/groups";
import { nodeId } from "../model/ids";
import { shortName, shown } from "../model/names";

/** One card of a picture, before it has a place. */
export interface Card {
  readonly id: string;
  readonly shape: "dataset" | "job" | "group" | "column";
  readonly title: string;
  readonly subtitle: string;
  readonly engine: Engine;
  readonly streaming: boolean;
  readonly state: State;
  readonly masked: boolean;
  /** What became of it since an earlier moment, where the picture is of a difference. */
  readonly mark?: Mark | undefined;
  /** What a screen reader and a tooltip say. */
  readonly label: string;
}

export interface Line {
  readonly from: number;
  readonly to: number;
  readonly style: "plain" | "stream" | "indirect" | "masked";
  readonly label: string;
  readonly mark?: Mark | undefined;
}

/** What is to be drawn. */
export interface Picture {
  readonly cards: readonly Card[];
  readonly lines: readonly Line[];
  /** Whether it is of a difference, so that what is as it was steps back. */
  readonly compared?: boolean;
}

/** A picture with a place for everything. */
export interface Scene extends Picture {
  readonly layout: Layout;
}

/** The graph of a picture's lines, to be laid out. */
export function digraphOf({ cards, lines }: Picture): Digraph {
  return {
    count: cards.length,
    from: Int32Array.from(lines, ({ from }) => from),
    to: Int32Array.from(lines, ({ to }) => to),
  };
}

/** Whether two pictures have their cards in the same places. */
export function sameOutline(one: Picture, other: Picture): boolean {
  return (
    one.cards.length === other.cards.length &&
    one.lines.length === other.lines.length &&
    one.cards.every((card, at) => card.id === other.cards[at].id) &&
    one.lines.every(({ from, to }, at) => from === other.lines[at].from && to === other.lines[at].to)
  );
}

/** The picture of a graph whose groups are collapsed; with `marks`, of what became of it. */
export function graphPicture(
  graph: Graph,
  { items, itemOf }: Collapsed,
  stateOf: (node: GraphNode) => State,
  marks: Marks | null = null,
): Picture {
  const cards = items.map((item) =>
    item.group
      ? groupCard(graph, item.group, stateOf, marks)
      : nodeCard(graph.nodes[item.node], stateOf, marks?.nodes[item.node]),
  );
  const from = graph.from.map((node) => itemOf[node]);
  const to = graph.to.map((node) => itemOf[node]);
  const edges = simplified({ count: items.length, from, to });
  const marksOf = marks && marksOfLines(items.length, from, to, marks.edges);
  const lines = Array.from(edges.from, (start, edge): Line => {
    const end = edges.to[edge];
    const streaming = [cards[start], cards[end]].some((card) => card.shape === "job" && card.streaming);
    const mark = marksOf && joint(marksOf.get(start * items.length + end)!);
    return { from: start, to: end, style: streaming ? "stream" : "plain", label: "", ...(mark ? { mark } : {}) };
  });
  return { cards, lines, compared: marks !== null };
}

/** The marks of all edges that one line stands for. */
function marksOfLines(count: number, from: Int32Array, to: Int32Array, marks: Marks["edges"]) {
  const found = new Map<number, (Mark | undefined)[]>();
  from.forEach((start, edge) => {
    const key = start * count + to[edge];
    const known = found.get(key);
    if (known) known.push(marks[edge]);
    else found.set(key, [marks[edge]]);
  });
  return found;
}

/** The picture of a column's way through all hops. */
export function columnPicture(
  { nodes, edges }: ColumnPath,
  maskedInto: ReadonlySet<string>,
  engineOf: (dataset: string) => Engine | undefined,
): Picture {
  return {
    cards: nodes.map((node) => {
      const where = `${shown(node.namespace)}/${shown(node.name)}`;
      const title = node.field === undefined ? "rows as a whole" : shown(node.field);
      const masked = maskedInto.has(node.id);
      const type = node.type ? `, ${shown(node.type)}` : "";
      return {
        id: node.id,
        shape: "column" as const,
        title,
        subtitle: `${shown(node.name)}${type}`,
        engine: engineOf(nodeId("dataset", node)) ?? engineOfDataset(node.namespace, []),
        streaming: false,
        state: "none" as const,
        masked,
        label: `${title} of ${where}${type}${masked ? ", masked" : ""}`,
      };
    }),
    lines: edges.map(({ from, to, kinds, direct, masking }) => ({
      from,
      to,
      style: masking ? ("masked" as const) : direct ? ("plain" as const) : ("indirect" as const),
      label: `${kinds.map(spoken).join(", ")}${masking ? ", masked" : ""}`,
    })),
  };
}

/** `GROUP_BY` as people write it. */
export function spoken(kind: string): string {
  return shown(kind).toLowerCase().replaceAll("_", " ");
}

function nodeCard(node: GraphNode, stateOf: (node: GraphNode) => State, mark: Mark | undefined): Card {
  const state = stateOf(node);
  const engine = ENGINE_NAMES[node.engine];
  const mode = node.kind === "job" ? `${node.streaming ? "streaming" : "batch"} job` : "dataset";
  const about = [
    mode,
    node.kind === "job" && state !== "none" ? state : "",
    node.tags.map((tag) => `tag ${tag}`).join(", "),
    mark ?? "",
  ];
  return {
    id: node.id,
    shape: node.kind,
    title:
      node.kind === "job" ? shown(node.name) : node.name.includes("/") ? twoParts(node.name) : shortName(node.name),
    subtitle: node.kind === "job" ? `${engine} · ${node.streaming ? "streaming" : "batch"}` : shown(node.namespace),
    engine: node.engine,
    streaming: node.streaming,
    state,
    masked: node.masked.length > 0,
    mark,
    label: `${shown(node.namespace)}/${shown(node.name)}: ${engine}, ${about.filter(Boolean).join(", ")}`,
  };
}

/** The last two parts of a path: the table, and the schema that it is in. */
function twoParts(name: string): string {
  return shown(name.split("/").filter(Boolean).slice(-2).join("/"));
}

/** The worst of what happens in a group is what it shows. */
const WORST: readonly State[] = ["failed", "stale", "aborted", "running", "new", "completed", "none"];

function groupCard(
  graph: Graph,
  group: Group,
  stateOf: (node: GraphNode) => State,
  marks: Marks | null,
): Card {
  const states = new Set(group.members.map((member) => stateOf(graph.nodes[member])));
  const state = WORST.find((known) => states.has(known)) ?? "none";
  const count = `${group.members.length} ${group.kind}s`;
  const within = group.members.map((member) => marks?.nodes[member]);
  const changes = counted(within);
  const spoken = changes.map(([mark, number]) => `${number} ${mark}`);
  const about = [count, state === "none" ? "" : state, ...spoken].filter(Boolean).join(", ");
  return {
    id: group.id,
    shape: "group",
    title: group.title,
    subtitle: [count, changes.map(([mark, number]) => `${SIGN[mark]}${number}`).join(" ")].filter(Boolean).join(" · "),
    engine: group.engine,
    streaming: false,
    state,
    masked: false,
    mark: joint(within),
    label: `Group ${group.title}: ${about}; opens into its parts`,
  };
}
