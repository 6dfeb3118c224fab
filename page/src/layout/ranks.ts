// SPDX-License-Identifier: Apache-2.0
import { type Digraph, neighbours } from "./digraph";

/**
 * The graph with some edges turned round so that it has no cycle. A depth-first search turns those that lead back
 * to a node whose search is under way; lineage has few of them (a table that a job reads and writes).
 */
export function acyclic(graph: Digraph): Digraph {
  const { start, list } = neighbours(graph.count, graph.from, graph.to);
  const incoming = new Int32Array(graph.count);
  for (const node of graph.to) incoming[node]++;
  const NEW = 0;
  const OPEN = 1;
  const DONE = 2;
  const mark = new Uint8Array(graph.count);
  const next = start.slice(0, graph.count);
  const turned = new Set<number>();
  const visit = (first: number): void => {
    const stack = [first];
    mark[first] = OPEN;
    while (stack.length > 0) {
      const node = stack[stack.length - 1];
      if (next[node] === start[node + 1]) {
        mark[node] = DONE;
        stack.pop();
        continue;
      }
      const target = list[next[node]++];
      if (mark[target] === OPEN) turned.add(node * graph.count + target);
      else if (mark[target] === NEW) {
        mark[target] = OPEN;
        stack.push(target);
      }
    }
  };
  // Sources first: an edge is then turned only where there is no way round it.
  for (let node = 0; node < graph.count; node++) if (incoming[node] === 0 && mark[node] === NEW) visit(node);
  for (let node = 0; node < graph.count; node++) if (mark[node] === NEW) visit(node);
  if (turned.size === 0) return graph;
  const from = graph.from.slice();
  const to = graph.to.slice();
  for (let edge = 0; edge < from.length; edge++) {
    if (turned.has(graph.from[edge] * graph.count + graph.to[edge])) {
      from[edge] = graph.to[edge];
      to[edge] = graph.from[edge];
    }
  }
  return { count: graph.count, from, to };
}

/**
 * The column of every node: one behind the last of what it is made of; then nodes that more reads than writes hang
 * on are pulled to their readers, which shortens edges. The graph must have no cycle.
 */
export function ranks(graph: Digraph): Int32Array {
  const successors = neighbours(graph.count, graph.from, graph.to);
  const predecessors = neighbours(graph.count, graph.to, graph.from);
  const order = topological(graph, successors.start, successors.list);
  const rank = new Int32Array(graph.count);
  for (const node of order) {
    for (let at = successors.start[node]; at < successors.start[node + 1]; at++) {
      const target = successors.list[at];
      rank[target] = Math.max(rank[target], rank[node] + 1);
    }
  }
  for (let index = order.length - 1; index >= 0; index--) {
    const node = order[index];
    const [reads, writes] = [successors, predecessors].map(({ start }) => start[node + 1] - start[node]);
    if (reads <= writes) continue;
    let nearest = Number.MAX_SAFE_INTEGER;
    for (let at = successors.start[node]; at < successors.start[node + 1]; at++) {
      nearest = Math.min(nearest, rank[successors.list[at]]);
    }
    rank[node] = nearest - 1;
  }
  return rank;
}

function topological(graph: Digraph, start: Int32Array, list: Int32Array): Int32Array {
  const missing = new Int32Array(graph.count);
  for (const node of graph.to) missing[node]++;
  const order = new Int32Array(graph.count);
  let length = 0;
  for (let node = 0; node < graph.count; node++) if (missing[node] === 0) order[length++] = node;
  for (let index = 0; index < length; index++) {
    const node = order[index];
    for (let at = start[node]; at < start[node + 1]; at++) {
      if (--missing[list[at]] === 0) order[length++] = list[at];
    }
  }
  return order;
}
