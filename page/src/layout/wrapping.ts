// SPDX-License-Identifier: Apache-2.0
import type { LayeredGraph } from "./layeredGraph";
import type { LayoutSizes } from "./sizes";

/** Gap in pixels between the columns of one layer. Edges pass it, but end at its cards only. */
const COLUMN_GAP_INSIDE = 28;

/** The columns of the layers: a tall layer is wrapped into several. */
export interface WrappedLayers {
  /** Number of columns of each layer. */
  readonly columns: Int32Array;
  /** Column of each node within its layer; 0 for bends. */
  readonly column: Int32Array;
  /** Left border of each layer. */
  readonly left: Float64Array;
  /** Width of each layer. */
  readonly widths: Float64Array;
  readonly width: number;
}

/**
 * Wrap layers into as many columns as bring the drawing closest to the desired aspect ratio.
 *
 * The nodes of a wrapped layer alternate between its columns. Each column is then shifted by a part of a row, so that
 * edges reach the second column between the cards of the first.
 */
export function wrapLayers(graph: LayeredGraph, order: readonly Int32Array[], sizes: LayoutSizes): WrappedLayers {
  const counts = order.map((layer) => layer.reduce((sum, node) => sum + (node < graph.nodes ? 1 : 0), 0));
  const columns = Int32Array.from(columnsPerLayer(counts, sizes));
  const column = new Int32Array(graph.count);
  order.forEach((layer, rank) => {
    let next = 0;
    for (const node of layer) if (node < graph.nodes) column[node] = next++ % columns[rank];
  });
  const widths = Float64Array.from(columns, (count) => layerWidth(count, sizes));
  const left = new Float64Array(columns.length);
  for (let rank = 1; rank < left.length; rank++) left[rank] = left[rank - 1] + widths[rank - 1] + sizes.columnGap;
  const last = columns.length - 1;
  return { columns, column, left, widths, width: last < 0 ? 0 : left[last] + widths[last] };
}

/** The number of columns of each layer, given how many nodes it has. A drawing that is wide already is not wrapped. */
export function columnsPerLayer(counts: readonly number[], sizes: LayoutSizes): number[] {
  const tallest = counts.reduce((most, count) => Math.max(most, count), 0);
  let best = counts.map(() => 1);
  let bestSide = side(counts, best, sizes);
  for (let wraps = 2; wraps <= tallest; wraps++) {
    const rows = Math.ceil(tallest / wraps);
    const columns = counts.map((count) => Math.max(1, Math.ceil(count / rows)));
    const found = side(counts, columns, sizes);
    if (found >= bestSide) break;
    [best, bestSide] = [columns, found];
  }
  return best;
}

/** Height of the smallest box of the desired aspect ratio around the drawing: what the scale on screen depends on. */
function side(counts: readonly number[], columns: readonly number[], sizes: LayoutSizes): number {
  const rows = counts.reduce((most, count, rank) => Math.max(most, count / columns[rank]), 0);
  const width = columns.reduce((sum, count) => sum + layerWidth(count, sizes), (columns.length - 1) * sizes.columnGap);
  return Math.max(rows * (sizes.height + sizes.rowGap), width / sizes.aspect);
}

function layerWidth(columns: number, sizes: LayoutSizes): number {
  return columns * sizes.width + (columns - 1) * COLUMN_GAP_INSIDE;
}

/** Center of a node within the width of its layer. */
export function centerInLayer(column: number, sizes: LayoutSizes): number {
  return column * (sizes.width + COLUMN_GAP_INSIDE) + sizes.width / 2;
}
