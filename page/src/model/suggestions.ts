// SPDX-License-Identifier: Apache-2.0
import type { Graph, GraphNode, State } from "./graph";

/** A node to offer before the user has typed anything, and why. */
export interface Suggestion {
  readonly node: GraphNode;
  readonly reason: "favorite" | "recent" | "failed" | "stale" | "most used";
}

export interface SuggestionSources {
  readonly favorites: readonly string[];
  readonly recent: readonly string[];
  readonly stateOf: (node: GraphNode) => State;
}

const MAX_FAILED = 5;

/** Favorites, recently viewed nodes, then failed and stale jobs, newest first. Each node once. */
export function suggestNodes(graph: Graph, { favorites, recent, stateOf }: SuggestionSources, limit: number): Suggestion[] {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const failed = graph.nodes
    .filter((node) => ["failed", "stale"].includes(stateOf(node)))
    .sort((a, b) => compareTimes(b.updatedAt, a.updatedAt))
    .slice(0, MAX_FAILED);
  return distinct(
    [
      ...known(byId, favorites, "favorite"),
      ...known(byId, recent, "recent"),
      ...failed.map((node) => ({ node, reason: stateOf(node) as "failed" | "stale" })),
    ],
    limit,
  );
}

/** Favorite and recently viewed datasets, then those with the most inputs and outputs of jobs. Each dataset once. */
export function suggestDatasets(
  graph: Graph,
  { favorites, recent }: Pick<SuggestionSources, "favorites" | "recent">,
  limit: number,
): Suggestion[] {
  const byId = new Map(graph.nodes.filter(({ kind }) => kind === "dataset").map((node) => [node.id, node]));
  const uses = new Int32Array(graph.nodes.length);
  for (const ends of [graph.from, graph.to]) for (const node of ends) uses[node]++;
  const mostUsed = graph.nodes
    .map((node, at) => ({ node, uses: uses[at] }))
    .filter(({ node, uses }) => node.kind === "dataset" && uses > 0)
    .sort((a, b) => b.uses - a.uses)
    .map(({ node }) => ({ node, reason: "most used" as const }));
  return distinct(
    [...known(byId, favorites, "favorite"), ...known(byId, recent, "recent"), ...mostUsed],
    limit,
  );
}

function known(
  byId: ReadonlyMap<string, GraphNode>,
  ids: readonly string[],
  reason: Suggestion["reason"],
): Suggestion[] {
  return ids.flatMap((id) => {
    const node = byId.get(id);
    return node ? [{ node, reason }] : [];
  });
}

function distinct(suggestions: readonly Suggestion[], limit: number): Suggestion[] {
  const found = new Map<string, Suggestion>();
  for (const suggestion of suggestions) if (!found.has(suggestion.node.id)) found.set(suggestion.node.id, suggestion);
  return [...found.values()].slice(0, limit);
}

function compareTimes(a: string | null, b: string | null): number {
  return Date.parse(a ?? "1970-01-01") - Date.parse(b ?? "1970-01-01");
}
