// SPDX-License-Identifier: Apache-2.0
import { type Digraph, type Neighbours, neighbours } from "./digraph";

/**
 * A graph whose edges all lead to the next layer: long edges go through bends, which stand in the layers like nodes.
 *
 * Edges of one source share their bends for as long as they run side by side, which keeps a topic with hundreds of
 * readers at the other end of the page from filling every layer between.
 */
export interface Layered {
  /** Nodes, then bends. */
  readonly count: number;
  readonly nodes: number;
  /** Number of the layer of every node and bend. */
  readonly rank: Int32Array;
  readonly layers: Int32Array[];
  readonly before: Neighbours;
  readonly after: Neighbours;
  /** Of each edge of the given graph, its bends from left to right. */
  readonly bends: Int32Array[];
}

/** Put bends into the edges of a graph without cycles. */
export function layered(graph: Digraph, rank: Int32Array): Layered {
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
  const rankOf = Int32Array.from(ranks);
  const [sources, targets] = [Int32Array.from(from), Int32Array.from(to)];
  return {
    count: ranks.length,
    nodes: graph.count,
    rank: rankOf,
    layers: byRank(rankOf),
    before: neighbours(ranks.length, targets, sources),
    after: neighbours(ranks.length, sources, targets),
    bends,
  };
}

function byRank(rank: Int32Array): Int32Array[] {
  const layers: number[][] = [];
  rank.forEach((layer, node) => (layers[layer] ??= []).push(node));
  return Array.from(layers, (layer) => Int32Array.from(layer ?? []));
}
