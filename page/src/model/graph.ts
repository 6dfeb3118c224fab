// SPDX-License-Identifier: Apache-2.0
import { type Engine, engineOfDataset, engineOfJob } from "./engines";
import type { DatasetSummary, FailedCheck, GraphExport, JobSummary, QualifiedName, Summaries } from "./apiTypes";
import { type NodeKind, nodeId } from "./ids";

/** State of a job's latest run; `none` for datasets. */
export type State = "running" | "stale" | "failed" | "aborted" | "completed" | "new" | "none";

export const STATES: readonly State[] = ["running", "stale", "failed", "aborted", "completed", "new", "none"];

/** A job or dataset, with the attributes that the graph view and the search use. */
export interface GraphNode extends QualifiedName {
  readonly id: string;
  readonly kind: NodeKind;
  readonly engine: Engine;
  readonly streaming: boolean;
  readonly state: State;
  readonly tags: readonly string[];
  readonly owners: readonly string[];
  readonly description: string | null;
  readonly updatedAt: string | null;
  readonly startedAt: string | null;
  readonly runs: number;
  /** End of the latest run of a job; null while it runs, and for datasets. */
  readonly endedAt: string | null;
  /** Why the service inferred the end of the latest run; null if the emitter reported it. */
  readonly endedBecause: string | null;
  /** Data quality assertions about its inputs that failed in the latest run of a job. */
  readonly failedChecks: readonly FailedCheck[];
  /** Symlink names of a dataset, such as `lake.sales.orders`. */
  readonly aliases: readonly string[];
  readonly columns: number;
  /** Columns that an emitter reports as masked on their way into this dataset. */
  readonly masked: readonly string[];
}

/** Jobs, datasets and the edges between them: edge i goes from node `from[i]` to node `to[i]`. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/**
 * Number of nodes up to which the export with all columns is loaded; it has some MB then. That of 60,000 nodes has
 * 300 MB, which would stop the browser for minutes.
 */
export const MAX_EXPORTED_NODES = 5_000;

/** Steps from job to job of the part of a larger graph around a node: two jobs in each direction of a dataset. */
export const PART_DEPTH = 1;

export const EMPTY_GRAPH: Graph = { nodes: [], from: new Int32Array(0), to: new Int32Array(0) };

const STATE_BY_API_NAME: ReadonlyMap<string, State> = new Map([
  ["NEW", "new"],
  ["RUNNING", "running"],
  ["COMPLETED", "completed"],
  ["ABORTED", "aborted"],
  ["FAILED", "failed"],
]);

/** State of a run from its name in the API; `none` for an unknown name. */
export function stateOf(state: string | null | undefined, stale = false): State {
  const found = STATE_BY_API_NAME.get(state ?? "") ?? "none";
  return found === "running" && stale ? "stale" : found;
}

/** The graph of the summaries: jobs first, then datasets. */
export function graphOf({ jobs, datasets }: Summaries): Graph {
  const from: number[] = [];
  const to: number[] = [];
  jobs.forEach(({ inputs, outputs }, job) => {
    for (const input of inputs) {
      from.push(jobs.length + input);
      to.push(job);
    }
    for (const output of outputs) {
      from.push(job);
      to.push(jobs.length + output);
    }
  });
  const nodes = [...jobs.map(jobNode), ...datasets.map(datasetNode)];
  return { nodes, from: Int32Array.from(from), to: Int32Array.from(to) };
}

/** Summaries derived from an export. The API has no summaries of past states, so tags, owners and runs are empty. */
export function summariesOf(found: GraphExport): Summaries {
  const summaryFields = { updatedAt: null, tags: [], owners: [], description: null };
  const masked = maskedColumns(found);
  const indexes = new Map(found.datasets.map((dataset, index) => [nodeId("dataset", dataset), index]));
  const uses = new Map(
    found.jobs.map((job) => [nodeId("job", job), { input: [] as number[], output: [] as number[] }]),
  );
  for (const { job, direction, dataset } of found.edges) {
    const index = indexes.get(nodeId("dataset", dataset));
    if (index !== undefined) uses.get(nodeId("job", job))?.[direction].push(index);
  }
  return {
    jobs: found.jobs.map((job) => {
      const { input: inputs, output: outputs } = uses.get(nodeId("job", job))!;
      return {
        ...summaryFields,
        ...job,
        engine: null,
        processing: job.type,
        stale: false,
        runs: 0,
        run: null,
        parent: null,
        failedChecks: [],
        startedAt: null,
        endedAt: null,
        endedBecause: null,
        inputs,
        outputs,
      };
    }),
    datasets: found.datasets.map((dataset) => ({
      ...summaryFields,
      ...dataset,
      columns: dataset.fields.length,
      columnTags: {},
      masked: masked.get(nodeId("dataset", dataset)) ?? [],
      storage: null,
    })),
  };
}

/** Remove jobs without inputs and outputs: mostly Spark applications, whose actions are separate jobs. */
export function removeIdleJobs(graph: Graph): Graph {
  const used = new Uint8Array(graph.nodes.length);
  for (const ends of [graph.from, graph.to]) for (const node of ends) used[node] = 1;
  const kept = graph.nodes.map((node, at) => node.kind === "dataset" || used[at] === 1);
  return kept.every(Boolean) ? graph : subgraph(graph, kept);
}

/** The subgraph of the kept nodes, with the edges between them. */
export function subgraph(graph: Graph, kept: readonly boolean[]): Graph {
  const newIndex = new Int32Array(graph.nodes.length).fill(-1);
  const nodes = graph.nodes.filter((_, at) => kept[at]);
  let next = 0;
  kept.forEach((keep, at) => keep && (newIndex[at] = next++));
  const from = new Int32Array(graph.from.length);
  const to = new Int32Array(graph.from.length);
  let count = 0;
  for (let edge = 0; edge < from.length; edge++) {
    const [start, end] = [newIndex[graph.from[edge]], newIndex[graph.to[edge]]];
    if (start < 0 || end < 0) continue;
    from[count] = start;
    to[count++] = end;
  }
  return { nodes, from: from.slice(0, count), to: to.slice(0, count) };
}

/** True if two graphs have equal nodes and edges, apart from states and times. Their layout is then the same. */
export function sameShape(one: Graph, other: Graph): boolean {
  const same = (a: Int32Array, b: Int32Array) => a.length === b.length && a.every((value, at) => value === b[at]);
  return (
    one.nodes.length === other.nodes.length &&
    one.nodes.every((node, at) => node.id === other.nodes[at].id) &&
    same(one.from, other.from) &&
    same(one.to, other.to)
  );
}

function jobNode(job: JobSummary): GraphNode {
  return {
    ...about(job),
    id: nodeId("job", job),
    kind: "job",
    engine: engineOfJob(job.engine),
    streaming: /^STREAM/.test(job.processing ?? ""),
    state: stateOf(job.state, job.stale),
    startedAt: job.startedAt,
    runs: job.runs,
    endedAt: job.endedAt,
    endedBecause: job.endedBecause,
    failedChecks: job.failedChecks.length === 0 ? NO_CHECKS : job.failedChecks,
    aliases: EMPTY,
    columns: 0,
    masked: EMPTY,
  };
}

function datasetNode(dataset: DatasetSummary): GraphNode {
  const engine = engineOfDataset(dataset.namespace, dataset.symlinks, dataset.storage);
  return {
    ...about(dataset),
    id: nodeId("dataset", dataset),
    kind: "dataset",
    engine,
    streaming: engine === "kafka",
    state: "none",
    startedAt: null,
    runs: 0,
    endedAt: null,
    endedBecause: null,
    failedChecks: NO_CHECKS,
    aliases: orEmpty(dataset.symlinks.map(({ name }) => name)),
    columns: dataset.columns,
    masked: orEmpty(dataset.masked),
  };
}

function about({ namespace, name, tags, owners, description, updatedAt }: JobSummary | DatasetSummary) {
  return { namespace, name, tags: orEmpty(tags), owners: orEmpty(owners), description, updatedAt };
}

const EMPTY: readonly string[] = [];
const NO_CHECKS: readonly FailedCheck[] = [];

/** One shared empty list: a structured clone copies it once, not once per node. */
function orEmpty(texts: readonly string[]): readonly string[] {
  return texts.length === 0 ? EMPTY : texts;
}

function maskedColumns(found: GraphExport): Map<string, string[]> {
  const masked = new Map<string, Set<string>>();
  for (const { output, masking } of found.columns) {
    if (!masking || output.field === undefined) continue;
    const id = nodeId("dataset", output);
    masked.set(id, (masked.get(id) ?? new Set()).add(output.field));
  }
  return new Map([...masked].map(([id, fields]) => [id, [...fields].sort()]));
}
