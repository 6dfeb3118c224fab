// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { type Graph, graphOf } from "../src/model/graph";
import { collapse, fullTitle, type GroupItem } from "../src/model/groups";
import { dataset, job } from "./samples";

const NONE = { open: new Set<string>(), closed: new Set<string>() };

function lake(tables: number): Graph {
  return graphOf({
    jobs: [job("one", [0], [1])],
    datasets: Array.from({ length: tables }, (_, at) => dataset(`area${at % 3}/table${at}`)),
  });
}

const titles = (items: readonly GroupItem[]) => items.map((item) => (item.group ? fullTitle(item.group) : "node")).sort();

describe("collapse", () => {
  test("does not group within the budget", () => {
    const { items } = collapse(lake(20).nodes, { budget: 50, ...NONE });
    expect(items).toHaveLength(21);
    expect(items.every(({ group }) => group === undefined)).toBe(true);
  });

  test("groups by system beyond the budget, and divides large groups by name", () => {
    const { items, opened } = collapse(lake(300).nodes, { budget: 5, ...NONE });
    expect(titles(items)).toEqual(["area0 (s3://lake)", "area1 (s3://lake)", "area2 (s3://lake)", "node"]);
    expect(opened.map(({ title }) => title)).toEqual(["s3://lake"]);
  });

  test("respects groups that the user opened or closed", () => {
    const graph = lake(90);
    const open = new Set(["dataset:s3://lake", "dataset:s3://lake/area1"]);
    const { items } = collapse(graph.nodes, { budget: 1, open, closed: new Set() });
    expect(items.filter(({ group }) => group === undefined)).toHaveLength(31);
    const closed = collapse(graph.nodes, { budget: 1000, open: new Set(), closed: new Set(["dataset:s3://lake"]) });
    expect(titles(closed.items)).toEqual(["node", "s3://lake"]);
  });

  test("expands groups that the user opened inside automatically expanded groups", () => {
    const open = new Set(["dataset:s3://lake/area1"]);
    const { items } = collapse(lake(90).nodes, { budget: 6, open, closed: new Set() });
    expect(items.filter(({ group }) => group === undefined)).toHaveLength(31);
  });

  test("starts with a map of collapsed groups, however many nodes there are", () => {
    for (const tables of [500, 5_000, 50_000]) {
      const names = Array.from({ length: tables }, (_, at) => dataset(`area${at % 20}/stage${at % 7}/table${at}`));
      const jobs = Array.from({ length: tables }, (_, at) => job(`team${at % 9}.job${at}`, [at], [(at + 1) % tables]));
      const { items } = collapse(graphOf({ jobs, datasets: names }).nodes, { budget: 80, ...NONE });
      expect(items.length).toBeGreaterThan(8);
      expect(items.length).toBeLessThanOrEqual(24);
      expect(items.every(({ group }) => group !== undefined)).toBe(true);
    }
  });

  test("groups by owner or tag, and keeps nodes without one together", () => {
    const datasets = [
      dataset("a", { owners: ["team-a"], tags: ["gold"] }),
      dataset("b", { owners: ["team-a"] }),
      dataset("c", { owners: ["team-b"], tags: ["gold"] }),
      dataset("d"),
      dataset("e"),
    ];
    const { nodes } = graphOf({ jobs: [job("one", [0], [1], { owners: ["team-a"] })], datasets });
    const byOwner = collapse(nodes, { budget: 2, by: "owner", ...NONE });
    expect(titles(byOwner.items)).toEqual(["node", "team-a", "without owner"]);
    expect(byOwner.items.find(({ group }) => group?.title === "team-a")?.group?.kind).toBe("mixed");
    const byTag = collapse(nodes, { budget: 2, by: "tag", ...NONE });
    expect(titles(byTag.items)).toEqual(["gold", "without tag"]);
  });

  test("leaves the rest of the map as it is when a group is expanded", () => {
    const names = Array.from({ length: 500 }, (_, at) => dataset(`area${at % 9}/table${at}`, { namespace: `s3://${at % 4}` }));
    const { nodes } = graphOf({ jobs: [], datasets: names });
    const ids = (open: string[]) => collapse(nodes, { budget: 80, open: new Set(open), closed: new Set() }).items.map(({ group }) => group?.id);
    const before = ids([]).filter((id) => id !== undefined);
    const [first, ...others] = before;
    expect(ids([first])).toEqual(expect.arrayContaining(others));
    expect(ids([first])).not.toContain(first);
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
