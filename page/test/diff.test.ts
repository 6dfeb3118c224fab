// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import {
  type DiffChange,
  changedNodes,
  applyDiff,
  countStatuses,
  type DiffResponse,
  combinedStatus,
  filterStatuses,
  type DiffStatus,
} from "../src/model/diff";
import { graphOf, removeIdleJobs } from "../src/model/graph";
import { collapse } from "../src/model/groups";
import { graphDiagram } from "../src/view/diagram";
import { SHOP } from "./samples";

const ETL = { kind: "job", namespace: "jobs", name: "etl" } as const;
const REPORT = { ...ETL, name: "report" };
const TOPIC = { kind: "dataset", namespace: "kafka://kafka:9092", name: "orders" } as const;
const ORDERS = { kind: "dataset", namespace: "s3://lake", name: "sales/orders" } as const;
const REMOVED = { kind: "dataset", namespace: "s3://lake", name: "sales/removed" } as const;

/** etl: orders -> sales/orders; report: sales/orders -> sales/stats. */
const GRAPH = removeIdleJobs(graphOf(SHOP));

function change(kind: DiffStatus, subject: string, ...nodes: DiffChange["nodes"]): DiffChange {
  return { kind, subject, of: "", text: subject, before: "", after: "", nodes };
}

function diffOf(...changes: DiffChange[]): DiffResponse {
  return { empty: changes.length === 0, counts: {}, changes };
}

/** Statuses by node name, and by the names of both ends of an edge. */
function named(...changes: DiffChange[]) {
  const { graph, statuses } = applyDiff(GRAPH, diffOf(...changes));
  const name = (at: number) => graph.nodes[at].name;
  return {
    nodes: Object.fromEntries(statuses.nodes.flatMap((status, at) => (status ? [[name(at), status]] : []))),
    edges: Object.fromEntries(
      statuses.edges.flatMap((status, at) => (status ? [[`${name(graph.from[at])} > ${name(graph.to[at])}`, status]] : [])),
    ),
  };
}

describe("applyDiff", () => {
  test("returns the graph unchanged for an empty diff", () => {
    const { graph, statuses } = applyDiff(GRAPH, diffOf());
    expect(graph).toEqual(GRAPH);
    expect([...statuses.nodes, ...statuses.edges].filter(Boolean)).toEqual([]);
  });

  test("marks added nodes and edges, and changed columns and column edges", () => {
    expect(
      named(
        change("added", "job", REPORT),
        change("added", "edge", ORDERS, REPORT),
        change("added", "column", ORDERS),
        change("added", "column edge", TOPIC, ETL, ORDERS),
      ),
    ).toEqual({
      nodes: { report: "added", "sales/orders": "changed" },
      edges: { "sales/orders > report": "added", "orders > etl": "changed", "etl > sales/orders": "changed" },
    });
  });

  test("marks an added dataset as added, whatever its column changes", () => {
    expect(named(change("added", "dataset", ORDERS), change("added", "column", ORDERS)).nodes).toEqual({
      "sales/orders": "added",
    });
  });

  test("appends removed nodes and edges", () => {
    const removed = [change("removed", "dataset", REMOVED), change("removed", "edge", ETL, REMOVED)];
    const { graph } = applyDiff(GRAPH, diffOf(...removed));
    expect(graph.nodes.slice(0, GRAPH.nodes.length)).toEqual(GRAPH.nodes);
    expect(graph.nodes.slice(GRAPH.nodes.length).map(({ id, engine }) => [id, engine])).toEqual([
      ["dataset:s3://lake:sales/removed", "s3"],
    ]);
    expect(named(...removed)).toEqual({
      nodes: { "sales/removed": "removed" },
      edges: { "etl > sales/removed": "removed" },
    });
  });

  test("does not add a removed job without edges", () => {
    const idle = { ...ETL, name: "idle" };
    expect(applyDiff(GRAPH, diffOf(change("removed", "job", idle))).graph.nodes).toHaveLength(GRAPH.nodes.length);
  });

  test("filterStatuses keeps the statuses of a subgraph", () => {
    const changes = [change("changed", "job", REPORT), change("added", "edge", ORDERS, REPORT)];
    const { graph, statuses } = applyDiff(GRAPH, diffOf(...changes));
    const kept = graph.nodes.map(({ name }) => name !== "etl" && name !== "orders");
    const part = filterStatuses(statuses, graph, kept);
    expect(part.nodes).toEqual(["changed", undefined, undefined]);
    expect(part.edges.filter(Boolean)).toEqual(["added"]);
  });

  test("changedNodes returns changed nodes and the jobs at changed edges", () => {
    const { graph, statuses } = applyDiff(
      GRAPH,
      diffOf(change("added", "column", ORDERS), change("changed", "column edge", TOPIC, ETL, ORDERS)),
    );
    expect(changedNodes(graph, statuses).map((at) => graph.nodes[at].name)).toEqual(["etl", "sales/orders"]);
  });

  test("combines and counts statuses", () => {
    expect(combinedStatus(["added", "added"])).toBe("added");
    expect(combinedStatus(["added", undefined])).toBe("changed");
    expect(combinedStatus([undefined, undefined])).toBeUndefined();
    expect(countStatuses(["changed", "added", undefined, "added"])).toEqual([
      ["added", 2],
      ["changed", 1],
    ]);
  });
});

describe("graphDiagram of a comparison", () => {
  const { graph, statuses } = applyDiff(
    GRAPH,
    diffOf(change("removed", "dataset", REMOVED), change("removed", "edge", ETL, REMOVED), change("changed", "job", ETL)),
  );

  test("sets the diff status of cards and edges, and of their labels", () => {
    const whole = collapse(graph.nodes, { budget: 100, open: new Set(), closed: new Set() });
    const diagram = graphDiagram(graph, whole, () => "none", statuses);
    expect(diagram.cards.filter(({ diffStatus }) => diffStatus).map(({ title, diffStatus }) => [title, diffStatus])).toEqual([
      ["etl", "changed"],
      ["sales/removed", "removed"],
    ]);
    expect(diagram.cards.at(-1)?.label).toMatch(/removed$/);
    expect(diagram.edges.flatMap(({ diffStatus }) => diffStatus ?? [])).toEqual(["removed"]);
  });

  test("counts the changes in collapsed groups", () => {
    const closed = collapse(graph.nodes, { budget: 1, open: new Set(), closed: new Set() });
    const { cards, edges } = graphDiagram(graph, closed, () => "none", statuses);
    const lake = cards.find(({ title }) => title === "s3://lake")!;
    expect(lake).toMatchObject({ shape: "group", diffStatus: "changed", subtitle: "3 datasets · −1" });
    expect(lake.label).toContain("1 removed");
    const toLake = edges.filter(({ to }) => cards[to] === lake).map(({ diffStatus }) => diffStatus);
    expect(toLake).toContain("changed");
  });
});
