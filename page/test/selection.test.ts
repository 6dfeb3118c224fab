// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import type { ColumnPath, PathNode } from "../src/model/columnPath";
import { alertKey, alerts, alertsByKind, jobAlerts } from "../src/model/alerts";
import { foldIndirect } from "../src/model/foldIndirect";
import { type Graph, graphOf } from "../src/model/graph";
import { inactiveNodes } from "../src/model/inactive";
import { selectGraph } from "../src/model/selection";
import { suggestDatasets, suggestNodes } from "../src/model/suggestions";
import { dataset, job } from "./samples";

const NOW = "2026-03-01T12:00:00Z";
const MINUTES_AGO = "2026-03-01T11:50:00Z";
const MORNING = "2026-03-01T08:00:00Z";
const LAST_MONTH = "2026-02-01T12:00:00Z";
const RUNNING = { processing: "STREAMING", state: "RUNNING", updatedAt: NOW };
const STOPPED = { processing: "STREAMING", state: "ABORTED", endedAt: MORNING, updatedAt: MORNING };

/** Names of the nodes that are over. */
function overIn(graph: Graph): string[] {
  const inactive = inactiveNodes(graph);
  return graph.nodes.filter((_, at) => inactive[at] === 1).map(({ name }) => name);
}

describe("inactive nodes", () => {
  test("are streaming jobs that ended long ago, and what only they use", () => {
    const graph = graphOf({
      jobs: [
        job("live", [0], [1], RUNNING),
        job("deleted", [1], [2], STOPPED),
        job("stopped just now", [1], [3], { ...STOPPED, endedAt: MINUTES_AGO, updatedAt: MINUTES_AGO }),
      ],
      datasets: ["in", "middle", "left over", "fresh"].map((name) => dataset(name, { updatedAt: MORNING })),
    });
    expect(overIn(graph)).toEqual(["deleted", "left over"]);
  });

  test("are batch jobs and failed jobs that have been silent for a week, not a day", () => {
    const graph = graphOf({
      jobs: [
        job("nightly", [], [0], { updatedAt: MORNING }),
        job("abandoned", [], [1], { updatedAt: LAST_MONTH }),
        job("failed", [], [2], { state: "FAILED", updatedAt: MORNING }),
        job("failed long ago", [], [3], { state: "FAILED", updatedAt: LAST_MONTH }),
        job("live", [0], [0], RUNNING),
      ],
      datasets: ["a", "b", "c", "d"].map((name) => dataset(name, { updatedAt: LAST_MONTH })),
    });
    expect(overIn(graph)).toEqual(["abandoned", "failed long ago", "b", "d"]);
  });

  test("are none in a lab that was stopped as a whole, in a past graph, and without jobs", () => {
    const stopped = graphOf({ jobs: [job("etl", [], [0], STOPPED)], datasets: [dataset("a", { updatedAt: MORNING })] });
    expect(overIn(stopped)).toEqual([]);
    const timeless = { updatedAt: null };
    expect(overIn(graphOf({ jobs: [job("etl", [], [0], timeless)], datasets: [dataset("a", timeless)] }))).toEqual([]);
  });
});

describe("selection", () => {
  const chain = graphOf({
    jobs: [job("one", [0], [1], RUNNING), job("two", [1], [2], RUNNING), job("over", [2], [3], STOPPED)],
    datasets: ["a", "b", "c", "d"].map((name) => dataset(name, { updatedAt: MORNING })),
  });
  const indexOf = (name: string) => chain.nodes.findIndex((node) => node.name === name);
  const select = (more: object) => {
    const choice = { node: -1, only: false, hops: 0, inactive: false, ...more };
    return selectGraph(chain, null, inactiveNodes(chain), choice);
  };
  const names = ({ graph }: { graph: Graph }) => graph.nodes.map(({ name }) => name).sort();

  test("hides what is over, and says how much", () => {
    const found = select({});
    expect(names(found)).toEqual(["a", "b", "c", "one", "two"]);
    expect(found.hidden).toBe(2);
    expect(select({ inactive: true })).toMatchObject({ graph: chain, hidden: 0 });
  });

  test("draws a selected node that is over", () => {
    expect(names(select({ node: indexOf("over") }))).toContain("over");
  });

  test("draws everything in a comparison", () => {
    const statuses = { nodes: chain.nodes.map(() => undefined), edges: Array.from(chain.from, () => undefined) };
    const choice = { node: -1, only: false, hops: 0, inactive: false };
    expect(selectGraph(chain, statuses, inactiveNodes(chain), choice).graph).toBe(chain);
  });

  test("limits the graph to a neighborhood, in both directions", () => {
    expect(names(select({ node: indexOf("b"), hops: 1 }))).toEqual(["b", "one", "two"]);
    expect(names(select({ node: indexOf("b"), hops: 2 }))).toEqual(["a", "b", "c", "one", "two"]);
  });

  test("limits the graph to the lineage of a node", () => {
    expect(names(select({ node: indexOf("one"), only: true, inactive: true }))).toHaveLength(7);
    expect(names(select({ node: indexOf("two"), only: true, hops: 1 }))).toEqual(["a", "b", "c", "one", "two"]);
  });
});

describe("suggestions", () => {
  const graph = graphOf({
    jobs: [
      job("failed first", [0], [1], { state: "FAILED", updatedAt: MORNING }),
      job("failed last", [0], [2], { state: "FAILED", updatedAt: NOW }),
      job("fine", [0], [1]),
    ],
    datasets: ["hub", "b", "c", "unused"].map((name) => dataset(name)),
  });
  const idOf = (name: string) => graph.nodes.find((node) => node.name === name)!.id;
  const sources = { favorites: [idOf("c"), "dataset:gone"], recent: [idOf("fine"), idOf("c")] };

  test("are favorites, recent nodes and failed jobs, each once", () => {
    const found = suggestNodes(graph, { ...sources, stateOf: (node) => node.state }, 10);
    expect(found.map(({ node, reason }) => `${node.name}: ${reason}`)).toEqual([
      "c: favorite",
      "fine: recent",
      "failed last: failed",
      "failed first: failed",
    ]);
  });

  test("for a dataset are datasets only, the most used ones last", () => {
    const found = suggestDatasets(graph, sources, 10);
    expect(found.map(({ node }) => node.name)).toEqual(["c", "hub", "b"]);
  });
});

describe("alerts", () => {
  const states = [
    job("stopped", [], [0], { ...STOPPED, endedAt: NOW, updatedAt: NOW }),
    job("lost", [], [0], { ...STOPPED, endedAt: NOW, updatedAt: NOW, endedBecause: "the job started again" }),
    job("deleted", [], [0], { ...STOPPED, endedBecause: "its application app ended" }),
    job("failed", [], [1], { state: "FAILED", endedAt: MORNING, updatedAt: MORNING }),
    job("failed upstream", [], [0], { state: "FAILED", endedAt: MORNING, updatedAt: MORNING }),
    job("reader", [0], [1], { ...RUNNING, stale: true }),
    job("failed last month", [], [1], { state: "FAILED", endedAt: LAST_MONTH, updatedAt: LAST_MONTH }),
  ];
  const graph = graphOf({ jobs: states, datasets: [dataset("a"), dataset("b")] });
  const found = alerts({ nodes: jobAlerts(graph, inactiveNodes(graph), ({ state }) => state), lab: null, stats: null, contract: null });

  test("are raised by failures, silence and lost runs, not by a stop or by what is over; the widest first", () => {
    expect(found.map(({ text, affected }) => `${text} (${affected})`)).toEqual([
      "failed upstream failed (3)",
      "reader is running but sends no events (1)",
      "failed failed (1)",
      "lost: the job started again (3)",
    ]);
    expect(found.map(({ level }) => level)).toEqual(["error", "error", "error", "warning"]);
  });

  test("are raised by failed checks, one for each dataset", () => {
    const failed = (name: string, assertion: string, column: string | null) => ({ namespace: "s3://lake", name, assertion, column });
    const checks = [failed("a", "not_null", "price"), failed("a", "row_count", null), failed("b", "unique", "id")];
    const checked = graphOf({
      jobs: [job("checker", [0, 1], [], { failedChecks: checks, endedAt: NOW }), job("etl", [0], [1])],
      datasets: [dataset("a"), dataset("b")],
    });
    const raised = jobAlerts(checked, inactiveNodes(checked), ({ state }) => state);
    expect(raised.map(({ kind, node, text, affected }) => [kind, node, text, affected])).toEqual([
      ["quality", "dataset:s3://lake:a", "a: not_null of price, row_count (checker)", 3],
      ["quality", "dataset:s3://lake:b", "b: unique of id (checker)", 1],
    ]);
  });

  test("are grouped by kind", () => {
    expect(alertsByKind(found).map(([kind, { length }]) => [kind, length])).toEqual([
      ["failed", 2],
      ["stale", 1],
      ["lost", 1],
    ]);
  });

  test("have another key if the problem occurs again", () => {
    const again = { ...found[0], since: NOW };
    expect(alertKey(again)).not.toBe(alertKey(found[0]));
    expect(alertKey({ ...found[0] })).toBe(alertKey(found[0]));
  });
});

describe("folding of indirect edges", () => {
  const etl = { namespace: "jobs", name: "etl" };
  const node = (name: string, field: string, distance: number): PathNode => ({
    ...{ namespace: "s3://lake", name, field, type: null, distance },
    id: `${name}.${field}`,
  });
  const edge = (from: number, to: number, direct: boolean) => ({
    ...{ from, to, direct, job: etl, masking: false },
    kinds: [direct ? "IDENTITY" : "FILTER"],
  });
  /** `total` from `price`, filtered by three columns, one of which is derived from a fourth. */
  const path: ColumnPath = {
    nodes: [
      node("stats", "total", 0),
      node("orders", "price", -1),
      ...["a", "b", "c"].map((field) => node("orders", field, -1)),
      node("raw", "a", -2),
    ],
    edges: [edge(1, 0, true), edge(2, 0, false), edge(3, 0, false), edge(4, 0, false), edge(5, 2, true)],
    truncated: false,
  };

  test("leaves direct edges, and one edge for all columns of a dataset", () => {
    const { nodes, edges } = foldIndirect(path, new Set());
    expect(nodes.map(({ field, columns }) => field ?? columns)).toEqual(["total", "price", 3]);
    expect(edges.map(({ from, to, direct }) => [from, to, direct])).toEqual([
      [1, 0, true],
      [2, 0, false],
    ]);
  });

  test("leaves an opened fold as it is", () => {
    const [{ id }] = foldIndirect(path, new Set()).nodes.slice(-1);
    expect(foldIndirect(path, new Set([id]))).toEqual({ nodes: path.nodes, edges: path.edges });
  });

  test("leaves a single indirect edge as it is", () => {
    const single = { ...path, edges: path.edges.slice(0, 2), nodes: path.nodes.slice(0, 3) };
    expect(foldIndirect(single, new Set())).toEqual({ nodes: single.nodes, edges: single.edges });
  });

  test("folds the columns that a column influences downstream", () => {
    const down = {
      nodes: [node("orders", "status", 0), node("stats", "x", 1), node("stats", "y", 1)],
      edges: [edge(0, 1, false), edge(0, 2, false)],
      truncated: false,
    };
    const { nodes, edges } = foldIndirect(down, new Set());
    expect(nodes.map(({ columns }) => columns)).toEqual([undefined, 2]);
    expect(edges.map(({ from, to }) => [from, to])).toEqual([[0, 1]]);
  });

  test("keeps a column that also has a direct edge", () => {
    const both = { ...path, edges: [...path.edges, edge(2, 0, true)] };
    const { nodes } = foldIndirect(both, new Set());
    expect(nodes.map(({ field, columns }) => field ?? columns)).toEqual(["total", "price", "a", "a", 3]);
  });
});
