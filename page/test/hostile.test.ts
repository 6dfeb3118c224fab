// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { layoutGraph } from "../src/layout/layout";
import { CARD_SIZES } from "../src/layout/sizes";
import { applyDiff } from "../src/model/diff";
import { ENGINE_NAMES } from "../src/model/engines";
import { graphOf, STATES, stateOf, summariesOf } from "../src/model/graph";
import { collapse } from "../src/model/groups";
import { buildColumnIndex, columnPath } from "../src/model/columnPath";
import { displayText, shortName } from "../src/model/names";
import { datasetStatistics } from "../src/model/runStatistics";
import { search, searchIndex } from "../src/model/search";
import { provisionalState } from "../src/state/liveEvents";
import { dataset, exported, identity, job } from "./samples";

/** Every name that an object has without having been given it, and others that look like syntax. */
const NAMES = [
  ...Object.getOwnPropertyNames(Object.prototype),
  ...Object.getOwnPropertyNames(Function.prototype),
  "prototype",
  "",
  ":",
  "__proto__:constructor",
  "<img src=x onerror=alert(1)>",
  "\u202e\u0000",
  "\ud800",
];

const NAMESPACES = NAMES.flatMap((name) => [name, `${name}:`, `${name}://${name}`, `${name.toUpperCase()}://x`]);

const SUMMARIES = {
  datasets: NAMESPACES.map((namespace, at) =>
    dataset(NAMES[at % NAMES.length], {
      namespace,
      tags: NAMES,
      owners: NAMES,
      columnTags: Object.fromEntries(NAMES.map((name) => [name, NAMES])),
      symlinks: NAMES.map((name) => ({ namespace: name, name, type: name })),
    }),
  ),
  jobs: NAMESPACES.map((namespace, at) =>
    job(NAMES[at % NAMES.length], [at], [(at + 1) % NAMESPACES.length], {
      namespace,
      engine: NAMES[at % NAMES.length],
      state: NAMES[at % NAMES.length],
      processing: NAMES[at % NAMES.length],
    }),
  ),
};

describe("a graph of hostile names", () => {
  const graph = graphOf(SUMMARIES);

  test("can be sent between threads and has known engines and states only", () => {
    expect(structuredClone(graph)).toEqual(graph);
    for (const node of graph.nodes) {
      expect(Object.hasOwn(ENGINE_NAMES, node.engine)).toBe(true);
      expect(STATES).toContain(node.state);
    }
    for (const { group } of collapse(graph.nodes, { budget: 1, open: new Set(), closed: new Set() }).items) {
      expect(typeof (group?.title ?? "")).toBe("string");
    }
  });

  test("is laid out, grouped, searched and compared", () => {
    const edges = { count: graph.nodes.length, from: graph.from, to: graph.to };
    expect(layoutGraph(edges, CARD_SIZES)).toBeDefined();
    expect(collapse(graph.nodes, { budget: 40, open: new Set(NAMES), closed: new Set() })).toBeDefined();
    const index = searchIndex(graph, null, SUMMARIES);
    for (const name of NAMES) expect(search(index, name, 20)).toBeInstanceOf(Array);
    const nodes = NAMES.map((name) => ({ kind: "dataset" as const, namespace: name, name }));
    const change = { kind: "added" as const, subject: "dataset", of: "", text: "", before: "", after: "", nodes };
    const found = applyDiff(graph, { empty: false, counts: {}, changes: [change] });
    expect(structuredClone(found.graph.nodes)).toHaveLength(found.graph.nodes.length);
  });

  test("of the past, with hostile columns, is read", () => {
    const columns = NAMES.map((name) => identity(`${name}.${name}`, `x.${name}`));
    const fields = NAMES.map((name) => ({ name, type: name }));
    const datasets = NAMES.map((name) => ({ namespace: "s3://lake", name, fields, symlinks: [] }));
    const found = exported({ columns, datasets });
    expect(structuredClone(graphOf(summariesOf(found))).nodes).toHaveLength(NAMES.length);
    const index = buildColumnIndex(found);
    for (const name of NAMES) {
      expect(columnPath(index, { namespace: "s3://lake", name: "x", field: name }).nodes.length).toBeGreaterThan(0);
    }
  });
});

test("states are looked up among the known ones only", () => {
  for (const name of NAMES) {
    expect(stateOf(name)).toBe("none");
    expect(provisionalState({ kind: "run", eventTime: "", eventType: name, job: { namespace: name, name } })).toBeUndefined();
  }
});

test("facets of other types than the standard's are shown as text and not counted", () => {
  for (const value of [null, undefined, 7, true, [], {}, { constructor: 1 }, "x"]) {
    expect(typeof displayText(value)).toBe("string");
    const facet = { outputStatistics: { rowCount: value, size: { toString: 1 } } };
    const events = [{ eventTime: "", outputs: [{ namespace: "a", name: "b", outputFacets: facet }] }];
    const rows = datasetStatistics(events as never).map(({ rows }) => rows);
    expect(rows).toEqual(value === 7 ? [7] : []);
  }
  for (const name of NAMES) expect(typeof shortName(name)).toBe("string");
});
