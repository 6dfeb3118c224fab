// SPDX-License-Identifier: Apache-2.0

/** A directed graph: nodes are 0..count-1, edge i goes from `from[i]` to `to[i]`. */
export interface Digraph {
  readonly count: number;
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/** Adjacency list: the neighbors of node n are `list[start[n]]` to `list[start[n + 1] - 1]`. */
export interface Neighbors {
  readonly start: Int32Array;
  readonly list: Int32Array;
}

/** Group `values[i]` by `keys[i]` with a counting sort, in time linear in the number of edges. */
export function neighbors(count: number, keys: Int32Array, values: Int32Array): Neighbors {
  const start = new Int32Array(count + 1);
  for (const key of keys) start[key + 1]++;
  for (let node = 0; node < count; node++) start[node + 1] += start[node];
  const next = start.slice(0, count);
  const list = new Int32Array(keys.length);
  for (let edge = 0; edge < keys.length; edge++) list[next[keys[edge]]++] = values[edge];
  return { start, list };
}

/** Remove self-loops and repeated edges. */
export function simplify(graph: Digraph): Digraph {
  const seen = new Set<number>();
  const from: number[] = [];
  const to: number[] = [];
  for (let edge = 0; edge < graph.from.length; edge++) {
    const key = graph.from[edge] * graph.count + graph.to[edge];
    if (graph.from[edge] === graph.to[edge] || seen.has(key)) continue;
    seen.add(key);
    from.push(graph.from[edge]);
    to.push(graph.to[edge]);
  }
  return { count: graph.count, from: Int32Array.from(from), to: Int32Array.from(to) };
}

/** Weakly connected components, largest first; the nodes of each in ascending order. */
export function components(graph: Digraph): number[][] {
  const parent = Int32Array.from({ length: graph.count }, (_, node) => node);
  const root = (node: number): number => {
    while (parent[node] !== node) node = parent[node] = parent[parent[node]];
    return node;
  };
  for (let edge = 0; edge < graph.from.length; edge++) parent[root(graph.from[edge])] = root(graph.to[edge]);
  const found = new Map<number, number[]>();
  for (let node = 0; node < graph.count; node++) {
    const members = found.get(root(node));
    if (members) members.push(node);
    else found.set(root(node), [node]);
  }
  return [...found.values()].sort((a, b) => b.length - a.length || a[0] - b[0]);
}
