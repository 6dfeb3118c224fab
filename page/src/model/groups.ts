// SPDX-License-Identifier: Apache-2.0
import { ENGINE_NAMES, type Engine } from "./engines";
import type { GraphNode } from "./graph";
import { displayText } from "./names";

/** Nodes that are drawn as one card. */
export interface Group {
  readonly id: string;
  readonly title: string;
  /** Titles of the groups that contain this one; empty for a group of the first level. */
  readonly within: string;
  readonly kind: GraphNode["kind"] | "mixed";
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

/** Groups of the first level: by system (namespace), owner or tag. Engines and name segments divide them further. */
export const GROUPINGS = ["system", "owner", "tag"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface GroupingOptions {
  /** Maximum number of nodes that are drawn without groups. */
  readonly budget: number;
  readonly by?: Grouping;
  /** Ids of the groups that the user expanded or collapsed. */
  readonly open: ReadonlySet<string>;
  readonly closed: ReadonlySet<string>;
}

/** Maximum number of items that one group expands into. */
const MAX_PARTS = 60;

/** Number of cards up to which large groups are divided automatically: their titles stay readable on one screen. */
const MAP_CARDS = 24;

/** Mean number of nodes per part above which dividing a group makes the map clearer. */
const MIN_MEMBERS_PER_PART = 3;

/**
 * Group the nodes of a graph that exceeds the budget, so that the first picture is a map of collapsed groups.
 *
 * The largest groups are divided by engine and by name segments into subgroups, up to the number of cards of a map.
 * Groups that the user opened are expanded in any case.
 */
export function collapse(nodes: readonly GraphNode[], choice: GroupingOptions): CollapsedGraph {
  const showAll = nodes.length <= choice.budget && choice.closed.size === 0;
  const items: GroupItem[] = [];
  const opened: Group[] = [];
  let pending: Group[] = [];
  if (showAll) nodes.forEach((_, node) => items.push({ node }));
  else pending = topGroups(nodes, choice.by ?? "system");
  let itemCount = pending.length;
  // Splitting is cached: a group is split once to get its size, and again when it is expanded.
  const cache = new Map<string, Parts>();
  const partsOf = (group: Group): Parts => {
    const parts = cache.get(group.id) ?? split(nodes, group);
    cache.set(group.id, parts);
    return parts;
  };
  const open = (group: Group): void => {
    const parts = partsOf(group).items();
    itemCount += parts.length - 1;
    if (group.members.length > 1) opened.push(group);
    for (const part of parts) {
      if (part.group) pending.push(part.group);
      else items.push(part);
    }
  };
  const openAll = (next: () => Group | undefined): void => {
    for (let group = next(); group; group = next()) open(group);
  };
  openAll(() => takeFirst(pending, ({ members }) => members.length === 1) ?? takeLargest(pending, choice, itemCount, partsOf));
  // The user's choices come last: they must not change what the map shows elsewhere.
  openAll(() => takeFirst(pending, ({ id }) => choice.open.has(id)));
  items.push(...pending.map((group) => ({ group })));
  return { items, itemByNode: itemOf(nodes.length, items), opened };
}

/** Id of the group of the first level that a node is in: its system (namespace and kind), first owner or first tag. */
function groupId(node: GraphNode, by: Grouping): string {
  return by === "system" ? `${node.kind}:${node.namespace}` : `${by}=${labelsOf(node, by)[0] ?? ""}`;
}

function groupTitle(node: GraphNode, by: Grouping): string {
  if (by === "system") return displayText(node.namespace);
  const label = labelsOf(node, by)[0];
  return label === undefined ? `without ${by}` : displayText(label);
}

function labelsOf(node: GraphNode, by: "owner" | "tag"): readonly string[] {
  return by === "owner" ? node.owners : node.tags;
}

function topGroups(nodes: readonly GraphNode[], by: Grouping): Group[] {
  // By kind and label, whose hashes are known: an id for each of 50,000 nodes takes longer than all else.
  const found: Record<GraphNode["kind"], Map<string | undefined, number[]>> = { job: new Map(), dataset: new Map() };
  nodes.forEach((node, at) => {
    const groups = by === "system" ? found[node.kind] : found.job;
    const label = by === "system" ? node.namespace : labelsOf(node, by)[0];
    const known = groups.get(label);
    if (known) known.push(at);
    else groups.set(label, [at]);
  });
  return [...found.job.values(), ...found.dataset.values()]
    .sort((a, b) => a[0] - b[0])
    .map((members) => {
      const names = { id: groupId(nodes[members[0]], by), title: groupTitle(nodes[members[0]], by), within: "" };
      return { ...names, members, depth: 0, ...sharedBy(nodes, members) };
    });
}

/** Kind and engine that all members share. */
function sharedBy(nodes: readonly GraphNode[], members: readonly number[]): Pick<Group, "kind" | "engine"> {
  let { kind, engine }: Pick<Group, "kind" | "engine"> = nodes[members[0]];
  for (const member of members) {
    const node = nodes[member];
    if (node.kind !== kind) kind = "mixed";
    if (node.engine !== engine) engine = "job";
    if (kind === "mixed" && engine === "job") break;
  }
  return { kind, engine };
}

function takeFirst(waiting: Group[], matches: (group: Group) => boolean): Group | undefined {
  const at = waiting.findIndex(matches);
  return at < 0 ? undefined : waiting.splice(at, 1)[0];
}

/** Take the largest group that divides into few subgroups. */
function takeLargest(
  waiting: Group[],
  { budget, closed }: GroupingOptions,
  count: number,
  partsOf: (group: Group) => Parts,
): Group | undefined {
  const limit = Math.min(budget, MAP_CARDS);
  const isClearer = (group: Group): boolean => {
    const parts = partsOf(group).count;
    return count - 1 + parts <= limit && parts * MIN_MEMBERS_PER_PART <= group.members.length;
  };
  const largest = waiting
    .filter(({ id, members }) => !closed.has(id) && members.length >= 2 * MIN_MEMBERS_PER_PART)
    .sort((a, b) => b.members.length - a.members.length)
    .find(isClearer);
  return largest && takeFirst(waiting, (group) => group === largest);
}

/** Number of items of an expanded group, and the items, made on demand: most groups of a large graph are only counted. */
interface Parts {
  readonly count: number;
  readonly items: () => GroupItem[];
}

/** The items that a group expands into: nodes, and subgroups of nodes that share the next name segment. */
function split(nodes: readonly GraphNode[], group: Group): Parts {
  if (group.members.length <= 1) return { count: group.members.length, items: () => group.members.map((node) => ({ node })) };
  if (group.engine === "job") {
    const engines = new Set(group.members.map((member) => nodes[member].engine));
    if (engines.size > 1) {
      return { count: engines.size, items: () => [...engines].map((engine) => engineGroup(nodes, group, engine)) };
    }
  }
  for (let depth = group.depth; ; depth++) {
    const parts = new Map<string, number[]>();
    for (const member of group.members) {
      const part = segmentAt(nodes[member].name, depth);
      const found = parts.get(part);
      if (found) found.push(member);
      else if (parts.size === MAX_PARTS) return alphabeticalRanges(nodes, group);
      else parts.set(part, [member]);
    }
    const ended = parts.size === 1 && parts.has("");
    if (parts.size === 1 && !ended) continue;
    if (ended) return alphabeticalRanges(nodes, group);
    const item = ([part, members]: [string, number[]]): GroupItem =>
      members.length === 1 ? { node: members[0] } : { group: subgroup(nodes, group, part, members, depth + 1) };
    return { count: parts.size, items: () => [...parts].map(item) };
  }
}

/** The members of a group that run in or are stored by one engine. */
function engineGroup(nodes: readonly GraphNode[], group: Group, engine: Engine): GroupItem {
  const members = group.members.filter((member) => nodes[member].engine === engine);
  if (members.length === 1) return { node: members[0] };
  const names = { id: `${group.id}/@${engine}`, title: ENGINE_NAMES[engine], within: pathOf(group) };
  return { group: { ...names, members, depth: group.depth, ...sharedBy(nodes, members) } };
}

function subgroup(
  nodes: readonly GraphNode[],
  group: Group,
  part: string,
  members: readonly number[],
  depth: number,
): Group {
  const names = { id: `${group.id}/${part}`, title: displayText(part || "…"), within: pathOf(group) };
  return { ...names, members, depth, ...sharedBy(nodes, members) };
}

function pathOf({ title, within }: Group): string {
  return within === "" ? title : `${within} / ${title}`;
}

/** Title of a group with those of the groups around it. */
export function fullTitle({ title, within }: Group): string {
  return within === "" ? title : `${title} (${within})`;
}

/** Alphabetical ranges, for nodes whose names share no further segment. */
function alphabeticalRanges(nodes: readonly GraphNode[], group: Group): Parts {
  const { length } = group.members;
  const sorted = () => [...group.members].sort((a, b) => (nodes[a].name < nodes[b].name ? -1 : 1));
  if (length <= MAX_PARTS) return { count: length, items: () => sorted().map((node) => ({ node })) };
  const size = Math.ceil(length / Math.min(MAX_PARTS, Math.ceil(length / 8)));
  return { count: Math.ceil(length / size), items: () => rangesOf(nodes, group, sorted(), size) };
}

function rangesOf(nodes: readonly GraphNode[], group: Group, sorted: readonly number[], size: number): GroupItem[] {
  const ranges: GroupItem[] = [];
  for (let at = 0; at < sorted.length; at += size) {
    const members = sorted.slice(at, at + size);
    const [first, last] = [members[0], members[members.length - 1]].map((member) => nodes[member].name);
    const title = `${displayText(first)} – ${displayText(last)}`;
    ranges.push({ group: { ...group, id: `${group.id}#${first}`, title, within: pathOf(group), members } });
  }
  return ranges;
}

const SLASH = "/".charCodeAt(0);
const DOT = ".".charCodeAt(0);

/** Segment of a name between slashes and dots, without empty ones; empty beyond the last one. */
function segmentAt(name: string, depth: number): string {
  // Not by splitting: a map of 50,000 nodes asks for some segments of each name.
  let start = 0;
  let count = 0;
  for (let at = 0; at <= name.length; at++) {
    const code = name.charCodeAt(at);
    if (at < name.length && code !== SLASH && code !== DOT) continue;
    if (at > start && count++ === depth) return name.slice(start, at);
    start = at + 1;
  }
  return "";
}

function itemOf(count: number, items: readonly GroupItem[]): Int32Array {
  const itemIndexes = new Int32Array(count);
  items.forEach((item, at) => {
    for (const member of item.group ? item.group.members : [item.node]) itemIndexes[member] = at;
  });
  return itemIndexes;
}
