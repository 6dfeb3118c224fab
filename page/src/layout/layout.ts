// SPDX-License-Identifier: Apache-2.0
import { components, type Digraph, simplify } from "./digraph";
import { type LayeredGraph, insertBends } from "./layeredGraph";
import { minimizeCrossings } from "./crossings";
import { assignY } from "./coordinates";
import { removeCycles, assignRanks } from "./ranks";

/** Sizes in pixels at scale 1. */
export interface LayoutSizes {
  readonly width: number;
  readonly height: number;
  readonly columnGap: number;
  readonly rowGap: number;
  /** Desired aspect ratio (width by height) of the packed components. */
  readonly aspect: number;
}

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
 * Lay out a graph from left to right with the Sugiyama method. Components are laid out separately and packed in rows.
 *
 * Deterministic: equal graphs have equal layouts.
 */
export function layoutGraph(graph: Digraph, sizes: LayoutSizes): Layout {
  const x = new Float32Array(graph.count);
  const y = new Float32Array(graph.count);
  const routeByEdge = new Map<number, Float32Array>();
  const simple = simplify(graph);
  const parts = splitComponents(simple).map((part) => layoutComponent(part, sizes));
  const { offsets, width, height } = packComponents(parts, sizes);
  parts.forEach((part, index) => {
    const { left, top } = offsets[index];
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

interface Component {
  readonly nodes: readonly number[];
  readonly graph: Digraph;
  readonly key: (from: number, to: number) => number;
}

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
  const layers = insertBends(acyclic, assignRanks(acyclic));
  const y = assignY(layers, minimizeCrossings(layers), sizes.height + sizes.rowGap);
  const top = y.reduce((lowest, value) => Math.min(lowest, value), Infinity) - sizes.height / 2;
  const bottom = y.reduce((most, value) => Math.max(most, value), -Infinity) + sizes.height / 2;
  const columnX = (node: number): number => layers.rank[node] * (sizes.width + sizes.columnGap) + sizes.width / 2;
  return {
    nodes,
    x: Float32Array.from(nodes, (_, node) => columnX(node)),
    y: Float32Array.from(nodes, (_, node) => y[node] - top),
    routes: edgeRoutes(graph, acyclic, layers, (bend) => [columnX(bend), y[bend] - top], key),
    width: layers.layers.length * (sizes.width + sizes.columnGap) - sizes.columnGap,
    height: bottom - top,
  };
}

function edgeRoutes(
  graph: Digraph,
  acyclic: Digraph,
  { bends }: LayeredGraph,
  point: (bend: number) => [number, number],
  key: (from: number, to: number) => number,
): Map<number, Float32Array> {
  const routes = new Map<number, Float32Array>();
  bends.forEach((chain, edge) => {
    if (chain.length === 0) return;
    const points = Array.from(chain, point);
    if (graph.from[edge] !== acyclic.from[edge]) points.reverse();
    routes.set(key(graph.from[edge], graph.to[edge]), Float32Array.from(points.flat()));
  });
  return routes;
}

/** Pack components into shelves, largest first. The widest component or the aspect ratio limits the width. */
function packComponents(parts: readonly PlacedComponent[], sizes: LayoutSizes) {
  const gap = sizes.rowGap * 3;
  const area = parts.reduce((sum, part) => sum + (part.width + gap) * (part.height + gap), 0);
  const widest = parts.reduce((most, part) => Math.max(most, part.width), 0);
  const limit = Math.max(widest, Math.sqrt(area * sizes.aspect));
  const offsets: { left: number; top: number }[] = [];
  let [left, top, shelf, width] = [0, 0, 0, 0];
  for (const part of parts) {
    if (left > 0 && left + part.width > limit) {
      top += shelf + gap;
      left = 0;
      shelf = 0;
    }
    offsets.push({ left, top });
    left += part.width + gap;
    shelf = Math.max(shelf, part.height);
    width = Math.max(width, left - gap);
  }
  return { offsets, width, height: top + shelf };
}
