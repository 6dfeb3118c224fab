// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { alerts } from "../src/model/alerts";
import { columnIndex, columnPath } from "../src/model/columnPath";
import { engineOfDataset, engineOfJob } from "../src/model/engines";
import { graphOf, sameShape, stateOf, subgraph, summariesOf, withoutIdleJobs } from "../src/model/graph";
import { fitted, shortName, shown } from "../src/model/names";
import { reachEdges, reachRows } from "../src/model/impact";
import { statistics } from "../src/model/runStatistics";
import { trace } from "../src/model/trace";
import { schemaChanges } from "../src/model/schemaChanges";
import { column, exported, identity, SHOP } from "./samples";

describe("graph", () => {
  const graph = graphOf(SHOP);
  const edges = Array.from(
    graph.from,
    (from, edge) => `${graph.nodes[from].name} -> ${graph.nodes[graph.to[edge]].name}`,
  );

  test("leads from inputs over jobs to outputs", () => {
    expect(edges).toEqual(["orders -> etl", "etl -> sales/orders", "sales/orders -> report", "report -> sales/stats"]);
  });

  test("tells streaming from batch, states and engines", () => {
    const etl = graph.nodes[0];
    expect([etl.streaming, etl.state, etl.engine]).toEqual([true, "running", "flink"]);
    expect(graph.nodes[1]).toMatchObject({ streaming: false, state: "failed" });
    expect(graph.nodes.map(({ engine }) => engine).slice(3)).toEqual(["kafka", "iceberg", "s3"]);
  });

  test("is without jobs that move nothing", () => {
    const names = withoutIdleJobs(graph).nodes.map(({ name }) => name);
    expect(names).not.toContain("application");
    expect(withoutIdleJobs(graph).from).toHaveLength(4);
  });

  test("of the past is made of an export alone", () => {
    const pair = (name: string) => ({ namespace: "s3://lake", name });
    const found = exported({
      jobs: [{ namespace: "jobs", name: "etl", type: "STREAMING", state: "RUNNING" }],
      datasets: [
        { ...pair("a"), fields: [], symlinks: [] },
        { ...pair("b"), fields: [{ name: "x" }], symlinks: [] },
      ],
      edges: [
        { job: { namespace: "jobs", name: "etl" }, direction: "input", dataset: pair("a") },
        { job: { namespace: "jobs", name: "etl" }, direction: "output", dataset: pair("b") },
      ],
      columns: [identity("a.x", "b.x", { masking: true })],
    });
    const past = graphOf(summariesOf(found));
    expect(Array.from(past.from)).toEqual([1, 0]);
    expect(Array.from(past.to)).toEqual([0, 2]);
    expect(past.nodes[0]).toMatchObject({ streaming: true, state: "running" });
    expect(past.nodes[2]).toMatchObject({ columns: 1, masked: ["x"] });
  });

  test("keeps its shape while only states change", () => {
    const failed = graphOf({ ...SHOP, jobs: SHOP.jobs.map((row) => ({ ...row, state: "FAILED" })) });
    expect(sameShape(graph, failed)).toBe(true);
    expect(
      sameShape(
        graph,
        subgraph(
          graph,
          graph.nodes.map((_, at) => at > 0),
        ),
      ),
    ).toBe(false);
  });

  test("a running job that is silent is stale, another is not", () => {
    expect([stateOf("RUNNING", true), stateOf("FAILED", true), stateOf("?"), stateOf(null)]).toEqual([
      "stale",
      "failed",
      "none",
      "none",
    ]);
  });
});

test("engines follow from integration and namespace", () => {
  expect(["KAFKA_CONNECT", "spark", "Flink", "AIRFLOW", null].map(engineOfJob)).toEqual([
    "connect",
    "spark",
    "flink",
    "job",
    "job",
  ]);
  expect(["kafka://a", "postgres://b", "file", "bigquery", "S3://c"].map((name) => engineOfDataset(name, []))).toEqual([
    "kafka",
    "postgres",
    "database",
    "database",
    "s3",
  ]);
});

test("a trace has what feeds a node at negative, what it feeds at positive distances", () => {
  const edges = { from: Int32Array.of(0, 1, 2, 1, 4), to: Int32Array.of(1, 2, 3, 4, 1) };
  expect([...trace(6, edges, 2)].sort((a, b) => a[1] - b[1])).toEqual([
    [0, -2],
    [4, -2],
    [1, -1],
    [2, 0],
    [3, 1],
  ]);
});

describe("column path", () => {
  const found = exported({
    columns: [
      identity("raw.price", "clean.price", { subtype: "TRANSFORMATION" }),
      identity("clean.price", "stats.total", { subtype: "AGGREGATION", masking: true }),
      identity("raw.item", "clean.item"),
    ],
    datasetColumns: [
      identity("raw.valid", "clean", { type: "INDIRECT", subtype: "FILTER" }),
      identity("clean.price", "stats", { type: "INDIRECT", subtype: "FILTER" }),
    ],
  });
  const names = (path: ReturnType<typeof columnPath>) =>
    path.nodes.map(({ name, field, distance }) => `${distance} ${name}.${field ?? "*"}`);

  test("goes up through every hop with its kind, and has the filters where they act", () => {
    const path = columnPath(columnIndex(found), column("stats.total"));
    expect(names(path).sort()).toEqual(["-1 clean.price", "-2 raw.price", "-2 raw.valid", "0 stats.total"]);
    const kinds = path.edges.map(
      ({ from, to, kinds: how }) => `${path.nodes[from].field}>${path.nodes[to].field}: ${how.join("+")}`,
    );
    expect(kinds.sort()).toEqual([
      "price>price: TRANSFORMATION",
      "price>total: AGGREGATION+FILTER",
      "valid>price: FILTER",
    ]);
  });

  test("goes down, ends at rows as a whole, and marks what is masked", () => {
    const path = columnPath(columnIndex(found), column("raw.price"));
    expect(names(path)).toEqual(["0 raw.price", "1 clean.price", "2 stats.total", "2 stats.*"]);
    expect(path.edges.filter(({ masking }) => masking).map(({ to }) => path.nodes[to].field)).toEqual(["total"]);
  });

  test("of a column that nothing is known of is that column", () => {
    expect(names(columnPath(columnIndex(found), column("x.y")))).toEqual(["0 x.y"]);
  });
});

describe("names", () => {
  test("that cannot be seen are made visible, others stay", () => {
    expect(shown("a\u202Eb\u0007c")).toBe("a\ufffdb\ufffdc");
    expect(shown("مرحبا 🎉 <b>")).toBe("مرحبا 🎉 <b>");
    expect(shown(" \u200b")).toBe(" \ufffd");
    expect(shown("")).toBe("(no name)");
    expect([...shown("x".repeat(10_000))]).toHaveLength(401);
  });

  test("are cut in the middle, whole characters at a time", () => {
    const width = (text: string) => [...text].length;
    expect(fitted("abcdefghij", 5, width)).toBe("ab…ij");
    expect(fitted("🎉🎉🎉🎉", 3, width)).toBe("🎉…🎉");
    expect(fitted("short", 5, width)).toBe("short");
  });

  test("of paths are told by their last part", () => {
    expect([shortName("a/b/c"), shortName("a/b/"), shortName("/")]).toEqual(["c", "b", "/"]);
  });
});

test("versions of a schema differ by column, nested ones by path", () => {
  const nested = (type: string) => [{ name: "a", type: "struct", fields: [{ name: "b", type }] }];
  expect(
    schemaChanges([...nested("int"), { name: "old" }], [...nested("long"), { name: "new", type: "date" }]),
  ).toEqual([
    { kind: "changed", column: "a.b", text: "int → long" },
    { kind: "added", column: "new", text: "date" },
    { kind: "removed", column: "old", text: "" },
  ]);
});

test("statistics add up over the events of a run; what is not said stays unknown", () => {
  const output = (rowCount: number) => ({
    namespace: "n",
    name: "t",
    outputFacets: { outputStatistics: { rowCount } },
  });
  const events = [
    { eventTime: "", outputs: [output(2)] },
    { eventTime: "", outputs: [output(3)], inputs: [{ namespace: "n", name: "s" }] },
  ];
  expect(statistics(events)).toEqual([{ direction: "output", dataset: "t", rows: 5, size: null }]);
});

test("alerts name failed and stale jobs, services that are down, and departures; the worst first", () => {
  const graph = graphOf(SHOP);
  const down = { name: "kafka", title: "Kafka", ui: null, state: "down" as const, answer: "refused", milliseconds: 1 };
  const contract = {
    ok: false,
    jobs: [],
    findings: [{ kind: "missing", subject: "job", job: "j", text: "t", expected: "", found: "" }],
  };
  const found = alerts(graph.nodes, (node) => node.state, { name: "lab", services: [down] }, null, contract);
  expect(found.map(({ level, text }) => `${level}: ${text}`)).toEqual([
    "bad: Kafka does not answer: refused",
    "bad: report has failed",
    "odd: the lineage departs from the contract in 1 ways",
  ]);
  expect(alerts([], () => "none", null, null, null)).toEqual([]);
});

test("the list of an impact has the nearest first, and its edges say how", () => {
  const step = {
    job: { namespace: "jobs", name: "etl" },
    input: column("a.x"),
    output: column("b.x"),
    type: "DIRECT",
    subtype: "IDENTITY",
    masking: true,
  };
  const reach = {
    start: column("a.x"),
    columns: [{ ...column("b.x"), field: "x", distance: 1, certain: true, edges: [step] }],
    datasets: [{ ...column("b"), distance: 1, certain: false, whole: false, edges: [] }],
    jobs: [{ namespace: "jobs", name: "etl", distance: 0, certain: true, edges: [] }],
  };
  expect(reachRows(reach).map(({ kind, jobs, how }) => `${jobs} ${kind} ${how}`)).toEqual([
    "0 job ",
    "1 column identity (masked)",
    "1 dataset some of its columns",
  ]);
  expect(reachEdges(reach)).toEqual([{ from: "s3://lake/a x", to: "s3://lake/b x", label: "etl: IDENTITY" }]);
});
