// SPDX-License-Identifier: Apache-2.0
import { components, type Digraph, simplified } from "./digraph";
import { type Layered, layered } from "./layeredGraph";
import { ordered } from "./crossings";
import { heights } from "./coordinates";
import { acyclic, ranks } from "./ranks";

/** Sizes in pixels at zoom 1. */
export interface Sizes {
  readonly width: number;
  readonly height: number;
  readonly columnGap: number;
  readonly rowGap: number;
  /** Width by height that the whole picture should have, where components can be packed as one likes. */
  readonly aspect: number;
}

/** Where everything is. Points are of the nodes' middles; a route is the points between an edge's two nodes. */
export interface Layout {
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** Of edge i of the given graph: x, y, x, y ... of its bends, in the edge's own direction. */
  readonly routes: Float32Array[];
  readonly width: number;
  readonly height: number;
}

/**
 * Lay out a graph from left to right: what feeds stands left of what it feeds.
 *
 * A pure function: equal graphs give equal pictures. Components stand apart, packed into rows.
 */
export function layOut(graph: Digraph, sizes: Sizes): Layout {
  const x = new Float32Array(graph.count);
  const y = new Float32Array(graph.count);
  const routeOf = new Map<number, Float32Array>();
  const simple = simplified(graph);
  const parts = split(simple).map((part) => component(part, sizes));
  const { places, width, height } = pack(parts, sizes);
  parts.forEach((part, index) => {
    const { left, top } = places[index];
    part.nodes.forEach((node, local) => {
      x[node] = part.x[local] + left;
      y[node] = part.y[local] + top;
    });
    for (const [edge, route] of part.routes) {
      routeOf.set(
        edge,
        route.map((value, at) => value + (at % 2 === 0 ? left : top)),
      );
    }
  });
  const none = new Float32Array(0);
  const routes = Array.from(graph.from, (from, edge) => routeOf.get(from * graph.count + graph.to[edge]) ?? none);
  return { x, y, routes, width, height };
}

interface Part {
  readonly nodes: readonly number[];
  readonly graph: Digraph;
  readonly key: (from: number, to: number) => number;
}

interface Placed {
  readonly nodes: readonly number[];
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly routes: Map<number, Float32Array>;
  readonly width: number;
  readonly height: number;
}

function split(graph: Digraph): Part[] {
  const local = new Int32Array(graph.count);
  const home = new Int32Array(graph.count);
  const groups = components(graph);
  groups.forEach((nodes, group) =>
    nodes.forEach((node, index) => {
      local[node] = index;
      home[node] = group;
    }),
  );
  const edges: number[][] = groups.map(() => []);
  for (let edge = 0; edge < graph.from.length; edge++) edges[home[graph.from[edge]]].push(edge);
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

function component({ nodes, graph, key }: Part, sizes: Sizes): Placed {
  const straight = acyclic(graph);
  const layers = layered(straight, ranks(straight));
  const y = heights(layers, ordered(layers), sizes.height + sizes.rowGap);
  const top = y.reduce((least, value) => Math.min(least, value), Infinity) - sizes.height / 2;
  const bottom = y.reduce((most, value) => Math.max(most, value), -Infinity) + sizes.height / 2;
  const column = (node: number): number => layers.rank[node] * (sizes.width + sizes.columnGap) + sizes.width / 2;
  return {
    nodes,
    x: Float32Array.from(nodes, (_, node) => column(node)),
    y: Float32Array.from(nodes, (_, node) => y[node] - top),
    routes: routesOf(graph, straight, layers, (bend) => [column(bend), y[bend] - top], key),
    width: layers.layers.length * (sizes.width + sizes.columnGap) - sizes.columnGap,
    height: bottom - top,
  };
}

function routesOf(
  graph: Digraph,
  straight: Digraph,
  { bends }: Layered,
  point: (bend: number) => [number, number],
  key: (from: number, to: number) => number,
): Map<number, Float32Array> {
  const routes = new Map<number, Float32Array>();
  bends.forEach((chain, edge) => {
    if (chain.length === 0) return;
    const points = Array.from(chain, point);
    if (graph.from[edge] !== straight.from[edge]) points.reverse();
    routes.set(key(graph.from[edge], graph.to[edge]), Float32Array.from(points.flat()));
  });
  return routes;
}

/** Shelves, the largest component first; the first shelf's width decides how wide the others may be. */
function pack(parts: readonly Placed[], sizes: Sizes) {
  const gap = sizes.rowGap * 3;
  const area = parts.reduce((sum, part) => sum + (part.width + gap) * (part.height + gap), 0);
  const widest = parts.reduce((most, part) => Math.max(most, part.width), 0);
  const limit = Math.max(widest, Math.sqrt(area * sizes.aspect));
  const places: { left: number; top: number }[] = [];
  let [left, top, shelf, width] = [0, 0, 0, 0];
  for (const part of parts) {
    if (left > 0 && left + part.width > limit) {
      top += shelf + gap;
      left = 0;
      shelf = 0;
    }
    places.push({ left, top });
    left += part.width + gap;
    shelf = Math.max(shelf, part.height);
    width = Math.max(width, left - gap);
  }
  return { places, width, height: top + shelf };
}
