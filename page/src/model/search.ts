// SPDX-License-Identifier: Apache-2.0
import type { Field, GraphExport, Summaries } from "./apiTypes";
import type { Graph, GraphNode } from "./graph";
import { nodeId } from "./ids";

/** A search result: a node, or a column of a dataset. */
export interface SearchHit {
  readonly node: string;
  readonly field?: string;
  /** The matched attribute, where it is not the name: `tag pii`, `owner team-a`. */
  readonly matchedBy?: string;
}

interface IndexEntry {
  readonly node: GraphNode;
  readonly name: string;
  readonly names: readonly string[];
  readonly columns: readonly { readonly path: string; readonly lower: string; readonly tags: readonly string[] }[];
}

/** Searchable text of a graph, in lower case. Built once per graph. */
export type SearchIndex = readonly IndexEntry[];

const FILTER_KEYS = ["tag", "owner", "state", "column", "kind", "engine"] as const;
type FilterKey = (typeof FILTER_KEYS)[number];

/** Index the names, tags and owners of a graph, and its columns if the export has been loaded. */
export function searchIndex(graph: Graph, found: GraphExport | null, summaries: Summaries): SearchIndex {
  const fields = new Map((found?.datasets ?? []).map((dataset) => [nodeId("dataset", dataset), dataset.fields]));
  const tags = new Map(summaries.datasets.map((dataset) => [nodeId("dataset", dataset), dataset.columnTags]));
  return graph.nodes.map((node) => ({
    node,
    name: node.name.toLowerCase(),
    names: [`${node.namespace}/${node.name}`, ...node.aliases].map((name) => name.toLowerCase()),
    columns: columnPaths(fields.get(node.id) ?? []).map((path) => ({
      path,
      lower: path.toLowerCase(),
      tags: (tags.get(node.id)?.[path] ?? []).map((tag) => tag.toLowerCase()),
    })),
  }));
}

/** The columns of a schema; nested columns by path: `address.city`. */
export function columnPaths(fields: readonly Field[], above = ""): string[] {
  return fields.flatMap((field) => [`${above}${field.name}`, ...columnPaths(field.fields ?? [], `${above}${field.name}.`)]);
}

/**
 * The best hits for a query. All terms must match. The prefixes `tag:`, `owner:`, `state:`, `column:`, `kind:` and
 * `engine:` restrict a term to one attribute. Exact names rank first, then names that start with a term.
 */
export function search(index: SearchIndex, text: string, limit: number): SearchHit[] {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean).map(parseTerm);
  if (terms.length === 0) return [];
  const hits: { hit: SearchHit; rank: number }[] = [];
  for (const entry of index) {
    const reasons = terms.map((term) => matchTerm(entry, term));
    if (reasons.every((reason) => reason !== undefined)) {
      const matchedBy = reasons.find((reason) => reason?.matchedBy)?.matchedBy;
      const rank = reasons.reduce((sum, reason) => sum + reason!.rank, 0);
      hits.push({ hit: { node: entry.node.id, ...(matchedBy ? { matchedBy: matchedBy } : {}) }, rank });
    }
    hits.push(...columnHits(entry, terms));
  }
  hits.sort((a, b) => a.rank - b.rank || (a.hit.node < b.hit.node ? -1 : a.hit.node > b.hit.node ? 1 : 0));
  return hits.slice(0, limit).map(({ hit }) => hit);
}

interface SearchTerm {
  readonly key?: FilterKey;
  readonly text: string;
}

function parseTerm(text: string): SearchTerm {
  const at = text.indexOf(":");
  const key = FILTER_KEYS.find((known) => known === text.slice(0, at));
  return key ? { key, text: text.slice(at + 1) } : { text };
}

/** Lower ranks come first; undefined is no match. */
function matchTerm(entry: IndexEntry, { key, text }: SearchTerm): { rank: number; matchedBy?: string } | undefined {
  const { node } = entry;
  const tag = node.tags.find((known) => known.toLowerCase().includes(text));
  const owner = node.owners.find((known) => known.toLowerCase().includes(text));
  switch (key) {
    case "tag":
      return tag === undefined ? undefined : { rank: 0, matchedBy: `tag ${tag}` };
    case "owner":
      return owner === undefined ? undefined : { rank: 0, matchedBy: `owner ${owner}` };
    case "state":
      return node.state.startsWith(text) && node.kind === "job" ? { rank: 0, matchedBy: node.state } : undefined;
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
  if (name !== undefined) return { rank: 3, ...(name.includes("://") ? {} : { matchedBy: name }) };
  if (tag !== undefined) return { rank: 4, matchedBy: `tag ${tag}` };
  if (owner !== undefined) return { rank: 4, matchedBy: `owner ${owner}` };
  return node.kind === "job" && text.length > 2 && node.state.startsWith(text)
    ? { rank: 5, matchedBy: node.state }
    : undefined;
}

/** Columns that match at least one term, in datasets that match all other terms. */
function columnHits(entry: IndexEntry, terms: readonly SearchTerm[]): { hit: SearchHit; rank: number }[] {
  if (entry.columns.length === 0) return [];
  const found: { hit: SearchHit; rank: number }[] = [];
  for (const { path, lower, tags } of entry.columns) {
    const own = terms.filter(({ key, text }) =>
      !key || key === "column" || key === "tag" ? columnMatches(lower, tags, key, text) : false,
    );
    const others = terms.filter((term) => !own.includes(term));
    if (own.length === 0 || others.some((term) => matchTerm(entry, term) === undefined)) continue;
    const tag = own.find(({ key, text }) => key === "tag" || (!lower.includes(text) && tags.length > 0));
    const exact = own.some(({ text }) => lower === text);
    const begins = own.some(({ text }) => lower.startsWith(text));
    const matchedBy = tag ? { matchedBy: `tag ${tag.text}` } : {};
    found.push({ hit: { node: entry.node.id, field: path, ...matchedBy }, rank: exact ? 1.5 : begins ? 2.5 : 3.5 });
  }
  return found;
}

function columnMatches(lower: string, tags: readonly string[], key: FilterKey | undefined, text: string): boolean {
  const tagged = tags.some((tag) => tag.includes(text));
  return key === "tag" ? tagged : lower.includes(text) || (key === undefined && tagged);
}
