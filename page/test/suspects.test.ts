// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { graphOf } from "../src/model/graph";
import { collapse } from "../src/model/groups";
import { suspectDatasets } from "../src/model/suspects";
import { graphDiagram } from "../src/view/diagram";
import { dataset, job } from "./samples";

const FAILED = [{ namespace: "s3://lake", name: "orders", assertion: "unique", column: "id" }];

/** raw -> load -> orders -> sum -> totals -> show -> tile; stats reads raw only; tests reads orders. */
function graphWith(failedChecks: typeof FAILED) {
  return graphOf({
    jobs: [
      job("load", [0], [1]),
      job("sum", [1], [2]),
      job("show", [2], [3]),
      job("stats", [0], [4]),
      job("tests", [1], [], { failedChecks }),
    ],
    datasets: ["raw", "orders", "totals", "tile", "stats"].map((name) => dataset(name)),
  });
}

describe("suspect datasets", () => {
  const active = new Uint8Array(10);
  const id = (name: string) => `dataset:s3://lake:${name}`;

  test("are those with failed checks and all downstream of them, each with its cause", () => {
    expect([...suspectDatasets(graphWith(FAILED), active)]).toEqual([
      [id("orders"), id("orders")],
      [id("totals"), id("orders")],
      [id("tile"), id("orders")],
    ]);
  });

  test("are none once the checks pass", () => {
    expect(suspectDatasets(graphWith([]), active).size).toBe(0);
  });

  test("are not made by checks of a job that is over", () => {
    const over = new Uint8Array(10);
    over[4] = 1;
    expect(suspectDatasets(graphWith(FAILED), over).size).toBe(0);
  });

  test("have the nearest cause, also in a cycle", () => {
    const both = [...FAILED, { ...FAILED[0], name: "totals" }];
    const found = suspectDatasets(graphWith(both), active);
    expect(found.get(id("tile"))).toBe(id("totals"));
    const cycle = graphOf({
      jobs: [job("forth", [0], [1], { failedChecks: FAILED }), job("back", [1], [0])],
      datasets: [dataset("orders"), dataset("copy")],
    });
    expect([...suspectDatasets(cycle, active).keys()]).toEqual([id("orders"), id("copy")]);
  });

  test("ignore checks of datasets that the graph does not have", () => {
    expect(suspectDatasets(graphWith([{ ...FAILED[0], name: "elsewhere" }]), active).size).toBe(0);
  });

  test("are marked on their cards, and counted on groups", () => {
    const graph = graphWith(FAILED);
    const suspects = suspectDatasets(graph, active);
    const whole = collapse(graph.nodes, { budget: 100, open: new Set(), closed: new Set() });
    const cards = graphDiagram(graph, whole, () => "none", null, active, suspects).cards;
    expect(cards.filter(({ suspect }) => suspect).map(({ title }) => title)).toEqual(["orders", "totals", "tile"]);
    expect(cards.find(({ title }) => title === "tile")?.label).toMatch(/, suspect$/);
    const closed = collapse(graph.nodes, { budget: 3, open: new Set(), closed: new Set() });
    const group = graphDiagram(graph, closed, () => "none", null, active, suspects).cards.find(({ suspect }) => suspect);
    expect(group?.subtitle).toContain("3 suspect");
  });
});
