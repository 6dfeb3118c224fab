// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { alerts, jobAlerts } from "../src/model/alerts";
import { buildColumnIndex, columnPath } from "../src/model/columnPath";
import { engineOfDataset, engineOfJob } from "../src/model/engines";
import { graphOf, sameShape, stateOf, subgraph, summariesOf, removeIdleJobs } from "../src/model/graph";
import { displayLines, truncateMiddle, shortName, displayText } from "../src/model/names";
import { impactEdges, impactRows } from "../src/model/impact";
import { datasetStatistics } from "../src/model/runStatistics";
import { traceLineage } from "../src/model/trace";
import { schemaChanges } from "../src/model/schemaChanges";
import { column, exported, identity, SHOP } from "./samples";

describe("graph", () => {
  const graph = graphOf(SHOP);
  const edges = Array.from(
    graph.from,
    (from, edge) => `${graph.nodes[from].name} -> ${graph.nodes[graph.to[edge]].name}`,
  );

  test("has edges from inputs through jobs to outputs", () => {
    expect(edges).toEqual(["orders -> etl", "etl -> sales/orders", "sales/orders -> report", "report -> sales/stats"]);
  });

  test("has processing modes, states and engines", () => {
    const etl = graph.nodes[0];
    expect([etl.streaming, etl.state, etl.engine]).toEqual([true, "running", "flink"]);
    expect(graph.nodes[1]).toMatchObject({ streaming: false, state: "failed" });
    expect(graph.nodes.map(({ engine }) => engine).slice(3)).toEqual(["kafka", "iceberg", "s3"]);
  });

  test("removeIdleJobs removes jobs without inputs and outputs", () => {
    const names = removeIdleJobs(graph).nodes.map(({ name }) => name);
    expect(names).not.toContain("application");
    expect(removeIdleJobs(graph).from).toHaveLength(4);
  });

  test("of a past state is built from an export", () => {
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

  test("has the same shape if only states change", () => {
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

  test("only a running job can be stale", () => {
    expect([stateOf("RUNNING", true), stateOf("FAILED", true), stateOf("?"), stateOf(null)]).toEqual([
      "stale",
      "failed",
      "none",
      "none",
    ]);
  });
});

test("engines are derived from integration and namespace", () => {
  expect(["KAFKA_CONNECT", "spark", "Flink", "AIRFLOW", "GREAT_EXPECTATIONS", null].map(engineOfJob)).toEqual([
    "connect",
    "spark",
    "flink",
    "airflow",
    "quality",
    "job",
  ]);
  expect(["kafka://a", "postgres://b", "file", "bigquery", "S3://c"].map((name) => engineOfDataset(name, []))).toEqual([
    "kafka",
    "postgres",
    "database",
    "database",
    "s3",
  ]);
  expect(["iceberg", "delta", "parquet"].map((storage) => engineOfDataset("s3://lake", [], storage))).toEqual([
    "iceberg",
    "lake",
    "s3",
  ]);
});

test("traceLineage returns negative distances upstream and positive ones downstream", () => {
  const edges = { from: Int32Array.of(0, 1, 2, 1, 4), to: Int32Array.of(1, 2, 3, 4, 1) };
  expect([...traceLineage(6, edges, 2)].sort((a, b) => a[1] - b[1])).toEqual([
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

  test("follows every hop upstream with its transformations and includes filters", () => {
    const path = columnPath(buildColumnIndex(found), column("stats.total"));
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

  test("follows edges downstream, ends at dataset rows and reports masking", () => {
    const path = columnPath(buildColumnIndex(found), column("raw.price"));
    expect(names(path)).toEqual(["0 raw.price", "1 clean.price", "2 stats.total", "2 stats.*"]);
    expect(path.edges.filter(({ masking }) => masking).map(({ to }) => path.nodes[to].field)).toEqual(["total"]);
  });

  test("of a column without lineage contains only that column", () => {
    expect(names(columnPath(buildColumnIndex(found), column("x.y")))).toEqual(["0 x.y"]);
  });
});

describe("names", () => {
  test("displayLines keeps lines, and makes each safe", () => {
    expect(displayLines("first\r\n\nse\u202Econd\n")).toBe("first\n\nse\ufffdcond");
    expect(displayLines("x\n".repeat(100)).split("\n").length).toBe(41);
    expect(displayLines({ not: "text" })).toBe('{"not":"text"}');
  });

  test("displayText replaces invisible characters and cuts long names", () => {
    expect(displayText("a\u202Eb\u0007c")).toBe("a\ufffdb\ufffdc");
    expect(displayText("مرحبا 🎉 <b>")).toBe("مرحبا 🎉 <b>");
    expect(displayText(" \u200b")).toBe(" \ufffd");
    expect(displayText("")).toBe("(no name)");
    expect([...displayText("x".repeat(10_000))]).toHaveLength(401);
  });

  test("truncateMiddle keeps surrogate pairs intact", () => {
    const width = (text: string) => [...text].length;
    expect(truncateMiddle("abcdefghij", 5, width)).toBe("ab…ij");
    expect(truncateMiddle("🎉🎉🎉🎉", 3, width)).toBe("🎉…🎉");
    expect(truncateMiddle("short", 5, width)).toBe("short");
  });

  test("shortName returns the last path segment", () => {
    expect([shortName("a/b/c"), shortName("a/b/"), shortName("/")]).toEqual(["c", "b", "/"]);
  });
});

test("schemaChanges compares columns, nested ones by path", () => {
  const nested = (type: string) => [{ name: "a", type: "struct", fields: [{ name: "b", type }] }];
  expect(
    schemaChanges([...nested("int"), { name: "old" }], [...nested("long"), { name: "new", type: "date" }]),
  ).toEqual([
    { kind: "changed", column: "a.b", text: "int → long" },
    { kind: "added", column: "new", text: "date" },
    { kind: "removed", column: "old", text: "" },
  ]);
});

test("datasetStatistics adds up nulls by column, and ignores what is none", () => {
  const wrote = (columns: unknown) => ({
    eventTime: "",
    outputs: [
      {
        namespace: "n",
        name: "t",
        outputFacets: { outputStatistics: { rowCount: 3 }, lineageLab_writtenNulls: { columns } },
      },
    ],
  });
  const events = [wrote({ a: 1, b: 0, constructor: 2 }), wrote({ a: 2 }), wrote("x"), wrote(null), wrote({ a: "3", b: NaN })];
  expect(datasetStatistics(events)[0].nulls).toEqual(new Map([["a", 3], ["constructor", 2]]));
});

test("datasetStatistics adds up the events of a run; missing figures stay null", () => {
  const output = (rowCount: number) => ({
    namespace: "n",
    name: "t",
    outputFacets: { outputStatistics: { rowCount } },
  });
  const events = [
    { eventTime: "", outputs: [output(2)] },
    { eventTime: "", outputs: [output(3)], inputs: [{ namespace: "n", name: "s" }] },
  ];
  expect(datasetStatistics(events)).toEqual([{ direction: "output", dataset: "t", rows: 5, size: null, nulls: new Map() }]);
});

test("alerts report failed jobs, services that are down and contract differences, errors first", () => {
  const graph = graphOf(SHOP);
  const down = { name: "kafka", title: "Kafka", ui: null, state: "down" as const, answer: "refused", milliseconds: 1 };
  const contract = {
    ok: false,
    jobs: [],
    datasets: [],
    findings: [{ kind: "missing", subject: "job", job: "j", text: "t", expected: "", found: "" }],
    unlisted: [{ kind: "unlisted", subject: "job", job: "k", text: "u", expected: "", found: "" }],
  };
  const found = alerts({ nodes: jobAlerts(graph, new Uint8Array(graph.nodes.length), (node) => node.state), lab: { name: "lab", services: [down] }, stats: null, contract });
  expect(found.map(({ level, text }) => `${level}: ${text}`)).toEqual([
    "error: report failed",
    "error: Kafka does not respond: refused",
    "warning: 1 difference from the lineage contract",
  ]);
  expect(found[0]).toMatchObject({ kind: "failed", subject: "job:jobs:report", affected: 1 });
  expect(alerts({ nodes: [], lab: null, stats: null, contract: null })).toEqual([]);
});

test("impact rows are sorted by distance, and edges have labels", () => {
  const step = {
    job: { namespace: "jobs", name: "etl" },
    input: column("a.x"),
    output: column("b.x"),
    type: "DIRECT",
    subtype: "IDENTITY",
    masking: true,
  };
  const impact = {
    start: column("a.x"),
    columns: [{ ...column("b.x"), field: "x", distance: 1, certain: true, edges: [step] }],
    datasets: [{ ...column("b"), distance: 1, certain: false, whole: false, edges: [] }],
    jobs: [{ namespace: "jobs", name: "etl", distance: 0, certain: true, edges: [] }],
  };
  expect(impactRows(impact).map(({ kind, distance, transformation }) => `${distance} ${kind} ${transformation}`)).toEqual([
    "0 job ",
    "1 column identity (masked)",
    "1 dataset some columns",
  ]);
  expect(impactEdges(impact)).toEqual([{ from: "s3://lake/a x", to: "s3://lake/b x", label: "etl: IDENTITY" }]);
});
