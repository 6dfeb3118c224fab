// SPDX-License-Identifier: Apache-2.0
import { type Digraph, neighbors } from "./digraph";

/**
 * Reverse the back edges of a depth-first search, so that the graph has no cycle. Lineage has few of them, such as a
 * table that a job both reads and writes.
 */
export function removeCycles(graph: Digraph): Digraph {
  const { start, list } = neighbors(graph.count, graph.from, graph.to);
  const incoming = new Int32Array(graph.count);
  for (const node of graph.to) incoming[node]++;
  const NEW = 0;
  const OPEN = 1;
  const DONE = 2;
  const mark = new Uint8Array(graph.count);
  const next = start.slice(0, graph.count);
  const reversed = new Set<number>();
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
      if (mark[target] === OPEN) reversed.add(node * graph.count + target);
      else if (mark[target] === NEW) {
        mark[target] = OPEN;
        stack.push(target);
      }
    }
  };
  // Start at the sources: then only edges that close a cycle are reversed.
  for (let node = 0; node < graph.count; node++) if (incoming[node] === 0 && mark[node] === NEW) visit(node);
  for (let node = 0; node < graph.count; node++) if (mark[node] === NEW) visit(node);
  if (reversed.size === 0) return graph;
  const from = graph.from.slice();
  const to = graph.to.slice();
  for (let edge = 0; edge < from.length; edge++) {
    if (reversed.has(graph.from[edge] * graph.count + graph.to[edge])) {
      from[edge] = graph.to[edge];
      to[edge] = graph.from[edge];
    }
  }
  return { count: graph.count, from, to };
}

/**
 * Assign every node of an acyclic graph to a layer: the longest path from a source. Nodes with more outgoing than
 * incoming edges then move right, next to their nearest successor, which shortens edges.
 */
export function assignRanks(graph: Digraph): Int32Array {
  const successors = neighbors(graph.count, graph.from, graph.to);
  const predecessors = neighbors(graph.count, graph.to, graph.from);
  const order = topologicalOrder(graph, successors.start, successors.list);
  const rank = new Int32Array(graph.count);
  for (const node of order) {
    for (let at = successors.start[node]; at < successors.start[node + 1]; at++) {
      const target = successors.list[at];
      rank[target] = Math.max(rank[target], rank[node] + 1);
    }
  }
  for (let index = order.length - 1; index >= 0; index--) {
    const node = order[index];
    const [outgoing, incoming] = [successors, predecessors].map(({ start }) => start[node + 1] - start[node]);
    if (outgoing <= incoming) continue;
    let nearest = Number.MAX_SAFE_INTEGER;
    for (let at = successors.start[node]; at < successors.start[node + 1]; at++) {
      nearest = Math.min(nearest, rank[successors.list[at]]);
    }
    rank[node] = nearest - 1;
  }
  return rank;
}

function topologicalOrder(graph: Digraph, start: Int32Array, list: Int32Array): Int32Array {
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
