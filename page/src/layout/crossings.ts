// SPDX-License-Identifier: Apache-2.0
import type { Neighbours } from "./digraph";
import type { Layered } from "./layeredGraph";

const MOST_SWEEPS = 24;
const PATIENCE = 4;
/** Edges that all sweeps together may look at; it bounds the time, about a second for the largest graphs. */
const WORK = 6_000_000;

/** The layers, each in an order that lets few edges cross: medians of neighbours, swept to and fro. */
export function ordered(graph: Layered): Int32Array[] {
  const layers = startingOrder(graph);
  const place = new Float64Array(graph.count);
  layers.forEach((layer) => layer.forEach((node, index) => (place[node] = index)));
  let best = layers.map((layer) => layer.slice());
  let fewest = crossings(graph, layers, place);
  const sweeps = Math.max(2, Math.min(MOST_SWEEPS, Math.floor(WORK / (graph.after.list.length + 1))));
  for (let sweep = 0, idle = 0; sweep < sweeps && idle < PATIENCE && fewest > 0; sweep++) {
    const forward = sweep % 2 === 0;
    const side = forward ? graph.before : graph.after;
    for (let step = 1; step < layers.length; step++) {
      arrange(layers[forward ? step : layers.length - 1 - step], side, place, sweep % 4 < 2);
    }
    const now = crossings(graph, layers, place);
    idle = now < fewest ? 0 : idle + 1;
    if (now < fewest) {
      fewest = now;
      best = layers.map((layer) => layer.slice());
    }
  }
  return best;
}

/** How many pairs of edges cross: for each layer, inversions of the edges' right ends sorted by their left ends. */
export function crossings(graph: Layered, layers: readonly Int32Array[], place: Float64Array): number {
  let total = 0;
  for (let index = 0; index + 1 < layers.length; index++) {
    const size = layers[index + 1].length;
    const tree = new Int32Array(size + 1);
    let inserted = 0;
    for (const node of layers[index]) {
      const ends: number[] = [];
      for (let at = graph.after.start[node]; at < graph.after.start[node + 1]; at++) {
        ends.push(place[graph.after.list[at]]);
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

/** Nodes in the order of a depth-first walk: what hangs together begins together. */
function startingOrder(graph: Layered): Int32Array[] {
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

function arrange(layer: Int32Array, side: Neighbours, place: Float64Array, leftFirst: boolean): void {
  const wish = new Map<number, number>();
  layer.forEach((node, index) => wish.set(node, middle(node, side, place) ?? index));
  const sign = leftFirst ? 1 : -1;
  const sorted = Array.from(layer).sort((a, b) => wish.get(a)! - wish.get(b)! || sign * (place[a] - place[b]));
  layer.set(sorted);
  layer.forEach((node, index) => (place[node] = index));
}

/** The weighted median of the neighbours' places; undefined where there are none. */
function middle(node: number, { start, list }: Neighbours, place: Float64Array): number | undefined {
  const places: number[] = [];
  for (let at = start[node]; at < start[node + 1]; at++) places.push(place[list[at]]);
  if (places.length === 0) return undefined;
  places.sort((a, b) => a - b);
  const half = places.length >> 1;
  if (places.length % 2 === 1) return places[half];
  if (places.length === 2) return (places[0] + places[1]) / 2;
  const left = places[half - 1] - places[0];
  const right = places[places.length - 1] - places[half];
  return left + right === 0 ? places[half] : (places[half - 1] * right + places[half] * left) / (left + right);
}
