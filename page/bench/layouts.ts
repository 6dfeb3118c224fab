// SPDX-License-Identifier: Apache-2.0
/** `npm run bench`: the page's layout beside dagre and elkjs on the same graphs; one line of JSON each. */
import { Graph, layout as dagre } from "@dagrejs/dagre";
import Elk from "elkjs/lib/elk.bundled.js";
import type { Digraph } from "../src/layout/graph";
import { layOut } from "../src/layout/layout";
import { SIZES } from "../src/layout/sizes";
import { pipeline } from "./graphs";

const LIMIT = Number(process.env.LIMIT_SECONDS ?? 60);

interface Points {
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
}

const ENGINES: Record<string, (graph: Digraph) => Promise<Points> | Points> = {
  own: (graph) => layOut(graph, SIZES),
  dagre: byDagre,
  elkjs: byElk,
};

function byDagre(graph: Digraph): Points {
  const g = new Graph().setGraph({ rankdir: "LR", nodesep: SIZES.rowGap, ranksep: SIZES.columnGap });
  g.setDefaultEdgeLabel(() => ({}));
  for (let node = 0; node < graph.count; node++) g.setNode(String(node), { width: SIZES.width, height: SIZES.height });
  graph.from.forEach((from, edge) => g.setEdge(String(from), String(graph.to[edge])));
  dagre(g);
  const nodes = Array.from({ length: graph.count }, (_, node) => g.node(String(node)) as { x: number; y: number });
  return { x: nodes.map((node) => node.x), y: nodes.map((node) => node.y) };
}

async function byElk(graph: Digraph): Promise<Points> {
  const made = await new Elk().layout({
    id: "root",
    layoutOptions: { "elk.algorithm": "layered", "elk.direction": "RIGHT" },
    children: Array.from({ length: graph.count }, (_, node) => ({
      id: String(node),
      width: SIZES.width,
      height: SIZES.height,
    })),
    edges: Array.from(graph.from, (from, edge) => ({
      id: `e${edge}`,
      sources: [String(from)],
      targets: [String(graph.to[edge])],
    })),
  });
  const nodes = made.children ?? [];
  return { x: nodes.map((node) => node.x ?? 0), y: nodes.map((node) => node.y ?? 0) };
}

/** Mean length of the straight lines between connected nodes, in widths of a node: how far the eye has to go. */
function meanLength(graph: Digraph, { x, y }: Points): number {
  let sum = 0;
  graph.from.forEach((from, edge) => (sum += Math.hypot(x[from] - x[graph.to[edge]], y[from] - y[graph.to[edge]])));
  return sum / graph.from.length / SIZES.width;
}

const GRAPHS: [number, number][] = [
  [100, 1.5],
  [406, 11],
  [1000, 1.5],
  [4000, 1.5],
  [10000, 1.5],
];

for (const name of (process.env.ENGINES ?? Object.keys(ENGINES).join()).split(",")) {
  // Where a graph took too long, those with as many edges are left out.
  let most = Infinity;
  for (const [count, reads] of GRAPHS) {
    const graph = pipeline(count, reads);
    if (graph.from.length >= most) continue;
    const began = performance.now();
    const points = await ENGINES[name](graph);
    const seconds = (performance.now() - began) / 1000;
    const length = meanLength(graph, points);
    console.log(JSON.stringify({ engine: name, nodes: count, edges: graph.from.length, seconds, length }));
    if (seconds > LIMIT) most = Math.min(most, graph.from.length);
  }
}
