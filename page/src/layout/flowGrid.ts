// SPDX-License-Identifier: Apache-2.0
import { type Digraph, type Neighbors, neighbors } from "./digraph";
import type { LayoutSizes } from "./sizes";

/** Gauss-Seidel steps: levels of graphs of a few hundred nodes are stable by then. */
const LEVEL_STEPS = 60;
const ORDER_SWEEPS = 8;

/** Centers of nodes in a grid, and the size of the grid. */
export interface FlowGrid {
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly width: number;
  readonly height: number;
}

/**
 * Place the nodes of a cyclic graph in a grid of the desired aspect ratio, along the main direction of its edges.
 *
 * Layers by longest path would put a graph with many cycles, such as that of groups, into one long row. Columns are
 * quantiles of the levels of its nodes instead; within a column, nodes are close to their neighbors.
 */
export function flowGrid(graph: Digraph, sizes: LayoutSizes): FlowGrid {
  const after = neighbors(graph.count, graph.from, graph.to);
  const before = neighbors(graph.count, graph.to, graph.from);
  const level = flowLevels(graph.count, before, after);
  const [columnWidth, rowHeight] = [sizes.width + sizes.columnGap, sizes.height + sizes.rowGap];
  const columns = Math.max(1, Math.ceil(Math.sqrt((graph.count * sizes.aspect * rowHeight) / columnWidth)));
  const rows = Math.ceil(graph.count / columns);
  const sorted = Array.from(level, (_, node) => node).sort((a, b) => level[a] - level[b] || a - b);
  const grid: number[][] = [];
  for (let at = 0; at < sorted.length; at += rows) grid.push(sorted.slice(at, at + rows));
  const y = orderColumns(grid, graph.count, [before, after]);
  const x = new Float32Array(graph.count);
  grid.forEach((nodes, column) => {
    for (const node of nodes) x[node] = column * columnWidth + sizes.width / 2;
  });
  return {
    x,
    y: y.map((row) => row * rowHeight + sizes.height / 2),
    width: grid.length * columnWidth - sizes.columnGap,
    height: rows * rowHeight - sizes.rowGap,
  };
}

/**
 * Levels by which edges lead as nearly as possible from one level to the next: the least squares of
 * `level(to) - level(from) - 1`, the trophic levels of MacKay, Johnson and Sansom (2020). Cycles need not be broken.
 */
function flowLevels(count: number, before: Neighbors, after: Neighbors): Float64Array {
  const level = new Float64Array(count);
  for (let step = 0; step < LEVEL_STEPS; step++) {
    for (let node = 0; node < count; node++) {
      let [sum, edges] = [0, 0];
      for (let at = before.start[node]; at < before.start[node + 1]; at++, edges++) sum += level[before.list[at]] + 1;
      for (let at = after.start[node]; at < after.start[node + 1]; at++, edges++) sum += level[after.list[at]] - 1;
      if (edges > 0) level[node] = sum / edges;
    }
  }
  return level;
}

/** Row of each node: columns are sorted by the mean row of the neighbors, forward and backward, and centered. */
function orderColumns(grid: readonly number[][], count: number, sides: readonly Neighbors[]): Float32Array {
  const rows = grid.reduce((most, { length }) => Math.max(most, length), 0);
  const row = new Float32Array(count);
  const place = (nodes: readonly number[]) =>
    nodes.forEach((node, at) => (row[node] = at + (rows - nodes.length) / 2));
  grid.forEach(place);
  for (let sweep = 0; sweep < ORDER_SWEEPS; sweep++) {
    for (const nodes of sweep % 2 === 0 ? grid : [...grid].reverse()) {
      const wanted = new Map(nodes.map((node) => [node, meanRow(node, row, sides)]));
      nodes.sort((a, b) => wanted.get(a)! - wanted.get(b)! || a - b);
      place(nodes);
    }
  }
  return row;
}

function meanRow(node: number, row: Float32Array, sides: readonly Neighbors[]): number {
  let [sum, edges] = [0, 0];
  for (const { start, list } of sides) {
    for (let at = start[node]; at < start[node + 1]; at++, edges++) sum += row[list[at]];
  }
  return edges === 0 ? row[node] : sum / edges;
}
