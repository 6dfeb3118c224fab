// SPDX-License-Identifier: Apache-2.0
import { components, type Digraph, simplify } from "./digraph";
import { flowGrid } from "./flowGrid";
import { type LayeredGraph, insertBends } from "./layeredGraph";
import { minimizeCrossings } from "./crossings";
import { assignY } from "./coordinates";
import { packBoxes } from "./packing";
import { removeCycles, assignRanks } from "./ranks";
import type { LayoutSizes } from "./sizes";
import { centerInLayer, type WrappedLayers, wrapLayers } from "./wrapping";

/** Positions of nodes (their centers) and edges. */
export interface Layout {
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** Bends of each edge as x, y, x, y ..., in the direction of the edge. */
  readonly routes: Float32Array[];
  readonly width: number;
  readonly height: number;
}

/**
 * Lay out a graph from left to right with the Sugiyama method. Components are laid out separately and packed beside each
 * other. Tall layers are wrapped, so that the drawing has about the desired aspect ratio.
 *
 * A component with many cycles, such as groups of a large graph, becomes a grid along the main direction of its edges.
 *
 * Deterministic: equal graphs have equal layouts.
 */
export function layoutGraph(graph: Digraph, sizes: LayoutSizes): Layout {
  const x = new Float32Array(graph.count);
  const y = new Float32Array(graph.count);
  const routeByEdge = new Map<number, Float32Array>();
  const simple = simplify(graph);
  const parts = splitComponents(simple).map((part) => layoutComponent(part, sizes));
  const { corners, width, height } = packBoxes(parts, sizes.aspect, sizes.rowGap * 3);
  parts.forEach((part, index) => {
    const { left, top } = corners[index];
    part.nodes.forEach((node, local) => {
      x[node] = part.x[local] + left;
      y[node] = part.y[local] + top;
    });
    for (const [edge, route] of part.routes) {
      routeByEdge.set(
        edge,
        route.map((value, at) => value + (at % 2 === 0 ? left : top)),
      );
    }
  });
  const none = new Float32Array(0);
  const routes = Array.from(graph.from, (from, edge) => routeByEdge.get(from * graph.count + graph.to[edge]) ?? none);
  return { x, y, routes, width, height };
}

/** Share of edges on cycles above which a graph is drawn as a grid: that of jobs and datasets has few, that of groups many. */
const MAX_REVERSED_SHARE = 0.04;

interface Component {
  readonly nodes: readonly number[];
  readonly graph: Digraph;
  readonly key: (from: number, to: number) => number;
}

type Point = readonly [x: number, y: number];

interface PlacedComponent {
  readonly nodes: readonly number[];
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly routes: Map<number, Float32Array>;
  readonly width: number;
  readonly height: number;
}

function splitComponents(graph: Digraph): Component[] {
  const local = new Int32Array(graph.count);
  const componentOf = new Int32Array(graph.count);
  const groups = components(graph);
  groups.forEach((nodes, group) =>
    nodes.forEach((node, index) => {
      local[node] = index;
      componentOf[node] = group;
    }),
  );
  const edges: number[][] = groups.map(() => []);
  for (let edge = 0; edge < graph.from.length; edge++) edges[componentOf[graph.from[edge]]].push(edge);
  return groups.map((nodes, group) => ({
    nodes,
    graph: {
      count: nodes.length,
      from: Int32Array.from(edges[group], (edge) => local[graph.from[edge]]),
      to: Int32Array.from(edges[group], (edge) => local[graph.to[edge]]),
    },
    key: (from, to) => nodes[from] * graph.count + nodes[to],
  }));
}

function layoutComponent({ nodes, graph, key }: Component, sizes: LayoutSizes): PlacedComponent {
  const acyclic = removeCycles(graph);
  const reversed = graph.from.reduce((count, from, edge) => count + (from === acyclic.from[edge] ? 0 : 1), 0);
  if (reversed > graph.from.length * MAX_REVERSED_SHARE) return { nodes, routes: new Map(), ...flowGrid(graph, sizes) };
  const layers = insertBends(acyclic, assignRanks(acyclic));
  const order = minimizeCrossings(layers);
  const wrapped = wrapLayers(layers, order, sizes);
  const rowHeight = sizes.height + sizes.rowGap;
  const y = assignY(layers, order, (rank) => rowHeight / wrapped.columns[rank]);
  const top = y.reduce((lowest, value) => Math.min(lowest, value), Infinity) - sizes.height / 2;
  const bottom = y.reduce((most, value) => Math.max(most, value), -Infinity) + sizes.height / 2;
  const nodeX = (node: number): number =>
    wrapped.left[layers.rank[node]] + centerInLayer(wrapped.column[node], sizes);
  return {
    nodes,
    x: Float32Array.from(nodes, (_, node) => nodeX(node)),
    y: Float32Array.from(nodes, (_, node) => y[node] - top),
    routes: edgeRoutes(graph, acyclic, layers, (bend) => bendPoints(wrapped, layers.rank[bend], y[bend] - top, sizes), key),
    width: wrapped.width,
    height: bottom - top,
  };
}

/** Points of an edge that passes a layer: one, or both ends of a wrapped layer. */
function bendPoints({ left, widths, columns }: WrappedLayers, rank: number, y: number, sizes: LayoutSizes): Point[] {
  const first: Point = [left[rank] + sizes.width / 2, y];
  return columns[rank] === 1 ? [first] : [first, [left[rank] + widths[rank] - sizes.width / 2, y]];
}

function edgeRoutes(
  graph: Digraph,
  acyclic: Digraph,
  { bends }: LayeredGraph,
  pointsOf: (bend: number) => readonly Point[],
  key: (from: number, to: number) => number,
): Map<number, Float32Array> {
  const routes = new Map<number, Float32Array>();
  bends.forEach((chain, edge) => {
    if (chain.length === 0) return;
    const points = Array.from(chain, pointsOf).flat();
    if (graph.from[edge] !== acyclic.from[edge]) points.reverse();
    routes.set(key(graph.from[edge], graph.to[edge]), Float32Array.from(points.flat()));
  });
  return routes;
}
