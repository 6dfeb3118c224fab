// SPDX-License-Identifier: Apache-2.0
import type { Neighbors } from "./digraph";
import type { LayeredGraph } from "./layeredGraph";

const MAX_SWEEPS = 24;
/** Sweeps without improvement after which the search stops. */
const MAX_IDLE_SWEEPS = 4;
/** Maximum number of edges visited over all sweeps: about one second for the largest graphs. */
const MAX_EDGE_VISITS = 6_000_000;

/** Reorder each layer to reduce edge crossings: weighted medians of the neighbors, swept forward and backward. */
export function minimizeCrossings(graph: LayeredGraph): Int32Array[] {
  const layers = initialOrder(graph);
  const position = new Float64Array(graph.count);
  layers.forEach((layer) => layer.forEach((node, index) => (position[node] = index)));
  let best = layers.map((layer) => layer.slice());
  let fewest = countCrossings(graph, layers, position);
  const sweeps = Math.max(2, Math.min(MAX_SWEEPS, Math.floor(MAX_EDGE_VISITS / (graph.after.list.length + 1))));
  for (let sweep = 0, idle = 0; sweep < sweeps && idle < MAX_IDLE_SWEEPS && fewest > 0; sweep++) {
    const forward = sweep % 2 === 0;
    const side = forward ? graph.before : graph.after;
    for (let step = 1; step < layers.length; step++) {
      sortLayer(layers[forward ? step : layers.length - 1 - step], side, position, sweep % 4 < 2);
    }
    const now = countCrossings(graph, layers, position);
    idle = now < fewest ? 0 : idle + 1;
    if (now < fewest) {
      fewest = now;
      best = layers.map((layer) => layer.slice());
    }
  }
  return best;
}

/** Number of edge crossings: per layer, the inversions of the right ends of edges sorted by their left ends. */
export function countCrossings(graph: LayeredGraph, layers: readonly Int32Array[], position: Float64Array): number {
  let total = 0;
  for (let index = 0; index + 1 < layers.length; index++) {
    const size = layers[index + 1].length;
    const tree = new Int32Array(size + 1);
    let inserted = 0;
    for (const node of layers[index]) {
      const ends: number[] = [];
      for (let at = graph.after.start[node]; at < graph.after.start[node + 1]; at++) {
        ends.push(position[graph.after.list[at]]);
      }
      for (const end of ends) {
        let before = 0;
        for (let at = end + 1; at > 0; at -= at & -at) before += tree[at];
        total += inserted - before;
      }
      for (const end of ends) {
        for (let at = end + 1; at <= size; at += at & -at) tree[at]++;
      }
      inserted += ends.length;
    }
  }
  return total;
}

/** Initial order by depth-first search, so that connected nodes start next to each other. */
function initialOrder(graph: LayeredGraph): Int32Array[] {
  const seen = new Uint8Array(graph.count);
  const found: number[][] = graph.layers.map(() => []);
  for (const layer of graph.layers) {
    for (const first of layer) {
      if (seen[first]) continue;
      const stack = [first];
      seen[first] = 1;
      while (stack.length > 0) {
        const node = stack.pop()!;
        found[graph.rank[node]].push(node);
        for (const { start, list } of [graph.before, graph.after]) {
          for (let at = start[node + 1] - 1; at >= start[node]; at--) {
            if (!seen[list[at]]) {
              seen[list[at]] = 1;
              stack.push(list[at]);
            }
          }
        }
      }
    }
  }
  return found.map((layer) => Int32Array.from(layer));
}

function sortLayer(layer: Int32Array, side: Neighbors, position: Float64Array, leftFirst: boolean): void {
  const desired = new Map<number, number>();
  layer.forEach((node, index) => desired.set(node, weightedMedian(node, side, position) ?? index));
  const sign = leftFirst ? 1 : -1;
  const sorted = Array.from(layer).sort((a, b) => desired.get(a)! - desired.get(b)! || sign * (position[a] - position[b]));
  layer.set(sorted);
  layer.forEach((node, index) => (position[node] = index));
}

/** Weighted median of the neighbors' positions; undefined without neighbors. */
function weightedMedian(node: number, { start, list }: Neighbors, position: Float64Array): number | undefined {
  const positions: number[] = [];
  for (let at = start[node]; at < start[node + 1]; at++) positions.push(position[list[at]]);
  if (positions.length === 0) return undefined;
  positions.sort((a, b) => a - b);
  const half = positions.length >> 1;
  if (positions.length % 2 === 1) return positions[half];
  if (positions.length === 2) return (positions[0] + positions[1]) / 2;
  const left = positions[half - 1] - positions[0];
  const right = positions[positions.length - 1] - positions[half];
  return left + right === 0 ? positions[half] : (positions[half - 1] * right + positions[half] * left) / (left + right);
}
