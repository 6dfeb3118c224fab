// SPDX-License-Identifier: Apache-2.0
import { type Engine, engineOfDataset, engineOfJob } from "./engines";
import type { DatasetSummary, GraphExport, JobSummary, Pair, Summaries } from "./apiTypes";
import { type Kind, nodeId } from "./ids";

/** The state of a job is that of its latest run; datasets have none. */
export type State = "running" | "stale" | "failed" | "aborted" | "completed" | "new" | "none";

export const STATES: readonly State[] = ["running", "stale", "failed", "aborted", "completed", "new", "none"];

/** A job or dataset, with what the graph view and the search need to know of it. */
export interface GraphNode extends Pair {
  readonly id: string;
  readonly kind: Kind;
  readonly engine: Engine;
  readonly streaming: boolean;
  readonly state: State;
  readonly tags: readonly string[];
  readonly owners: readonly string[];
  readonly description: string | null;
  readonly updatedAt: string | null;
  readonly startedAt: string | null;
  readonly runs: number;
  /** Other names of a dataset, as `lake.sales.orders`. */
  readonly aliases: readonly string[];
  readonly columns: number;
  /** The columns that an emitter says are masked on their way into this dataset. */
  readonly masked: readonly string[];
}

/** Jobs and datasets, and which feeds which: edge i goes from node `from[i]` to node `to[i]`. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly from: Int32Array;
  readonly to: Int32Array;
}

export const EMPTY_GRAPH: Graph = { nodes: [], from: new Int32Array(0), to: new Int32Array(0) };

const STATE_OF: Readonly<Record<string, State>> = {
  NEW: "new",
  RUNNING: "running",
  COMPLETED: "completed",
  ABORTED: "aborted",
  FAILED: "failed",
};

/** The state as the page names it; a name that is not known is none. */
export function stateOf(state: string | null | undefined, stale = false): State {
  const found = STATE_OF[state ?? ""] ?? "none";
  return found === "running" && stale ? "stale" : found;
}

/** The graph of summaries. */
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

/** What an export tells of the present's summaries: of the past there is nothing more. */
export function summariesOf(found: GraphExport): Summaries {
  const about = { updatedAt: null, tags: [], owners: [], description: null };
  const masked = maskedColumns(found);
  const places = new Map(found.datasets.map((dataset, place) => [nodeId("dataset", dataset), place]));
  const uses = new Map(
    found.jobs.map((job) => [nodeId("job", job), { input: [] as number[], output: [] as number[] }]),
  );
  for (const { job, direction, dataset } of found.edges) {
    const place = places.get(nodeId("dataset", dataset));
    if (place !== undefined) uses.get(nodeId("job", job))?.[direction].push(place);
  }
  return {
    jobs: found.jobs.map((job) => {
      const { input: inputs, output: outputs } = uses.get(nodeId("job", job))!;
      return {
        ...about,
        ...job,
        engine: null,
        processing: job.type,
        stale: false,
        runs: 0,
        startedAt: null,
        inputs,
        outputs,
      };
    }),
    datasets: found.datasets.map((dataset) => ({
      ...about,
      ...dataset,
      columns: dataset.fields.length,
      columnTags: {},
      masked: masked.get(nodeId("dataset", dataset)) ?? [],
    })),
  };
}

/** The same graph without jobs that move no data: applications whose actions are jobs of their own, mostly. */
export function withoutIdleJobs(graph: Graph): Graph {
  const used = new Uint8Array(graph.nodes.length);
  for (const ends of [graph.from, graph.to]) for (const node of ends) used[node] = 1;
  const kept = graph.nodes.map((node, at) => node.kind === "dataset" || used[at] === 1);
  return kept.every(Boolean) ? graph : subgraph(graph, kept);
}

/** The nodes that are kept, and the edges between them. */
export function subgraph(graph: Graph, kept: readonly boolean[]): Graph {
  const place = new Int32Array(graph.nodes.length).fill(-1);
  const nodes = graph.nodes.filter((_, at) => kept[at]);
  let next = 0;
  kept.forEach((keep, at) => keep && (place[at] = next++));
  const edges = Array.from(graph.from, (_, edge) => edge).filter(
    (edge) => kept[graph.from[edge]] && kept[graph.to[edge]],
  );
  return {
    nodes,
    from: Int32Array.from(edges, (edge) => place[graph.from[edge]]),
    to: Int32Array.from(edges, (edge) => place[graph.to[edge]]),
  };
}

/** Whether two graphs look the same but for the states and times of their nodes, so that a layout may stay. */
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
    aliases: NONE,
    columns: 0,
    masked: NONE,
  };
}

function datasetNode(dataset: DatasetSummary): GraphNode {
  const engine = engineOfDataset(dataset.namespace, dataset.symlinks);
  return {
    ...about(dataset),
    id: nodeId("dataset", dataset),
    kind: "dataset",
    engine,
    streaming: engine === "kafka",
    state: "none",
    startedAt: null,
    runs: 0,
    aliases: shared(dataset.symlinks.map(({ name }) => name)),
    columns: dataset.columns,
    masked: shared(dataset.masked),
  };
}

function about({ namespace, name, tags, owners, description, updatedAt }: JobSummary | DatasetSummary) {
  return { namespace, name, tags: shared(tags), owners: shared(owners), description, updatedAt };
}

const NONE: readonly string[] = [];

/** One empty list for all: between threads it is then copied once, not for each of ten thousand nodes. */
function shared(texts: readonly string[]): readonly string[] {
  return texts.length === 0 ? NONE : texts;
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
