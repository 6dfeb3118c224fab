// SPDX-License-Identifier: Apache-2.0
import type { Graph, GraphNode } from "./graph";

const HOUR_MS = 3_600_000;

/** Time after its end at which a streaming job, such as a deleted connector, counts as inactive. */
export const STREAMING_MS = HOUR_MS;

/** Silence after which a batch job, a failed job or a stale one counts as inactive. */
export const SILENT_MS = 7 * 24 * HOUR_MS;

/**
 * The nodes that are over, by index: jobs that were stopped or have been silent, and datasets that only such jobs use and
 * that nothing has mentioned meanwhile. Dropped datasets are not in the graph.
 *
 * Ages are relative to the newest event, so that a lab that was stopped as a whole stays visible.
 */
export function inactiveNodes({ nodes, from, to }: Graph): Uint8Array {
  const newest = nodes.reduce((latest, { updatedAt }) => Math.max(latest, time(updatedAt) ?? 0), 0);
  const inactive = Uint8Array.from(nodes, (node) => (node.kind === "job" && isOver(node, newest) ? 1 : 0));
  const jobs = new Int32Array(nodes.length);
  const activeJobs = new Int32Array(nodes.length);
  for (let edge = 0; edge < from.length; edge++) {
    const [job, dataset] = nodes[from[edge]].kind === "job" ? [from[edge], to[edge]] : [to[edge], from[edge]];
    jobs[dataset]++;
    if (!inactive[job]) activeJobs[dataset]++;
  }
  nodes.forEach((node, at) => {
    if (node.kind !== "dataset") return;
    const unused = jobs[at] > 0 && activeJobs[at] === 0 && ageOf(node.updatedAt, newest) > STREAMING_MS;
    if (unused) inactive[at] = 1;
  });
  return inactive;
}

function isOver({ state, streaming, endedAt, updatedAt }: GraphNode, newest: number): boolean {
  const stopped = streaming && (state === "aborted" || state === "completed");
  return stopped ? ageOf(endedAt ?? updatedAt, newest) > STREAMING_MS : ageOf(updatedAt, newest) > SILENT_MS;
}

/** Age in milliseconds; 0 without a time. */
function ageOf(text: string | null, newest: number): number {
  return newest - (time(text) ?? newest);
}

function time(text: string | null): number | undefined {
  const parsed = Date.parse(text ?? "");
  return Number.isNaN(parsed) ? undefined : parsed;
}
