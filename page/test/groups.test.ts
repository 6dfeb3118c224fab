// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { type Graph, graphOf } from "../src/model/graph";
import { collapse, type GroupItem } from "../src/model/groups";
import { dataset, job } from "./samples";

const NONE = { open: new Set<string>(), closed: new Set<string>() };

function lake(tables: number): Graph {
  return graphOf({
    jobs: [job("one", [0], [1])],
    datasets: Array.from({ length: tables }, (_, at) => dataset(`area${at % 3}/table${at}`)),
  });
}

const titles = (items: readonly GroupItem[]) => items.map((item) => item.group?.title ?? "node").sort();

describe("collapse", () => {
  test("does not group within the budget", () => {
    const { items } = collapse(lake(20).nodes, { budget: 50, ...NONE });
    expect(items).toHaveLength(21);
    expect(items.every(({ group }) => group === undefined)).toBe(true);
  });

  test("groups by system beyond the budget and expands the smallest groups first", () => {
    const { items, opened } = collapse(lake(300).nodes, { budget: 5, ...NONE });
    expect(titles(items)).toEqual(["area0 (s3://lake)", "area1 (s3://lake)", "area2 (s3://lake)", "node"]);
    expect(opened.map(({ title }) => title)).toEqual(["Spark jobs in jobs", "s3://lake"]);
  });

  test("respects groups that the user opened or closed", () => {
    const graph = lake(90);
    const open = new Set(["dataset:s3://lake", "dataset:s3://lake/area1"]);
    const { items } = collapse(graph.nodes, { budget: 1, open, closed: new Set() });
    expect(items.filter(({ group }) => group === undefined)).toHaveLength(30);
    const closed = collapse(graph.nodes, { budget: 1000, open: new Set(), closed: new Set(["dataset:s3://lake"]) });
    expect(titles(closed.items)).toEqual(["node", "s3://lake"]);
  });

  test("expands groups that the user opened inside automatically expanded groups", () => {
    const open = new Set(["dataset:s3://lake/area1"]);
    const { items } = collapse(lake(90).nodes, { budget: 6, open, closed: new Set() });
    expect(items.filter(({ group }) => group === undefined)).toHaveLength(31);
  });

  test("represents each node exactly once", () => {
    const graph = lake(1000);
    const { items, itemByNode: itemOf } = collapse(graph.nodes, { budget: 40, ...NONE });
    const members = items.flatMap((item) => item.group?.members ?? [item.node!]);
    expect([...members].sort((a, b) => a - b)).toEqual(graph.nodes.map((_, at) => at));
    items.forEach((item, at) =>
      (item.group?.members ?? [item.node!]).forEach((member) => expect(itemOf[member]).toBe(at)),
    );
  });

  test("splits names without common segments into alphabetical ranges", () => {
    const flat = graphOf({ jobs: [], datasets: Array.from({ length: 700 }, (_, at) => dataset(`t${at}`)) });
    const open = new Set(["dataset:s3://lake"]);
    const { items } = collapse(flat.nodes, { budget: 1, open, closed: new Set() });
    expect(items.length).toBeLessThanOrEqual(60);
    expect(items[0].group?.title).toMatch(/^t0 – t/);
  });

  test("handles names without segments and equal names in different namespaces", () => {
    const odd = graphOf({
      jobs: [],
      datasets: [dataset("///"), dataset("///", { namespace: "x" }), dataset("a"), dataset("a/b")],
    });
    const { items } = collapse(odd.nodes, { budget: 2, open: new Set(["dataset:s3://lake"]), closed: new Set() });
    expect(items.flatMap((item) => item.group?.members ?? [item.node!])).toHaveLength(4);
  });
});
