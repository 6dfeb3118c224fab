// SPDX-License-Identifier: Apache-2.0
import type { Layered } from "./layeredGraph";

const SWEEPS = 10;

/**
 * The height of the middle of every node and bend, in layers that are in order.
 *
 * Each sweep asks every node for the mean height of its neighbours on one side and grants the wishes of a layer as
 * well as its order and the distances allow, in the sense of least squares.
 *
 * @param size height of a node with the gap below it; bends take a part of that.
 */
export function heights(graph: Layered, layers: readonly Int32Array[], size: number): Float64Array {
  const y = new Float64Array(graph.count);
  const room = (node: number): number => (node < graph.nodes ? size : size * 0.35);
  for (const layer of layers) {
    let at = 0;
    for (const node of layer) {
      y[node] = at + room(node) / 2;
      at += room(node);
    }
    for (const node of layer) y[node] -= at / 2;
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forward = sweep % 2 === 0;
    // The last sweeps look to both sides, so that neither has the last word.
    const sides = sweep >= SWEEPS - 2 ? [graph.before, graph.after] : [forward ? graph.before : graph.after];
    for (let step = 0; step < layers.length; step++) {
      const layer = layers[forward ? step : layers.length - 1 - step];
      const wishes = Float64Array.from(layer, (node) => {
        let sum = 0;
        let count = 0;
        for (const { start, list } of sides) {
          for (let at = start[node]; at < start[node + 1]; at++, count++) sum += y[list[at]];
        }
        return count === 0 ? y[node] : sum / count;
      });
      grant(layer, wishes, room, y);
    }
  }
  return y;
}

/**
 * Heights nearest to the wishes that keep order and distances: pool adjacent violators.
 *
 * With the distances subtracted, heights only need to ascend; neighbours that would not are merged into a block,
 * which stands at the mean of its wishes.
 */
function grant(layer: Int32Array, wishes: Float64Array, room: (node: number) => number, y: Float64Array): void {
  const offset = new Float64Array(layer.length);
  for (let index = 1; index < layer.length; index++) {
    offset[index] = offset[index - 1] + (room(layer[index - 1]) + room(layer[index])) / 2;
  }
  const sums: number[] = [];
  const counts: number[] = [];
  for (let index = 0; index < layer.length; index++) {
    let sum = wishes[index] - offset[index];
    let count = 1;
    while (sums.length > 0 && sums[sums.length - 1] / counts[counts.length - 1] >= sum / count) {
      sum += sums.pop()!;
      count += counts.pop()!;
    }
    sums.push(sum);
    counts.push(count);
  }
  let index = 0;
  sums.forEach((sum, block) => {
    for (let member = 0; member < counts[block]; member++, index++)
      y[layer[index]] = sum / counts[block] + offset[index];
  });
}
