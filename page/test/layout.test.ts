// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { pipeline } from "./pipeline";
import { components, type Digraph, simplified } from "../src/layout/digraph";
import { layered } from "../src/layout/layeredGraph";
import { layOut } from "../src/layout/layout";
import { crossings, ordered } from "../src/layout/crossings";
import { acyclic, ranks } from "../src/layout/ranks";
import { SIZES } from "../src/layout/sizes";

function digraph(count: number, ...edges: [number, number][]): Digraph {
  return { count, from: Int32Array.from(edges, ([from]) => from), to: Int32Array.from(edges, ([, to]) => to) };
}

/** Pairs of cards that lie over one another. */
function overlaps(x: Float32Array, y: Float32Array): number {
  const order = Array.from(x, (_, node) => node).sort((a, b) => x[a] - x[b] || y[a] - y[b]);
  let found = 0;
  for (let at = 0; at < order.length; at++) {
    for (let other = at + 1; other < order.length && x[order[other]] - x[order[at]] < SIZES.width; other++) {
      if (Math.abs(y[order[other]] - y[order[at]]) < SIZES.height - 0.01) found++;
    }
  }
  return found;
}

describe("layout", () => {
  test.each([10, 100, 1000, 4000])(
    "of %i nodes has no two cards over one another, and what feeds stands left",
    (count) => {
      const graph = pipeline(count, 1.5);
      const { x, y, width, height } = layOut(graph, SIZES);
      expect(overlaps(x, y)).toBe(0);
      graph.from.forEach((from, edge) => expect(x[from]).toBeLessThan(x[graph.to[edge]]));
      expect(Math.max(...x) + SIZES.width / 2).toBeLessThanOrEqual(width + 0.5);
      expect(Math.max(...y) + SIZES.height / 2).toBeLessThanOrEqual(height + 0.5);
      expect(Math.min(...x) - SIZES.width / 2).toBeGreaterThanOrEqual(-0.5);
    },
  );

  test("is the same each time", () => {
    const graph = pipeline(300, 2);
    expect(layOut(graph, SIZES)).toEqual(layOut(graph, SIZES));
  });

  test("of nothing is empty", () => {
    expect(layOut(digraph(0), SIZES)).toMatchObject({ routes: [], height: 0 });
  });

  test("bears cycles, self-loops and repeated edges", () => {
    const { x, y, routes } = layOut(digraph(3, [0, 1], [1, 2], [2, 0], [1, 1], [0, 1]), SIZES);
    expect(overlaps(x, y)).toBe(0);
    expect(routes).toHaveLength(5);
  });

  test("puts chains on one line", () => {
    const { y } = layOut(digraph(4, [0, 1], [1, 2], [2, 3]), SIZES);
    expect(new Set(y).size).toBe(1);
  });

  test("gives long edges a bend for each column between", () => {
    const { routes, x } = layOut(digraph(4, [0, 1], [1, 2], [2, 3], [0, 3]), SIZES);
    expect(routes[3]).toHaveLength(4);
    expect([routes[3][0], routes[3][2]]).toEqual([x[1], x[2]]);
  });
});

test("components are told apart, the largest first", () => {
  expect(components(digraph(6, [0, 4], [1, 2], [2, 3]))).toEqual([[1, 2, 3], [0, 4], [5]]);
});

test("self-loops and repeated edges are dropped", () => {
  expect(simplified(digraph(2, [0, 1], [0, 0], [0, 1]))).toEqual(digraph(2, [0, 1]));
});

test("only edges that close a cycle are turned round", () => {
  const turned = acyclic(digraph(4, [0, 1], [1, 2], [2, 1], [2, 3]));
  expect(Array.from(turned.from)).toEqual([0, 1, 1, 2]);
  expect(Array.from(turned.to)).toEqual([1, 2, 2, 3]);
});

test("a source is pulled to its readers", () => {
  expect(Array.from(ranks(digraph(5, [0, 1], [1, 2], [2, 3], [4, 3])))).toEqual([0, 1, 2, 3, 2]);
});

test("the order of layers untangles what can be untangled", () => {
  const graph = digraph(6, [0, 5], [1, 4], [2, 3]);
  const layers = layered(graph, ranks(graph));
  const place = (order: readonly Int32Array[]) => {
    const places = new Float64Array(layers.count);
    order.forEach((layer) => layer.forEach((node, at) => (places[node] = at)));
    return places;
  };
  expect(crossings(layers, layers.layers, place(layers.layers))).toBe(3);
  const order = ordered(layers);
  expect(crossings(layers, order, place(order))).toBe(0);
});
