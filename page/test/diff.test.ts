// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import {
  type Change,
  changedPlaces,
  compared,
  counted,
  type DifferenceAnswer,
  joint,
  keptMarks,
  type Mark,
} from "../src/model/diff";
import { graphOf, withoutIdleJobs } from "../src/model/graph";
import { collapse } from "../src/model/groups";
import { graphPicture } from "../src/view/diagram";
import { SHOP } from "./samples";

const ETL = { kind: "job", namespace: "jobs", name: "etl" } as const;
const REPORT = { ...ETL, name: "report" };
const TOPIC = { kind: "dataset", namespace: "kafka://kafka:9092", name: "orders" } as const;
const ORDERS = { kind: "dataset", namespace: "s3://lake", name: "sales/orders" } as const;
const GONE = { kind: "dataset", namespace: "s3://lake", name: "sales/gone" } as const;

/** etl: orders -> sales/orders; report: sales/orders -> sales/stats. */
const GRAPH = withoutIdleJobs(graphOf(SHOP));

function change(kind: Mark, subject: string, ...nodes: Change["nodes"]): Change {
  return { kind, subject, of: "", text: subject, before: "", after: "", nodes };
}

function difference(...changes: Change[]): DifferenceAnswer {
  return { empty: changes.length === 0, counts: {}, changes };
}

/** Marks by the names of nodes, and by the names of an edge's ends. */
function named(...changes: Change[]) {
  const { graph, marks } = compared(GRAPH, difference(...changes));
  const name = (at: number) => graph.nodes[at].name;
  return {
    nodes: Object.fromEntries(marks.nodes.flatMap((mark, at) => (mark ? [[name(at), mark]] : []))),
    edges: Object.fromEntries(
      marks.edges.flatMap((mark, at) => (mark ? [[`${name(graph.from[at])} > ${name(graph.to[at])}`, mark]] : [])),
    ),
  };
}

describe("the difference in the graph", () => {
  test("leaves an equal graph as it is", () => {
    const { graph, marks } = compared(GRAPH, difference());
    expect(graph).toEqual(GRAPH);
    expect([...marks.nodes, ...marks.edges].filter(Boolean)).toEqual([]);
  });

  test("marks what is new, and what has other columns", () => {
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

  test("a new dataset is new, whatever became of its columns", () => {
    expect(named(change("added", "dataset", ORDERS), change("added", "column", ORDERS)).nodes).toEqual({
      "sales/orders": "added",
    });
  });

  test("keeps what was removed, behind what is there", () => {
    const removed = [change("removed", "dataset", GONE), change("removed", "edge", ETL, GONE)];
    const { graph } = compared(GRAPH, difference(...removed));
    expect(graph.nodes.slice(0, GRAPH.nodes.length)).toEqual(GRAPH.nodes);
    expect(graph.nodes.slice(GRAPH.nodes.length).map(({ id, engine }) => [id, engine])).toEqual([
      ["dataset:s3://lake:sales/gone", "s3"],
    ]);
    expect(named(...removed)).toEqual({
      nodes: { "sales/gone": "removed" },
      edges: { "etl > sales/gone": "removed" },
    });
  });

  test("a job that moved no data is not drawn because it went", () => {
    const idle = { ...ETL, name: "idle" };
    expect(compared(GRAPH, difference(change("removed", "job", idle))).graph.nodes).toHaveLength(GRAPH.nodes.length);
  });

  test("of a part has the marks of that part", () => {
    const changes = [change("changed", "job", REPORT), change("added", "edge", ORDERS, REPORT)];
    const { graph, marks } = compared(GRAPH, difference(...changes));
    const kept = graph.nodes.map(({ name }) => name !== "etl" && name !== "orders");
    const part = keptMarks(marks, graph, kept);
    expect(part.nodes).toEqual(["changed", undefined, undefined]);
    expect(part.edges.filter(Boolean)).toEqual(["added"]);
  });

  test("leads to every node that changed, and to jobs over whose edges something else passes", () => {
    const { graph, marks } = compared(
      GRAPH,
      difference(change("added", "column", ORDERS), change("changed", "column edge", TOPIC, ETL, ORDERS)),
    );
    expect(changedPlaces(graph, marks).map((at) => graph.nodes[at].name)).toEqual(["etl", "sales/orders"]);
  });

  test("counts what is drawn as one", () => {
    expect(joint(["added", "added"])).toBe("added");
    expect(joint(["added", undefined])).toBe("changed");
    expect(joint([undefined, undefined])).toBeUndefined();
    expect(counted(["changed", "added", undefined, "added"])).toEqual([
      ["added", 2],
      ["changed", 1],
    ]);
  });
});

describe("the picture of a difference", () => {
  const { graph, marks } = compared(
    GRAPH,
    difference(change("removed", "dataset", GONE), change("removed", "edge", ETL, GONE), change("changed", "job", ETL)),
  );

  test("marks cards and lines, and says so to a screen reader", () => {
    const whole = collapse(graph.nodes, { budget: 100, open: new Set(), closed: new Set() });
    const picture = graphPicture(graph, whole, () => "none", marks);
    expect(picture.cards.filter(({ mark }) => mark).map(({ title, mark }) => [title, mark])).toEqual([
      ["etl", "changed"],
      ["sales/gone", "removed"],
    ]);
    expect(picture.cards.at(-1)?.label).toMatch(/removed$/);
    expect(picture.lines.flatMap(({ mark }) => mark ?? [])).toEqual(["removed"]);
  });

  test("says of groups how much changed in them", () => {
    const closed = collapse(graph.nodes, { budget: 1, open: new Set(), closed: new Set() });
    const { cards, lines } = graphPicture(graph, closed, () => "none", marks);
    const lake = cards.find(({ title }) => title === "s3://lake")!;
    expect(lake).toMatchObject({ shape: "group", mark: "changed", subtitle: "3 datasets · −1" });
    expect(lake.label).toContain("1 removed");
    const toLake = lines.filter(({ to }) => cards[to] === lake).map(({ mark }) => mark);
    expect(toLake).toContain("changed");
  });
});
