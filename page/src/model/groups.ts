// SPDX-License-Identifier: Apache-2.0
import { ENGINE_NAMES, type Engine } from "./engines";
import type { GraphNode } from "./graph";
import { displayText } from "./names";

/** Nodes that are drawn as one card. */
export interface Group {
  readonly id: string;
  readonly title: string;
  readonly kind: GraphNode["kind"];
  readonly engine: Engine;
  /** Node indexes in the graph. */
  readonly members: readonly number[];
  /** Number of leading name segments that all members share. Expanding the group splits at the next one. */
  readonly depth: number;
}

export type GroupItem = { readonly node: number; readonly group?: never } | { readonly group: Group; readonly node?: never };

/** The nodes and groups to draw, and the index of the item that represents each node of the graph. */
export interface CollapsedGraph {
  readonly items: readonly GroupItem[];
  readonly itemByNode: Int32Array;
  /** Expanded groups, which the user can collapse. */
  readonly opened: readonly Group[];
}

export interface GroupingOptions {
  /** Maximum number of items. Groups that would exceed it stay collapsed unless the user opened them. */
  readonly budget: number;
  /** Ids of the groups that the user expanded or collapsed. */
  readonly open: ReadonlySet<string>;
  readonly closed: ReadonlySet<string>;
}

/** Maximum number of items that one group expands into. */
const MAX_PARTS = 60;

/**
 * Group nodes by system, then by name segments, so that the result stays within the budget.
 *
 * Groups that the user opened are expanded first; then the smallest groups, as long as the budget allows.
 */
export function collapse(nodes: readonly GraphNode[], choice: GroupingOptions): CollapsedGraph {
  const showAll = nodes.length <= choice.budget && choice.closed.size === 0;
  const items: GroupItem[] = [];
  const opened: Group[] = [];
  let pending: Group[] = [];
  if (showAll) nodes.forEach((_, node) => items.push({ node }));
  else pending = systems(nodes);
  let itemCount = pending.length;
  // Splitting is cached: a group is split once to get its size, and again when it is expanded.
  const cache = new Map<string, GroupItem[]>();
  const partsOf = (group: Group): GroupItem[] => {
    const parts = cache.get(group.id) ?? split(nodes, group);
    cache.set(group.id, parts);
    return parts;
  };
  const open = (group: Group): void => {
    const parts = partsOf(group);
    itemCount += parts.length - 1;
    opened.push(group);
    for (const part of parts) {
      if (part.group) pending.push(part.group);
      else items.push(part);
    }
  };
  // Groups that the user opened come first in each step: one may be inside a group that was expanded automatically.
  const nextGroup = () => takeOpened(pending, choice) ?? takeSmallest(pending, choice, itemCount, partsOf);
  for (let group = nextGroup(); group; group = nextGroup()) open(group);
  items.push(...pending.map((group) => ({ group })));
  return { items, itemByNode: itemOf(nodes.length, items), opened };
}

/** The system of a node: a dataset namespace, or an engine within a job namespace. */
export function systemOf(node: GraphNode): { readonly id: string; readonly title: string } {
  if (node.kind === "dataset") return { id: `dataset:${node.namespace}`, title: displayText(node.namespace) };
  const engine = node.engine === "job" ? "jobs" : `${ENGINE_NAMES[node.engine]} jobs`;
  return { id: `job:${node.engine}:${node.namespace}`, title: `${engine} in ${displayText(node.namespace)}` };
}

function systems(nodes: readonly GraphNode[]): Group[] {
  const members = new Map<string, number[]>();
  nodes.forEach((node, at) => {
    const { id } = systemOf(node);
    const found = members.get(id);
    if (found) found.push(at);
    else members.set(id, [at]);
  });
  return [...members].map(([id, indexes]) => {
    const { kind, engine } = nodes[indexes[0]];
    return { id, title: systemOf(nodes[indexes[0]]).title, kind, engine, members: indexes, depth: 0 };
  });
}

function takeOpened(waiting: Group[], { open }: GroupingOptions): Group | undefined {
  const at = waiting.findIndex(({ id }) => open.has(id));
  return at < 0 ? undefined : waiting.splice(at, 1)[0];
}

function takeSmallest(
  waiting: Group[],
  { budget, closed }: GroupingOptions,
  count: number,
  partsOf: (group: Group) => readonly GroupItem[],
): Group | undefined {
  const candidates = waiting.filter(({ id }) => !closed.has(id)).sort((a, b) => a.members.length - b.members.length);
  const found = candidates.find((group) => count - 1 + partsOf(group).length <= budget);
  if (found) waiting.splice(waiting.indexOf(found), 1);
  return found;
}

/** The items that a group expands into: nodes, and subgroups of nodes that share the next name segment. */
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
    if (ended || parts.size > MAX_PARTS) return alphabeticalRanges(nodes, group);
    return [...parts].map(([part, members]) =>
      members.length === 1 ? { node: members[0] } : { group: subgroup(group, part, members, depth + 1) },
    );
  }
}

function subgroup(group: Group, part: string, members: readonly number[], depth: number): Group {
  return { ...group, id: `${group.id}/${part}`, title: `${displayText(part || "…")} (${group.title})`, members, depth };
}

/** Alphabetical ranges, for nodes whose names share no further segment. */
function alphabeticalRanges(nodes: readonly GraphNode[], group: Group): GroupItem[] {
  const sorted = [...group.members].sort((a, b) => (nodes[a].name < nodes[b].name ? -1 : 1));
  if (sorted.length <= MAX_PARTS) return sorted.map((node) => ({ node }));
  const size = Math.ceil(sorted.length / Math.min(MAX_PARTS, Math.ceil(sorted.length / 8)));
  const ranges: GroupItem[] = [];
  for (let at = 0; at < sorted.length; at += size) {
    const members = sorted.slice(at, at + size);
    const [first, last] = [members[0], members[members.length - 1]].map((member) => nodes[member].name);
    const title = `${displayText(first)} – ${displayText(last)}`;
    ranges.push({ group: { ...group, id: `${group.id}#${first}`, title, members, depth: group.depth } });
  }
  return ranges;
}

function segments(name: string): string[] {
  return name.split(/[/.]+/).filter((part) => part !== "");
}

function itemOf(count: number, items: readonly GroupItem[]): Int32Array {
  const itemIndexes = new Int32Array(count);
  items.forEach((item, at) => {
    for (const member of item.group ? item.group.members : [item.node]) itemIndexes[member] = at;
  });
  return itemIndexes;
}
