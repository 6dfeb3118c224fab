// SPDX-License-Identifier: Apache-2.0
import type { QualifiedName } from "./apiTypes";
import type { Graph } from "./graph";

/** A dataset or job in a finding. */
export interface TypedNode extends QualifiedName {
  readonly type: "DATASET" | "JOB";
}

/** Something that changed upstream. `run` is the first run that carried it; null if runs are missing. */
export interface CauseChange {
  readonly kind: string;
  readonly node: TypedNode;
  readonly at: string;
  readonly run: string | null;
  readonly job: QualifiedName;
  readonly summary: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Response of `/api/v1/cause`: changes with the best explanation first; the first `likely` explain the number. */
export interface CauseResponse {
  readonly since: string;
  readonly until: string;
  readonly events: number;
  readonly likely: number;
  readonly causes: readonly (CauseChange & {
    readonly score: number;
    readonly distance: number;
    readonly carried: readonly TypedNode[];
    readonly explains: readonly CauseChange[];
  })[];
}

/** Periods that the cause view offers, in milliseconds. */
export const CAUSE_PERIODS: readonly (readonly [string, number])[] = [
  ["last hour", 3_600_000],
  ["last day", 24 * 3_600_000],
  ["last week", 7 * 24 * 3_600_000],
];

/** Period before a problem began in which its cause is searched. */
const BEFORE_PROBLEM_MS = 24 * 3_600_000;

/** Time from which the cause of a problem is searched: a day before it began, or before now if that is not known. */
export function causeSince(problem: string | null, now: number): string {
  return new Date((problem === null ? now : Date.parse(problem)) - BEFORE_PROBLEM_MS).toISOString();
}

/** Index of the dataset whose cause is searched: the node itself, or what a job writes, or else reads; -1 if none. */
export function causeSubject(graph: Graph, node: number): number {
  if (node < 0 || graph.nodes[node].kind === "dataset") return node;
  const written = graph.from.indexOf(node);
  if (written >= 0) return graph.to[written];
  const read = graph.to.indexOf(node);
  return read >= 0 ? graph.from[read] : -1;
}
