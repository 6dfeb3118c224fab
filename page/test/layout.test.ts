// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { pipeline } from "./pipeline";
import { components, type Digraph, simplify } from "../src/layout/digraph";
import { insertBends } from "../src/layout/layeredGraph";
import { layoutGraph } from "../src/layout/layout";
import { countCrossings, minimizeCrossings } from "../src/layout/crossings";
import { removeCycles, assignRanks } from "../src/layout/ranks";
import { CARD_SIZES } from "../src/layout/sizes";

function digraph(count: number, ...edges: [number, number][]): Digraph {
  return { count, from: Int32Array.from(edges, ([from]) => from), to: Int32Array.from(edges, ([, to]) => to) };
}

/** Number of pairs of overlapping cards. */
function overlaps(x: Float32Array, y: Float32Array): number {
  const order = Array.from(x, (_, node) => node).sort((a, b) => x[a] - x[b] || y[a] - y[b]);
  let found = 0;
  for (let at = 0; at < order.length; at++) {
    for (let other = at + 1; other < order.length && x[order[other]] - x[order[at]] < CARD_SIZES.width; other++) {
      if (Math.abs(y[order[other]] - y[order[at]]) < CARD_SIZES.height - 0.01) found++;
    }
  }
  return found;
}

describe("layout", () => {
  test.each([10, 100, 1000, 4000])(
    "of %i nodes has no overlapping cards, and edges point right",
    (count) => {
      const graph = pipeline(count, 1.5);
      const { x, y, width, height } = layoutGraph(graph, CARD_SIZES);
      expect(overlaps(x, y)).toBe(0);
      graph.from.forEach((from, edge) => expect(x[from]).toBeLessThan(x[graph.to[edge]]));
      expect(Math.max(...x) + CARD_SIZES.width / 2).toBeLessThanOrEqual(width + 0.5);
      expect(Math.max(...y) + CARD_SIZES.height / 2).toBeLessThanOrEqual(height + 0.5);
      expect(Math.min(...x) - CARD_SIZES.width / 2).toBeGreaterThanOrEqual(-0.5);
    },
  );

  test("is deterministic", () => {
    const graph = pipeline(300, 2);
    expect(layoutGraph(graph, CARD_SIZES)).toEqual(layoutGraph(graph, CARD_SIZES));
  });

  test("of an empty graph is empty", () => {
    expect(layoutGraph(digraph(0), CARD_SIZES)).toMatchObject({ routes: [], height: 0 });
  });

  test("handles cycles, self-loops and repeated edges", () => {
    const { x, y, routes } = layoutGraph(digraph(3, [0, 1], [1, 2], [2, 0], [1, 1], [0, 1]), CARD_SIZES);
    expect(overlaps(x, y)).toBe(0);
    expect(routes).toHaveLength(5);
  });

  test("puts a chain on one line", () => {
    const { y } = layoutGraph(digraph(4, [0, 1], [1, 2], [2, 3]), CARD_SIZES);
    expect(new Set(y).size).toBe(1);
  });

  test("gives a long edge one bend per layer between its ends", () => {
    const { routes, x } = layoutGraph(digraph(4, [0, 1], [1, 2], [2, 3], [0, 3]), CARD_SIZES);
    expect(routes[3]).toHaveLength(4);
    expect([routes[3][0], routes[3][2]]).toEqual([x[1], x[2]]);
  });
});

test("components are sorted by size", () => {
  expect(components(digraph(6, [0, 4], [1, 2], [2, 3]))).toEqual([[1, 2, 3], [0, 4], [5]]);
});

test("simplify removes self-loops and repeated edges", () => {
  expect(simplify(digraph(2, [0, 1], [0, 0], [0, 1]))).toEqual(digraph(2, [0, 1]));
});

test("removeCycles reverses only edges that close a cycle", () => {
  const turned = removeCycles(digraph(4, [0, 1], [1, 2], [2, 1], [2, 3]));
  expect(Array.from(turned.from)).toEqual([0, 1, 1, 2]);
  expect(Array.from(turned.to)).toEqual([1, 2, 2, 3]);
});

test("assignRanks moves a source next to its readers", () => {
  expect(Array.from(assignRanks(digraph(5, [0, 1], [1, 2], [2, 3], [4, 3])))).toEqual([0, 1, 2, 3, 2]);
});

test("minimizeCrossings removes avoidable crossings", () => {
  const graph = digraph(6, [0, 5], [1, 4], [2, 3]);
  const layers = insertBends(graph, assignRanks(graph));
  const place = (order: readonly Int32Array[]) => {
    const places = new Float64Array(layers.count);
    order.forEach((layer) => layer.forEach((node, at) => (places[node] = at)));
    return places;
  };
  expect(countCrossings(layers, layers.layers, place(layers.layers))).toBe(3);
  const order = minimizeCrossings(layers);
  expect(countCrossings(layers, order, place(order))).toBe(0);
});
