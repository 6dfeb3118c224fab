// SPDX-License-Identifier: Apache-2.0
import type { LayeredGraph } from "./layeredGraph";

const SWEEPS = 10;

/**
 * Assign a y coordinate to the center of every node and bend, in the given order of each layer.
 *
 * Each sweep moves the nodes of a layer towards the mean of their neighbors on one side, as far as order and minimum
 * distances allow (least squares).
 *
 * @param rowHeight vertical distance of the nodes of a layer, given its rank; a bend takes 35 % of that.
 */
export function assignY(
  graph: LayeredGraph,
  layers: readonly Int32Array[],
  rowHeight: (rank: number) => number,
): Float64Array {
  const y = new Float64Array(graph.count);
  const heightOf = (node: number): number => rowHeight(graph.rank[node]) * (node < graph.nodes ? 1 : 0.35);
  for (const layer of layers) {
    let at = 0;
    for (const node of layer) {
      y[node] = at + heightOf(node) / 2;
      at += heightOf(node);
    }
    for (const node of layer) y[node] -= at / 2;
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forward = sweep % 2 === 0;
    // The last sweeps use both sides, so that the result is not biased towards one.
    const sides = sweep >= SWEEPS - 2 ? [graph.before, graph.after] : [forward ? graph.before : graph.after];
    for (let step = 0; step < layers.length; step++) {
      const layer = layers[forward ? step : layers.length - 1 - step];
      const desired = Float64Array.from(layer, (node) => {
        let sum = 0;
        let count = 0;
        for (const { start, list } of sides) {
          for (let at = start[node]; at < start[node + 1]; at++, count++) sum += y[list[at]];
        }
        return count === 0 ? y[node] : sum / count;
      });
      alignLayer(layer, desired, heightOf, y);
    }
  }
  return y;
}

/**
 * Isotonic regression by pool adjacent violators: the coordinates nearest to `desired` that keep order and distances.
 *
 * After subtraction of the distances, coordinates only have to ascend. Neighbours that violate this are merged into a
 * block at the mean of its desired coordinates.
 */
function alignLayer(
  layer: Int32Array,
  desired: Float64Array,
  heightOf: (node: number) => number,
  y: Float64Array,
): void {
  const offset = new Float64Array(layer.length);
  for (let index = 1; index < layer.length; index++) {
    offset[index] = offset[index - 1] + (heightOf(layer[index - 1]) + heightOf(layer[index])) / 2;
  }
  const sums: number[] = [];
  const counts: number[] = [];
  for (let index = 0; index < layer.length; index++) {
    let sum = desired[index] - offset[index];
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
