// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { schemaAlerts, type SchemaBreaksResponse } from "../src/model/alerts";
import { causeSince, causeSubject } from "../src/model/cause";
import { graphOf } from "../src/model/graph";
import { dataset, job } from "./samples";

const BEFORE = "2026-03-01T08:00:00Z";
const CHANGED = "2026-03-01T09:00:00Z";
const AFTER = "2026-03-01T10:00:00Z";
const NEXT_MONTH = "2026-04-01T10:00:00Z";

describe("subject of a search for a cause", () => {
  const graph = graphOf({
    jobs: [job("writer", [0], [1]), job("reader", [1], []), job("idle", [], [])],
    datasets: [dataset("in"), dataset("out")],
  });
  const subjectOf = (name: string) => {
    const at = causeSubject(graph, graph.nodes.findIndex((node) => node.name === name));
    return graph.nodes[at]?.name;
  };

  test("is the dataset, what a job writes, or else reads", () => {
    expect(["in", "writer", "reader", "idle", "unknown"].map(subjectOf)).toEqual(["in", "out", "out", undefined, undefined]);
  });

  test("is searched from a day before the problem", () => {
    expect(causeSince(CHANGED, 0)).toBe("2026-02-28T09:00:00.000Z");
    expect(causeSince(null, Date.parse(AFTER))).toBe("2026-02-28T10:00:00.000Z");
  });
});

describe("alerts of schema changes", () => {
  const broken = (more: Partial<SchemaBreaksResponse["breaks"][number]> = {}): SchemaBreaksResponse => ({
    breaks: [{ namespace: "s3://lake", name: "orders", since: CHANGED, removed: ["price"], retyped: [], ...more }],
  });
  const alertsFor = (readers: Parameters<typeof job>[3][], found: SchemaBreaksResponse | null = broken(), over: number[] = []) => {
    const graph = graphOf({
      jobs: [job("writer", [], [0], { updatedAt: AFTER }), ...readers.map((more, at) => job(`reader${at}`, [0], [1], more))],
      datasets: [dataset("orders"), dataset("stats")],
    });
    const inactive = Uint8Array.from(graph.nodes, (_, at) => (over.includes(at) ? 1 : 0));
    return schemaAlerts(graph, inactive, ({ state }) => state, found).map(({ level, text }) => `${level}: ${text}`);
  };
  const waiting = ["warning: orders: price removed; not run with it yet: reader0"];

  test("wait for readers that have not run since", () => {
    expect(alertsFor([{ state: "COMPLETED", startedAt: BEFORE }])).toEqual(waiting);
    expect(alertsFor([{ state: "RUNNING", startedAt: BEFORE }])).toEqual(waiting);
    expect(alertsFor([{ state: "RUNNING", startedAt: AFTER }])).toEqual([]);
    expect(alertsFor([{ state: "COMPLETED", startedAt: AFTER }])).toEqual([]);
  });

  test("are errors if a reader failed since", () => {
    const failed = { state: "FAILED", startedAt: AFTER, endedAt: AFTER };
    expect(alertsFor([{ state: "COMPLETED", startedAt: AFTER }, failed])).toEqual([
      "error: orders: price removed; not run with it yet: reader1",
    ]);
    expect(alertsFor([{ ...failed, startedAt: BEFORE, endedAt: BEFORE }])).toEqual(waiting);
  });

  test("name what changed, as far as it fits", () => {
    const retyped = ["a", "b", "c", "d"].map((column) => ({ column, before: "int", after: "text" }));
    expect(alertsFor([{ startedAt: BEFORE }], broken({ retyped }))).toEqual([
      "warning: orders: price removed, type of a, b, c and 1 more changed; not run with it yet: reader0",
    ]);
  });

  test("are raised by no dataset without readers, that is over, unknown, or changed long ago", () => {
    expect(alertsFor([])).toEqual([]);
    expect(alertsFor([{ startedAt: BEFORE }], null)).toEqual([]);
    expect(alertsFor([{ startedAt: BEFORE }], broken({ name: "unknown" }))).toEqual([]);
    expect(alertsFor([{ startedAt: BEFORE, updatedAt: NEXT_MONTH }])).toEqual([]);
    expect(alertsFor([{ startedAt: BEFORE }], broken(), [0, 1, 2, 3])).toEqual([]);
  });
});
