// SPDX-License-Identifier: Apache-2.0
import type { JobSummary } from "./apiTypes";
import { type State, stateOf } from "./graph";
import { nodeId } from "./ids";

/** The latest run of a job, with the runs that belong to it. */
export interface RunNode {
  /** Id of the job. */
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  readonly state: State;
  /** Times in milliseconds; null without a START, and while it runs. */
  readonly start: number | null;
  readonly end: number | null;
  readonly children: readonly RunNode[];
}

/** A row of a tree of runs: depth 0 is the root. */
export interface RunRow extends RunNode {
  readonly depth: number;
}

/**
 * Trees of the latest runs: those that others name as their parent, newest first.
 *
 * A run belongs to the latest run of the job that its parent facet names, if that is the run that it names; children of
 * an earlier run are left out. Children are sorted by their start.
 */
export function runTrees(jobs: readonly JobSummary[]): RunNode[] {
  const byId = new Map(jobs.map((job) => [nodeId("job", job), job]));
  const childrenOf = new Map<string, JobSummary[]>();
  const nested = new Set<string>();
  for (const job of jobs) {
    const parent = job.parent === null ? undefined : byId.get(nodeId("job", job.parent));
    if (!parent || parent === job || parent.run !== job.parent!.run) continue;
    const id = nodeId("job", parent);
    childrenOf.set(id, [...(childrenOf.get(id) ?? []), job]);
    nested.add(nodeId("job", job));
  }
  const node = (job: JobSummary, above: ReadonlySet<string>): RunNode => {
    const id = nodeId("job", job);
    // Emitters may name parents in a cycle.
    const path = new Set([...above, id]);
    const children = (childrenOf.get(id) ?? []).filter((child) => !path.has(nodeId("job", child)));
    return {
      id,
      namespace: job.namespace,
      name: job.name,
      state: stateOf(job.state, job.stale),
      start: time(job.startedAt),
      end: time(job.endedAt),
      children: children.map((child) => node(child, path)).sort((a, b) => order(a) - order(b)),
    };
  };
  const roots = jobs.filter((job) => !nested.has(nodeId("job", job)) && childrenOf.has(nodeId("job", job)));
  return roots.map((job) => node(job, new Set())).sort((a, b) => order(b) - order(a));
}

/** The runs of a tree, each after its parent. */
export function runRows(root: RunNode, depth = 0): RunRow[] {
  return [{ ...root, depth }, ...root.children.flatMap((child) => runRows(child, depth + 1))];
}

/** First start and last end of a tree; open runs last until `now`. */
export function timeRange(rows: readonly RunRow[], now: number): { readonly start: number; readonly end: number } {
  const starts = rows.flatMap(({ start }) => (start === null ? [] : [start]));
  const start = Math.min(...starts, now);
  const end = Math.max(...rows.map((row) => (row.start === null ? start : (row.end ?? now))));
  return { start, end: Math.max(end, start + 1) };
}

function order({ start }: RunNode): number {
  return start ?? 0;
}

function time(text: string | null): number | null {
  const parsed = Date.parse(text ?? "");
  return Number.isNaN(parsed) ? null : parsed;
}
