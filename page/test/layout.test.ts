// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { pipeline } from "./pipeline";
import { components, type Digraph, simplify } from "../src/layout/digraph";
import { insertBends } from "../src/layout/layeredGraph";
import { layoutGraph } from "../src/layout/layout";
import { countCrossings, minimizeCrossings } from "../src/layout/crossings";
import { packBoxes } from "../src/layout/packing";
import { removeCycles, assignRanks } from "../src/layout/ranks";
import { CARD_SIZES } from "../src/layout/sizes";
import { columnsPerLayer } from "../src/layout/wrapping";

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

describe("the shape of a layout", () => {
  /** Aspect ratio relative to the desired one: 1 fills the screen. */
  const shape = (graph: Digraph) => {
    const { x, y, width, height } = layoutGraph(graph, CARD_SIZES);
    expect(overlaps(x, y)).toBe(0);
    return width / height / CARD_SIZES.aspect;
  };
  const star = (readers: number) =>
    digraph(readers + 1, ...Array.from({ length: readers }, (_, at): [number, number] => [0, at + 1]));

  test.each([60, 300])("of a hub with %i consumers is that of the screen", (readers) => {
    expect(shape(star(readers))).toBeGreaterThan(0.5);
    expect(shape(star(readers))).toBeLessThan(2);
  });

  test("of two tall columns is that of the screen, and edges still point right", () => {
    const pairs = digraph(240, ...Array.from({ length: 240 }, (_, at): [number, number] => [at % 120, 120 + ((at * 7) % 120)]));
    expect(shape(pairs)).toBeGreaterThan(0.5);
    const { x } = layoutGraph(pairs, CARD_SIZES);
    pairs.from.forEach((from, edge) => expect(x[from]).toBeLessThan(x[pairs.to[edge]]));
  });

  test("of a chain is not changed", () => {
    const { height } = layoutGraph(digraph(3, [0, 1], [1, 2]), CARD_SIZES);
    expect(height).toBe(CARD_SIZES.height);
  });

  test("of many small components is that of the screen", () => {
    const parts = digraph(400, ...Array.from({ length: 200 }, (_, at): [number, number] => [2 * at, 2 * at + 1]));
    expect(shape(parts)).toBeGreaterThan(0.6);
    expect(shape(parts)).toBeLessThan(1.7);
  });

  test("changes little where one node is added", () => {
    const before = layoutGraph(pipeline(100, 1.5), CARD_SIZES);
    const graph = pipeline(100, 1.5);
    const more = { count: 101, from: Int32Array.from([...graph.from, 0]), to: Int32Array.from([...graph.to, 100]) };
    const after = layoutGraph(more, CARD_SIZES);
    const moved = before.x.filter((x, node) => Math.abs(x - after.x[node]) > CARD_SIZES.width);
    expect(moved.length).toBeLessThan(25);
  });
});

test("columnsPerLayer wraps the tallest layers only, and not a drawing that is wide already", () => {
  expect(columnsPerLayer([1, 1, 1], CARD_SIZES)).toEqual([1, 1, 1]);
  const [hub, consumers] = columnsPerLayer([1, 100], CARD_SIZES);
  expect(hub).toBe(1);
  expect(consumers).toBeGreaterThan(2);
});

test("packed boxes do not overlap and stay within the reported size", () => {
  const boxes = Array.from({ length: 80 }, (_, at) => ({ width: 100 + ((at * 37) % 300), height: 50 + ((at * 53) % 400) }));
  const { corners, width, height } = packBoxes(boxes, 1.6, 10);
  corners.forEach((corner, one) => {
    expect(corner.left + boxes[one].width).toBeLessThanOrEqual(width);
    expect(corner.top + boxes[one].height).toBeLessThanOrEqual(height);
    for (let other = 0; other < one; other++) {
      const apart =
        corner.left >= corners[other].left + boxes[other].width ||
        corners[other].left >= corner.left + boxes[one].width ||
        corner.top >= corners[other].top + boxes[other].height ||
        corners[other].top >= corner.top + boxes[one].height;
      expect(apart).toBe(true);
    }
  });
});

test("a graph with many cycles becomes a grid of the desired shape, along its main direction", () => {
  const count = 24;
  const edges = Array.from({ length: count }, (_, from) =>
    [1, 2, 5, -3].map((step): [number, number] => [from, (from + step + count) % count]),
  ).flat();
  const { x, y, width, height } = layoutGraph(digraph(count, ...edges), CARD_SIZES);
  expect(overlaps(x, y)).toBe(0);
  expect(width / height / CARD_SIZES.aspect).toBeGreaterThan(0.6);
  expect(width / height / CARD_SIZES.aspect).toBeLessThan(1.7);
  const flow = layoutGraph(digraph(4, [0, 1], [1, 2], [2, 3], [2, 1], [3, 2], [0, 2]), { ...CARD_SIZES, aspect: 20 });
  expect([...flow.x].sort((a, b) => a - b)).toEqual([...flow.x]);
});
