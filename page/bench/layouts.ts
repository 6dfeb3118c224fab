// SPDX-License-Identifier: Apache-2.0
/**
 * `npm run layouts`: the page's layout beside dagre and elkjs on the same graphs; one line of JSON each.
 *
 * Every layout is made in a process of its own, by turns, and its CPU time is told beside the time that it took: on a
 * machine that others use too, the first is what can be compared.
 */
import { spawnSync } from "node:child_process";
import { Graph, layout as dagre } from "@dagrejs/dagre";
import Elk from "elkjs/lib/elk.bundled.js";
import type { Digraph } from "../src/layout/graph";
import { layOut } from "../src/layout/layout";
import { SIZES } from "../src/layout/sizes";
import { pipeline } from "./graphs";

/** CPU seconds after which a layout is ended. */
const LIMIT = Number(process.env.LIMIT_SECONDS ?? 60);
const ROUNDS = Number(process.env.ROUNDS ?? 3);
/** What takes longer is measured once. */
const LONG = 20;

/** Nodes, and the mean number of inputs of a job; in order of their edges. */
const GRAPHS: readonly (readonly [number, number])[] = [
  [100, 1.5],
  [1000, 1.5],
  [406, 11],
  [4000, 1.5],
  [10000, 1.5],
];

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

interface Measured {
  readonly seconds: number;
  readonly cpu: number;
  readonly length: number;
}

/** One layout, in this process. */
async function measure(engine: string, nodes: number, reads: number): Promise<Measured> {
  const graph = pipeline(nodes, reads);
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  const points = await ENGINES[engine](graph);
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { seconds, cpu: (user + system) / 1e6, length: meanLength(graph, points) };
}

/** The same in a process of its own; null where the system ended it because it took longer than the limit. */
function measureApart(engine: string, nodes: number, reads: number): Measured | null {
  const words = [process.execPath, process.argv[1], engine, String(nodes), String(reads)];
  const done = spawnSync("sh", ["-c", `ulimit -t ${LIMIT} && exec "$@"`, "sh", ...words], { encoding: "utf8" });
  if (done.signal) return null;
  if (done.status !== 0) throw new Error(`${words.join(" ")}: ${done.stderr}`);
  return JSON.parse(done.stdout) as Measured;
}

function measureAll(): void {
  const most = new Map<string, number>();
  const once = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [nodes, reads] of GRAPHS) {
      const edges = pipeline(nodes, reads).from.length;
      for (const engine of Object.keys(ENGINES)) {
        // Whoever took too long is not asked about larger graphs, nor about this one again.
        if (edges >= (most.get(engine) ?? Infinity) || once.has(`${engine} ${nodes}`)) continue;
        const measured = measureApart(engine, nodes, reads);
        if (measured === null) most.set(engine, edges);
        else if (measured.cpu > LONG) once.add(`${engine} ${nodes}`);
        console.log(JSON.stringify({ engine, nodes, edges, limit: LIMIT, ...measured }));
      }
    }
  }
}

const [engine, nodes, reads] = process.argv.slice(2);
if (engine) console.log(JSON.stringify(await measure(engine, Number(nodes), Number(reads))));
else measureAll();
