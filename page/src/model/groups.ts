// SPDX-License-Identifier: Apache-2.0
import { ENGINE_NAMES, type Engine } from "./engines";
import type { GraphNode } from "./graph";
import { shown } from "./names";

/** Several nodes that are drawn as one. */
export interface Group {
  readonly id: string;
  readonly title: string;
  readonly kind: GraphNode["kind"];
  readonly engine: Engine;
  /** Places of its nodes in the graph. */
  readonly members: readonly number[];
  /** How many parts of a name its nodes have in common; what it opens into begins there. */
  readonly depth: number;
}

export type GroupItem = { readonly node: number; readonly group?: never } | { readonly group: Group; readonly node?: never };

/** What is drawn: `items`, and for each node of the graph the item that stands for it. */
export interface Collapsed {
  readonly items: readonly GroupItem[];
  readonly itemOf: Int32Array;
  /** Groups that were opened, so that they can be closed again. */
  readonly opened: readonly Group[];
}

export interface Choice {
  /** How many items the page may show before groups stay closed. */
  readonly budget: number;
  /** Ids of groups that the user opened, or closed. */
  readonly open: ReadonlySet<string>;
  readonly closed: ReadonlySet<string>;
}

const MOST_PARTS = 60;

/**
 * Which nodes are shown and which hide in groups: systems first, then the parts of their names.
 *
 * Groups that the user opened are open; then the smallest are opened for as long as the budget lasts.
 */
export function collapse(nodes: readonly GraphNode[], choice: Choice): Collapsed {
  const whole = nodes.length <= choice.budget && choice.closed.size === 0;
  const items: GroupItem[] = [];
  const opened: Group[] = [];
  let waiting: Group[] = [];
  if (whole) nodes.forEach((_, node) => items.push({ node }));
  else waiting = systems(nodes);
  let shownCount = waiting.length;
  // A group is looked into once for its size, and perhaps again to be opened.
  const known = new Map<string, GroupItem[]>();
  const partsOf = (group: Group): GroupItem[] => {
    const parts = known.get(group.id) ?? split(nodes, group);
    known.set(group.id, parts);
    return parts;
  };
  const open = (group: Group): void => {
    const parts = partsOf(group);
    shownCount += parts.length - 1;
    opened.push(group);
    for (const part of parts) {
      if (part.group) waiting.push(part.group);
      else items.push(part);
    }
  };
  // What the user opened comes first each time: a group of his may be inside one that was opened by itself.
  const next = () => takeOpen(waiting, choice) ?? takeSmallest(waiting, choice, shownCount, partsOf);
  for (let group = next(); group; group = next()) open(group);
  items.push(...waiting.map((group) => ({ group })));
  return { items, itemOf: itemOf(nodes.length, items), opened };
}

/** The system of a node: a namespace of datasets, or what runs jobs. */
export function systemOf(node: GraphNode): { readonly id: string; readonly title: string } {
  if (node.kind === "dataset") return { id: `dataset:${node.namespace}`, title: shown(node.namespace) };
  const engine = node.engine === "job" ? "jobs" : `${ENGINE_NAMES[node.engine]} jobs`;
  return { id: `job:${node.engine}:${node.namespace}`, title: `${engine} of ${shown(node.namespace)}` };
}

function systems(nodes: readonly GraphNode[]): Group[] {
  const members = new Map<string, number[]>();
  nodes.forEach((node, at) => {
    const { id } = systemOf(node);
    const found = members.get(id);
    if (found) found.push(at);
    else members.set(id, [at]);
  });
  return [...members].map(([id, places]) => {
    const { kind, engine } = nodes[places[0]];
    return { id, title: systemOf(nodes[places[0]]).title, kind, engine, members: places, depth: 0 };
  });
}

function takeOpen(waiting: Group[], { open }: Choice): Group | undefined {
  const at = waiting.findIndex(({ id }) => open.has(id));
  return at < 0 ? undefined : waiting.splice(at, 1)[0];
}

function takeSmallest(
  waiting: Group[],
  { budget, closed }: Choice,
  count: number,
  partsOf: (group: Group) => readonly GroupItem[],
): Group | undefined {
  const candidates = waiting.filter(({ id }) => !closed.has(id)).sort((a, b) => a.members.length - b.members.length);
  const found = candidates.find((group) => count - 1 + partsOf(group).length <= budget);
  if (found) waiting.splice(waiting.indexOf(found), 1);
  return found;
}

/** What a group opens into: nodes, and groups of those whose names go on alike. */
function split(nodes: readonly GraphNode[], group: Group): GroupItem[] {
  if (group.members.length <= 1) return group.members.map((node) => ({ node }));
  for (let depth = group.depth; ; depth++) {
    const parts = new Map<string, number[]>();
    for (const member of group.members) {
      const part = segments(nodes[member].name)[depth] ?? "";
      const found = parts.get(part);
      if (found) found.push(member);
      else parts.set(part, [member]);
    }
    const ended = parts.size === 1 && parts.has("");
    if (parts.size === 1 && !ended) continue;
    if (ended || parts.size > MOST_PARTS) return runs(nodes, group);
    return [...parts].map(([part, members]) =>
      members.length === 1 ? { node: members[0] } : { group: subgroup(group, part, members, depth + 1) },
    );
  }
}

function subgroup(group: Group, part: string, members: readonly number[], depth: number): Group {
  return { ...group, id: `${group.id}/${part}`, title: `${shown(part || "…")} (${group.title})`, members, depth };
}

/** Nodes by the alphabet, in as many runs as may be shown, where their names have nothing more in common. */
function runs(nodes: readonly GraphNode[], group: Group): GroupItem[] {
  const sorted = [...group.members].sort((a, b) => (nodes[a].name < nodes[b].name ? -1 : 1));
  if (sorted.length <= MOST_PARTS) return sorted.map((node) => ({ node }));
  const size = Math.ceil(sorted.length / Math.min(MOST_PARTS, Math.ceil(sorted.length / 8)));
  const made: GroupItem[] = [];
  for (let at = 0; at < sorted.length; at += size) {
    const members = sorted.slice(at, at + size);
    const [first, last] = [members[0], members[members.length - 1]].map((member) => nodes[member].name);
    const title = `${shown(first)} – ${shown(last)}`;
    made.push({ group: { ...group, id: `${group.id}#${first}`, title, members, depth: group.depth } });
  }
  return made;
}

function segments(name: string): string[] {
  return name.split(/[/.]+/).filter((part) => part !== "");
}

function itemOf(count: number, items: readonly GroupItem[]): Int32Array {
  const found = new Int32Array(count);
  items.forEach((item, at) => {
    for (const member of item.group ? item.group.members : [item.node]) found[member] = at;
  });
  return found;
}
