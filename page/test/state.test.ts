// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { presumedState, stillPresumed, Throttle } from "../src/state/liveEvents";
import { formatRoute, HOME, parseRoute } from "../src/state/route";
import { fit, placed, revealed, toPicture, toView, zoomed } from "../src/view/viewport";
import { Engine } from "../src/worker/graphWorker";
import { column, exported, identity, SHOP } from "./samples";

describe("routes", () => {
  test("come back from their links as they were", () => {
    const route = {
      ...HOME,
      view: "columns" as const,
      node: "dataset:s3://lake:a b&c",
      field: "é#1",
      open: ["x", "y"],
      budget: 100,
      only: true,
      at: "2026-01-01T00:00:00.000Z",
    };
    expect(parseRoute(formatRoute(route))).toEqual(route);
    expect(formatRoute(HOME)).toBe("");
  });

  test("bear what people type", () => {
    expect(parseRoute("?view=nothing&node=javascript:alert(1)&budget=-1&at=yesterday&direction=sideways")).toEqual(
      HOME,
    );
  });
});

test("an event presumes a state of its job, and nothing else does", () => {
  const change = { kind: "run", eventTime: "", job: { namespace: "n", name: "j" } };
  expect(presumedState({ ...change, eventType: "ABORT" })).toEqual({ id: "job:n:j", state: "aborted" });
  expect(presumedState({ ...change, eventType: "OTHER" })).toBeUndefined();
  expect(presumedState({ kind: "dataset", eventTime: "", eventType: "START" })).toBeUndefined();
});

test("what was heard after the service was asked is presumed until it is asked again", () => {
  const presumed = new Map([["job:n:before", "running" as const], ["job:n:after", "running" as const]]);
  const heard = new Map([["job:n:before", 99], ["job:n:after", 100]]);
  expect([...stillPresumed(presumed, heard, 100)]).toEqual([["job:n:after", "running"]]);
});

test("a throttle reads at once, once more for all that came meanwhile, and rests in proportion", async () => {
  let clock = 0;
  let reads = 0;
  const waits: number[] = [];
  const throttle: Throttle = new Throttle(
    async () => {
      clock += 1000;
      if (++reads === 1) for (let at = 0; at < 5; at++) void throttle.tell();
    },
    async (milliseconds) => void waits.push(milliseconds),
    () => clock,
  );
  await throttle.tell();
  expect(reads).toBe(2);
  expect(waits).toEqual([4000, 4000]);
});

describe("viewport", () => {
  const view = { width: 800, height: 600 };

  test("fits a picture into the view, and never magnifies it", () => {
    const all = fit({ width: 8000, height: 100 }, view);
    expect(toView(all, { x: 0, y: 50 }).x).toBeCloseTo(32);
    expect(toView(all, { x: 8000, y: 50 }).x).toBeCloseTo(768);
    expect(fit({ width: 10, height: 10 }, view).scale).toBe(1);
  });

  test("zooms about the point under the mouse", () => {
    const before = { x: 5, y: 7, scale: 0.5 };
    const at = { x: 200, y: 100 };
    expect(toPicture(zoomed(before, 2, at), at)).toEqual(toPicture(before, at));
    expect(zoomed(before, 1e9, at).scale).toBe(2.5);
  });

  test("moves only as far as needed", () => {
    const still = { x: 0, y: 0, scale: 1 };
    expect(revealed(still, { x: 400, y: 300 }, view, { x: 50, y: 50 })).toBe(still);
    const moved = revealed(still, { x: 1000, y: 300 }, view, { x: 50, y: 50 });
    expect(toView(moved, { x: 1000, y: 300 })).toEqual({ x: 750, y: 300 });
    expect(toView(placed(still, { x: 9, y: 9 }, { x: 1, y: 2 }), { x: 9, y: 9 })).toEqual({ x: 1, y: 2 });
  });
});

describe("engine", () => {
  function service(answers: Record<string, unknown>) {
    const asked: string[] = [];
    const engine = new Engine(async (path) => {
      asked.push(path);
      return answers[path];
    });
    return { asked, engine };
  }

  const export_ = exported({ columns: [identity("a.x", "b.x")] });

  test("reads summaries first, and columns when they are asked for, once", async () => {
    const { asked, engine } = service({ "/api/v1/summaries": SHOP, "/api/v1/graph": export_ });
    expect((await engine.load(null))?.count).toBe(5);
    expect(engine.search("etl", 5)).toMatchObject({ hits: [{ node: "job:jobs:etl" }], partial: true });
    expect(asked).toEqual(["/api/v1/summaries"]);
    const paths = await Promise.all([engine.columnPath(column("b.x")), engine.columnPath(column("a.x"))]);
    expect(paths.map(({ nodes }) => nodes.length)).toEqual([2, 2]);
    expect(asked).toEqual(["/api/v1/summaries", "/api/v1/graph"]);
    expect(engine.search("etl", 5).partial).toBe(false);
  });

  test("hands out nodes in slices, and none of a graph that was read before", async () => {
    const { engine } = service({ "/api/v1/summaries": SHOP });
    const first = (await engine.load(null))!;
    expect(engine.nodes(first.generation, 3, 10)?.map(({ name }) => name)).toEqual(["sales/orders", "sales/stats"]);
    await engine.load(null);
    expect(engine.nodes(first.generation, 0, 1)).toBeNull();
  });

  test("shows what was asked for last, not what was answered last", async () => {
    let answerPast = (_: unknown): void => undefined;
    const past = new Promise((resolve) => (answerPast = resolve));
    const engine = new Engine((path) => (path === "/api/v1/summaries" ? Promise.resolve(SHOP) : past));
    const slow = engine.load("2026-01-01T00:00:00Z");
    const now = (await engine.load(null))!;
    answerPast(export_);
    expect(await slow).toBeNull();
    expect(engine.nodes(now.generation, 0, 10)).toHaveLength(5);
  });

  test("joins the difference to the later graph, and tells what changed about a node", async () => {
    const since = "2026-01-01T00:00:00Z";
    const gone = { kind: "dataset", namespace: "s3://lake", name: "gone" };
    const change = { kind: "removed", subject: "dataset", of: "", text: "", before: "", after: "", nodes: [gone] };
    const { asked, engine } = service({
      "/api/v1/summaries": SHOP,
      [`/api/v1/diff?from=${encodeURIComponent(since)}`]: { empty: false, counts: {}, changes: [change] },
    });
    const loaded = (await engine.load(null, since))!;
    expect(asked).toHaveLength(2);
    expect(engine.nodes(loaded.generation, 5, 10)?.map(({ name }) => name)).toEqual(["gone"]);
    expect(loaded.marks?.nodes).toEqual([...new Array(5).fill(undefined), "removed"]);
    expect(engine.changesOf("dataset:s3://lake:gone")).toEqual([change]);
    expect((await engine.load(null))?.marks).toBeNull();
    expect(engine.changesOf("dataset:s3://lake:gone")).toEqual([]);
  });

  test("reads the past from its export alone", async () => {
    const at = "2026-01-01T00:00:00Z";
    const { asked, engine } = service({ [`/api/v1/graph?asOf=${encodeURIComponent(at)}`]: export_ });
    await engine.load(at);
    expect((await engine.columnPath(column("b.x"))).nodes).toHaveLength(2);
    expect(asked).toHaveLength(1);
  });
});
