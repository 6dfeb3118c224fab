// SPDX-License-Identifier: Apache-2.0
import { type Digraph, type Neighbors, neighbors } from "./digraph";

/**
 * A graph in which every edge leads to the next layer. Longer edges pass through bends: the dummy nodes of the Sugiyama
 * method, one in each layer between source and target.
 *
 * The edges of one source share their bends. Otherwise a topic with hundreds of distant readers would fill every layer.
 */
export interface LayeredGraph {
  /** Number of nodes and bends. Nodes come first. */
  readonly count: number;
  readonly nodes: number;
  /** Layer of every node and bend. */
  readonly rank: Int32Array;
  readonly layers: Int32Array[];
  readonly before: Neighbors;
  readonly after: Neighbors;
  /** Bends of each edge of the original graph, from left to right. */
  readonly bends: Int32Array[];
}

/** Insert bends into an acyclic graph. */
export function insertBends(graph: Digraph, rank: Int32Array): LayeredGraph {
  const ranks = Array.from(rank);
  const from: number[] = [];
  const to: number[] = [];
  const chains = new Map<number, number[]>();
  const bends = new Array<Int32Array>(graph.from.length);
  for (let edge = 0; edge < graph.from.length; edge++) {
    const [source, target] = [graph.from[edge], graph.to[edge]];
    const length = rank[target] - rank[source] - 1;
    const chain = chains.get(source) ?? [];
    if (length > 0) chains.set(source, chain);
    while (chain.length < length) {
      from.push(chain.length === 0 ? source : chain[chain.length - 1]);
      chain.push(ranks.length);
      to.push(ranks.length);
      ranks.push(rank[source] + chain.length);
    }
    from.push(length > 0 ? chain[length - 1] : source);
    to.push(target);
    bends[edge] = Int32Array.from(chain.slice(0, Math.max(0, length)));
  }
  const rankByNode = Int32Array.from(ranks);
  const [sources, targets] = [Int32Array.from(from), Int32Array.from(to)];
  return {
    count: ranks.length,
    nodes: graph.count,
    rank: rankByNode,
    layers: groupByRank(rankByNode),
    before: neighbors(ranks.length, targets, sources),
    after: neighbors(ranks.length, sources, targets),
    bends,
  };
}

function groupByRank(rank: Int32Array): Int32Array[] {
  const layers: number[][] = [];
  rank.forEach((layer, node) => (layers[layer] ??= []).push(node));
  return Array.from(layers, (layer) => Int32Array.from(layer ?? []));
}
