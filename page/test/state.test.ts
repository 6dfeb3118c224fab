// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { provisionalState, unconfirmedStates } from "../src/state/liveEvents";
import { ResourceRequests } from "../src/state/resourceRequests";
import { Throttle } from "../src/state/throttle";
import { formatRoute, HOME, parseRoute } from "../src/state/route";
import { fitToView, alignPoint, MAX_SCALE, scrollIntoView, toDiagram, toView, zoomAt } from "../src/view/viewport";
import { TOO_LARGE } from "../src/api";
import { MAX_EXPORTED_NODES } from "../src/model/graph";
import { GraphWorker } from "../src/worker/graphWorker";
import { column, exported, identity, SHOP } from "./samples";

describe("routes", () => {
  test("survive formatting and parsing", () => {
    const route = {
      ...HOME,
      view: "columns" as const,
      node: "dataset:s3://lake:a b&c",
      field: "é#1",
      open: ["x", "y"],
      budget: 100,
      only: true,
      hops: 3,
      inactive: true,
      by: "owner" as const,
      at: "2026-01-01T00:00:00.000Z",
    };
    expect(parseRoute(formatRoute(route))).toEqual(route);
    expect(formatRoute(HOME)).toBe("");
  });

  test("ignore invalid values", () => {
    expect(parseRoute("?view=nothing&node=javascript:alert(1)&budget=-1&hops=99&by=shape&inactive=yes&at=yesterday&direction=sideways")).toEqual(
      HOME,
    );
  });
});

test("only a run event with a known type implies a job state", () => {
  const change = { kind: "run", eventTime: "", job: { namespace: "n", name: "j" } };
  expect(provisionalState({ ...change, eventType: "ABORT" })).toEqual({ id: "job:n:j", state: "aborted" });
  expect(provisionalState({ ...change, eventType: "OTHER" })).toBeUndefined();
  expect(provisionalState({ kind: "dataset", eventTime: "", eventType: "START" })).toBeUndefined();
});

test("states from events after the request stay provisional", () => {
  const provisional = new Map([["job:n:before", "running" as const], ["job:n:after", "running" as const]]);
  const eventTimes = new Map([["job:n:before", 99], ["job:n:after", 100]]);
  expect([...unconfirmedStates(provisional, eventTimes, 100)]).toEqual([["job:n:after", "running"]]);
});

test("a throttle runs at once, combines triggers during a run, and pauses in proportion", async () => {
  let clock = 0;
  let reads = 0;
  const waits: number[] = [];
  const throttle: Throttle = new Throttle(
    async () => {
      clock += 1000;
      if (++reads === 1) for (let at = 0; at < 5; at++) void throttle.trigger();
    },
    async (milliseconds) => void waits.push(milliseconds),
    () => clock,
  );
  await throttle.trigger();
  expect(reads).toBe(2);
  expect(waits).toEqual([4000, 4000]);
});

describe("requests of a resource", () => {
  function recorded() {
    const waiting: { readonly path: string; readonly respond: (text: string) => Promise<void> }[] = [];
    const settled: string[] = [];
    const requests = new ResourceRequests<string>(
      (path) =>
        new Promise((resolve, reject) =>
          waiting.push({
            path,
            respond: async (text) => {
              if (text.startsWith("error")) reject(new Error(text));
              else resolve(text);
              await new Promise((done) => setTimeout(done, 0));
            },
          }),
        ),
      (path, outcome) => settled.push(`${path} ${"value" in outcome ? outcome.value : outcome.error.message}`),
    );
    return { waiting, settled, requests };
  }

  test("show a response that takes longer than the time between two refreshes, and refresh once after it", async () => {
    const { waiting, settled, requests } = recorded();
    for (let at = 0; at < 4; at++) requests.request("/lab");
    expect(waiting).toHaveLength(1);
    await waiting[0].respond("first");
    expect(settled).toEqual(["/lab first"]);
    expect(waiting).toHaveLength(2);
    await waiting[1].respond("error second");
    expect(settled).toEqual(["/lab first", "/lab error second"]);
    expect(waiting).toHaveLength(2);
    requests.request("/lab");
    expect(waiting).toHaveLength(3);
  });

  test("ignore responses for a path that is not asked for any more", async () => {
    const { waiting, settled, requests } = recorded();
    requests.request("/a");
    requests.request("/b");
    requests.request("/a");
    expect(waiting.map(({ path }) => path)).toEqual(["/a", "/b", "/a"]);
    await waiting[0].respond("old");
    await waiting[1].respond("other");
    await waiting[2].respond("new");
    expect(settled).toEqual(["/a new"]);
    requests.request("/a");
    requests.request(null);
    await waiting[3].respond("closed");
    expect(settled).toEqual(["/a new"]);
    expect(waiting).toHaveLength(4);
  });
});

describe("viewport", () => {
  const view = { width: 800, height: 600 };

  test("fits a diagram into the view without magnifying it", () => {
    const all = fitToView({ width: 8000, height: 100 }, view);
    expect(toView(all, { x: 0, y: 50 }).x).toBeCloseTo(32);
    expect(toView(all, { x: 8000, y: 50 }).x).toBeCloseTo(768);
    expect(fitToView({ width: 10, height: 10 }, view).scale).toBe(1);
  });

  test("zooms around the pointer", () => {
    const before = { x: 5, y: 7, scale: 0.5 };
    const at = { x: 200, y: 100 };
    expect(toDiagram(zoomAt(before, 2, at), at)).toEqual(toDiagram(before, at));
    expect(zoomAt(before, 1e9, at).scale).toBe(MAX_SCALE);
  });

  test("scrolls by the least distance", () => {
    const still = { x: 0, y: 0, scale: 1 };
    expect(scrollIntoView(still, { x: 400, y: 300 }, view, { x: 50, y: 50 })).toBe(still);
    const moved = scrollIntoView(still, { x: 1000, y: 300 }, view, { x: 50, y: 50 });
    expect(toView(moved, { x: 1000, y: 300 })).toEqual({ x: 750, y: 300 });
    expect(toView(alignPoint(still, { x: 9, y: 9 }, { x: 1, y: 2 }), { x: 9, y: 9 })).toEqual({ x: 1, y: 2 });
  });
});

describe("GraphWorker", () => {
  function fakeService(responses: Record<string, unknown>) {
    const requested: string[] = [];
    const worker = new GraphWorker(async (path) => {
      requested.push(path);
      return responses[path];
    });
    return { requested, worker };
  }

  const export_ = exported({ columns: [identity("a.x", "b.x")] });

  test("loads summaries first, and the export once, on demand", async () => {
    const { requested, worker } = fakeService({ "/api/v1/summaries": SHOP, "/api/v1/graph": export_ });
    expect((await worker.load(null))?.count).toBe(5);
    expect(worker.search("etl", 5)).toMatchObject({ hits: [{ node: "job:jobs:etl" }], partial: true });
    expect(requested).toEqual(["/api/v1/summaries"]);
    const paths = await Promise.all([worker.columnPath(column("b.x")), worker.columnPath(column("a.x"))]);
    expect(paths.map(({ nodes }) => nodes.length)).toEqual([2, 2]);
    expect(requested).toEqual(["/api/v1/summaries", "/api/v1/graph"]);
    expect(worker.search("etl", 5).partial).toBe(false);
  });

  test("does not load the export of a large graph, but the part around a column", async () => {
    const datasets = Array.from({ length: MAX_EXPORTED_NODES }, (_, at) => ({ ...SHOP.datasets[0], name: `table ${at}` }));
    const part = exported({ columns: [identity("a.x", "b.x"), identity("b.x", "c.x"), identity("c.x", "d.x")] });
    const query = new URLSearchParams({ nodeId: "dataset:s3://lake:b", depth: "1" });
    const { requested, worker } = fakeService({
      "/api/v1/summaries": { ...SHOP, datasets: [...SHOP.datasets, ...datasets] },
      [`/api/v1/graph?${query}`]: part,
    });
    await worker.load(null);
    await worker.loadColumns();
    expect(worker.search("table 17", 1)).toMatchObject({ partial: false, namesOnly: true });
    const found = await worker.columnPath(column("b.x"));
    expect(found.nodes.map(({ name }) => name).sort()).toEqual(["a", "b", "c", "d"]);
    expect(found.truncated).toBe(true);
    expect(requested).toEqual(["/api/v1/summaries", `/api/v1/graph?${query}`]);
  });

  test("returns nodes in slices, and null for a previous graph", async () => {
    const { worker } = fakeService({ "/api/v1/summaries": SHOP });
    const first = (await worker.load(null))!;
    expect(worker.nodes(first.generation, 3, 10)?.map(({ name }) => name)).toEqual(["sales/orders", "sales/stats"]);
    await worker.load(null);
    expect(worker.nodes(first.generation, 0, 1)).toBeNull();
  });

  test("discards the response to an earlier request", async () => {
    let resolvePast = (_: unknown): void => undefined;
    const past = new Promise((resolve) => (resolvePast = resolve));
    const worker = new GraphWorker((path) => (path === "/api/v1/summaries" ? Promise.resolve(SHOP) : past));
    const slow = worker.load("2026-01-01T00:00:00Z");
    const now = (await worker.load(null))!;
    resolvePast(export_);
    expect(await slow).toBeNull();
    expect(worker.nodes(now.generation, 0, 10)).toHaveLength(5);
  });

  test("adds the diff to the later graph and returns the changes of a node", async () => {
    const since = "2026-01-01T00:00:00Z";
    const removed = { kind: "dataset", namespace: "s3://lake", name: "removed" };
    const change = { kind: "removed", subject: "dataset", of: "", text: "", before: "", after: "", nodes: [removed] };
    const { requested, worker } = fakeService({
      "/api/v1/summaries": SHOP,
      [`/api/v1/diff?from=${encodeURIComponent(since)}`]: { empty: false, counts: {}, changes: [change] },
    });
    const loaded = (await worker.load(null, since))!;
    expect(requested).toHaveLength(2);
    expect(worker.nodes(loaded.generation, 5, 10)?.map(({ name }) => name)).toEqual(["removed"]);
    expect(loaded.statuses?.nodes).toEqual([...new Array(5).fill(undefined), "removed"]);
    expect(worker.changesOf("dataset:s3://lake:removed")).toEqual([change]);
    expect((await worker.load(null))?.statuses).toBeNull();
    expect(worker.changesOf("dataset:s3://lake:removed")).toEqual([]);
  });

  test("loads a past state from its export alone", async () => {
    const at = "2026-01-01T00:00:00Z";
    const { requested, worker } = fakeService({
      "/api/v1/summaries": SHOP,
      [`/api/v1/graph?asOf=${encodeURIComponent(at)}`]: export_,
    });
    expect((await worker.load(at))?.isPart).toBe(false);
    expect((await worker.columnPath(column("b.x"))).nodes).toHaveLength(2);
    // The size of the graph is that of the summaries.
    expect(requested).toEqual(["/api/v1/summaries", `/api/v1/graph?asOf=${encodeURIComponent(at)}`]);
  });

  test("loads another time of a large graph around a node only", async () => {
    const at = "2026-01-01T00:00:00Z";
    const jobs = Array.from({ length: MAX_EXPORTED_NODES }, (_, number) => ({ ...SHOP.jobs[0], name: `job ${number}` }));
    const part = "nodeId=dataset%3As3%3A%2F%2Flake%3Ab&depth=1";
    const none = { empty: true, counts: {}, changes: [] };
    const { requested, worker } = fakeService({
      "/api/v1/summaries": { ...SHOP, jobs: [...SHOP.jobs, ...jobs] },
      [`/api/v1/graph?asOf=${encodeURIComponent(at)}&${part}`]: export_,
      [`/api/v1/diff?from=${encodeURIComponent(at)}&${part}`]: none,
    });
    await expect(worker.load(at)).rejects.toMatchObject({ status: TOO_LARGE });
    await expect(worker.load(null, at)).rejects.toMatchObject({ status: TOO_LARGE });
    expect(await worker.load(at, null, "dataset:s3://lake:b")).toMatchObject({ isPart: true });
    expect(worker.search("a", 5).namesOnly).toBe(false);
    expect((await worker.load(null, at, "dataset:s3://lake:b"))?.statuses).not.toBeNull();
    expect((await worker.load(null))?.isPart).toBe(false);
    expect(requested.filter((path) => path.startsWith("/api/v1/graph"))).toHaveLength(1);
  });
});
