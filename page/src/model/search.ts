// SPDX-License-Identifier: Apache-2.0
import type { Field, GraphExport, Summaries } from "./apiTypes";
import type { Graph, GraphNode } from "./graph";
import { nodeId } from "./ids";

/** One thing that a search found: a node, or a column of it. */
export interface Hit {
  readonly node: string;
  readonly field?: string;
  /** What of it matched, where it is not the name: `tag pii`, `owner team-a`. */
  readonly because?: string;
}

interface Entry {
  readonly node: GraphNode;
  readonly name: string;
  readonly names: readonly string[];
  readonly columns: readonly { readonly path: string; readonly lower: string; readonly tags: readonly string[] }[];
}

/** What a search looks through, in lower case, made once for a graph. */
export type SearchIndex = readonly Entry[];

const KEYS = ["tag", "owner", "state", "column", "kind", "engine"] as const;
type Key = (typeof KEYS)[number];

/** Names, tags and owners of a graph, and its columns where the export that has them is there. */
export function searchIndex(graph: Graph, found: GraphExport | null, summaries: Summaries): SearchIndex {
  const fields = new Map((found?.datasets ?? []).map((dataset) => [nodeId("dataset", dataset), dataset.fields]));
  const tags = new Map(summaries.datasets.map((dataset) => [nodeId("dataset", dataset), dataset.columnTags]));
  return graph.nodes.map((node) => ({
    node,
    name: node.name.toLowerCase(),
    names: [`${node.namespace}/${node.name}`, ...node.aliases].map((name) => name.toLowerCase()),
    columns: paths(fields.get(node.id) ?? []).map((path) => ({
      path,
      lower: path.toLowerCase(),
      tags: (tags.get(node.id)?.[path] ?? []).map((tag) => tag.toLowerCase()),
    })),
  }));
}

/** The columns of a schema with the paths of nested ones: `address.city`. */
export function paths(fields: readonly Field[], above = ""): string[] {
  return fields.flatMap((field) => [`${above}${field.name}`, ...paths(field.fields ?? [], `${above}${field.name}.`)]);
}

/**
 * The best hits for some words. All words must match; `tag:`, `owner:`, `state:`, `column:`, `kind:` and `engine:`
 * say what a word is to match. Names that begin with a word come first.
 */
export function search(index: SearchIndex, text: string, limit: number): Hit[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean).map(wordOf);
  if (words.length === 0) return [];
  const hits: { hit: Hit; rank: number }[] = [];
  for (const entry of index) {
    const reasons = words.map((word) => matches(entry, word));
    if (reasons.every((reason) => reason !== undefined)) {
      const because = reasons.find((reason) => reason?.because)?.because;
      const rank = reasons.reduce((sum, reason) => sum + reason!.rank, 0);
      hits.push({ hit: { node: entry.node.id, ...(because ? { because } : {}) }, rank });
    }
    hits.push(...columnHits(entry, words));
  }
  hits.sort((a, b) => a.rank - b.rank || (a.hit.node < b.hit.node ? -1 : a.hit.node > b.hit.node ? 1 : 0));
  return hits.slice(0, limit).map(({ hit }) => hit);
}

interface Word {
  readonly key?: Key;
  readonly text: string;
}

function wordOf(text: string): Word {
  const at = text.indexOf(":");
  const key = KEYS.find((known) => known === text.slice(0, at));
  return key ? { key, text: text.slice(at + 1) } : { text };
}

/** Lower ranks come first; undefined is no match. */
function matches(entry: Entry, { key, text }: Word): { rank: number; because?: string } | undefined {
  const { node } = entry;
  const tag = node.tags.find((known) => known.toLowerCase().includes(text));
  const owner = node.owners.find((known) => known.toLowerCase().includes(text));
  switch (key) {
    case "tag":
      return tag === undefined ? undefined : { rank: 0, because: `tag ${tag}` };
    case "owner":
      return owner === undefined ? undefined : { rank: 0, because: `owner ${owner}` };
    case "state":
      return node.state.startsWith(text) && node.kind === "job" ? { rank: 0, because: node.state } : undefined;
    case "kind":
      return node.kind.startsWith(text) ? { rank: 0 } : undefined;
    case "engine":
      return node.engine.startsWith(text) ? { rank: 0 } : undefined;
    case "column":
      return undefined;
  }
  if (entry.name === text) return { rank: 0 };
  if (entry.name.startsWith(text)) return { rank: 1 };
  if (entry.name.includes(text)) return { rank: 2 };
  const name = entry.names.find((known) => known.includes(text));
  if (name !== undefined) return { rank: 3, ...(name.includes("://") ? {} : { because: name }) };
  if (tag !== undefined) return { rank: 4, because: `tag ${tag}` };
  if (owner !== undefined) return { rank: 4, because: `owner ${owner}` };
  return node.kind === "job" && text.length > 2 && node.state.startsWith(text)
    ? { rank: 5, because: node.state }
    : undefined;
}

/** Columns that match a word, of datasets that match all the others. */
function columnHits(entry: Entry, words: readonly Word[]): { hit: Hit; rank: number }[] {
  if (entry.columns.length === 0) return [];
  const found: { hit: Hit; rank: number }[] = [];
  for (const { path, lower, tags } of entry.columns) {
    const own = words.filter(({ key, text }) =>
      !key || key === "column" || key === "tag" ? fits(lower, tags, key, text) : false,
    );
    const others = words.filter((word) => !own.includes(word));
    if (own.length === 0 || others.some((word) => matches(entry, word) === undefined)) continue;
    const tag = own.find(({ key, text }) => key === "tag" || (!lower.includes(text) && tags.length > 0));
    const exact = own.some(({ text }) => lower === text);
    const begins = own.some(({ text }) => lower.startsWith(text));
    const because = tag ? { because: `tag ${tag.text}` } : {};
    found.push({ hit: { node: entry.node.id, field: path, ...because }, rank: exact ? 1.5 : begins ? 2.5 : 3.5 });
  }
  return found;
}

function fits(lower: string, tags: readonly string[], key: Key | undefined, text: string): boolean {
  const tagged = tags.some((tag) => tag.includes(text));
  return key === "tag" ? tagged : lower.includes(text) || (key === undefined && tagged);
}
