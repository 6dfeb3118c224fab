// SPDX-License-Identifier: Apache-2.0
import { type Neighbors, neighbors } from "../layout/digraph";
import type { Graph, GraphNode, State } from "./graph";
import type { FailedCheck, QualifiedName } from "./apiTypes";
import { nodeId } from "./ids";
import { displayText } from "./names";

export interface LabResponse {
  readonly name: string | null;
  readonly services: readonly {
    readonly name: string;
    readonly title: string;
    readonly ui: string | null;
    readonly state: "up" | "down";
    readonly answer: string;
    readonly milliseconds: number;
  }[];
}

export interface StatsResponse {
  readonly logged: number;
  readonly accepted: number;
  readonly duplicates: number;
  readonly listeners: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly deadLetters: Readonly<Record<string, number>>;
  readonly unapplied: readonly { readonly error: string }[];
}

export interface ContractFinding {
  readonly kind: string;
  readonly subject: string;
  readonly job: string;
  readonly text: string;
  readonly expected: string;
  readonly found: string;
}

/** `unlisted` are jobs of others, which are no deviations; `datasets` those of which schema or freshness is demanded. */
export interface ContractReport {
  readonly ok: boolean;
  readonly jobs: readonly string[];
  readonly datasets: readonly string[];
  readonly findings: readonly ContractFinding[];
  readonly unlisted: readonly ContractFinding[];
}

/** Response of `/api/v1/schema-breaks`. */
export interface SchemaBreaksResponse {
  readonly breaks: readonly (QualifiedName & {
    /** Event time of the first statement with the current columns (RFC 3339). */
    readonly since: string;
    readonly removed: readonly string[];
    readonly retyped: readonly { readonly column: string; readonly before: string; readonly after: string }[];
  })[];
}

export const ALERT_KINDS = {
  service: "Services that do not respond",
  failed: "Failed jobs",
  stale: "Stale jobs: running, but silent",
  quality: "Failed data quality checks",
  schema: "Schema changes that can break readers",
  lost: "Runs that ended without an event of their own",
  events: "Events that are not in the graph",
  contract: "Lineage contract",
} as const;
export type AlertKind = keyof typeof ALERT_KINDS;

/** A problem to show in the lab view. */
export interface Alert {
  readonly level: "error" | "warning";
  readonly kind: AlertKind;
  /** Subject of the problem, for muting: a node id, or the name of a service or count. */
  readonly subject: string;
  readonly text: string;
  /** Id of the affected node, if any. */
  readonly node?: string;
  /** Start of the problem (RFC 3339); null if it is not known. */
  readonly since: string | null;
  /** Number of datasets and jobs downstream of the node, at most `MAX_AFFECTED`. */
  readonly affected: number;
}

/** Downstream nodes are counted up to this number: hundreds of alerts must not take seconds. */
export const MAX_AFFECTED = 1_000;

export interface AlertSources {
  /** Results of `jobAlerts` and `schemaAlerts`. */
  readonly nodes: readonly Alert[];
  readonly lab: LabResponse | null;
  readonly stats: StatsResponse | null;
  readonly contract: ContractReport | null;
}

/** Identifies an occurrence of a problem: the same problem at a later time has another key. */
export function alertKey({ kind, subject, since, text }: Alert): string {
  return [kind, subject, since ?? text].join(" ");
}

/**
 * Current problems: errors before warnings, then those with the most affected nodes, then the newest.
 *
 * Responses that have not arrived yet (null) raise none.
 */
export function alerts({ nodes, lab, stats, contract }: AlertSources): Alert[] {
  const found = [...serviceAlerts(lab), ...nodes, ...eventAlerts(stats), ...contractAlerts(contract)];
  return found.sort(
    (a, b) =>
      (a.level === b.level ? 0 : a.level === "error" ? -1 : 1) ||
      b.affected - a.affected ||
      Date.parse(b.since ?? "1970-01-01") - Date.parse(a.since ?? "1970-01-01"),
  );
}

/** Alerts of one kind, in the order of their first ones. */
export function alertsByKind(found: readonly Alert[]): [AlertKind, Alert[]][] {
  const groups = new Map<AlertKind, Alert[]>();
  for (const alert of found) groups.set(alert.kind, [...(groups.get(alert.kind) ?? []), alert]);
  return [...groups];
}

function serviceAlerts(lab: LabResponse | null): Alert[] {
  return (lab?.services ?? [])
    .filter(({ state }) => state === "down")
    .map(({ name, title, answer }) => ({
      ...GENERAL,
      kind: "service",
      subject: name,
      text: `${displayText(title)} does not respond: ${displayText(answer)}`,
    }));
}

/** Alerts of jobs, without those that are over (1 in `inactive`). A run that somebody stopped raises none. */
export function jobAlerts(graph: Graph, inactive: Uint8Array, stateOf: (node: GraphNode) => State): Alert[] {
  const successors = neighbors(graph.nodes.length, graph.from, graph.to);
  const indexById = new Map(graph.nodes.map(({ id }, at) => [id, at]));
  return graph.nodes.flatMap((node, at) => {
    if (inactive[at] === 1) return [];
    const problem = jobProblem(node, stateOf(node));
    const found = problem ? [{ ...problem, subject: node.id, node: node.id, affected: countReachable(successors, at) }] : [];
    return [...found, ...qualityAlerts(node, (id) => countReachable(successors, indexById.get(id) ?? at))];
  });
}

/** One alert for each dataset with checks that failed in the latest run of a job. */
function qualityAlerts(job: GraphNode, affectedBy: (id: string) => number): Alert[] {
  const checks = new Map<string, FailedCheck[]>();
  for (const check of job.failedChecks) {
    const id = nodeId("dataset", check);
    checks.set(id, [...(checks.get(id) ?? []), check]);
  }
  return [...checks].map(([id, failed]) => ({
    level: "error",
    kind: "quality",
    subject: id,
    node: id,
    text: `${displayText(failed[0].name)}: ${failed.map(checkText).join(", ")} (${displayText(job.name)})`,
    since: job.endedAt ?? job.updatedAt,
    affected: affectedBy(id),
  }));
}

/** Time after which a schema change is not reported any more: readers that it breaks have failed, or never run. */
const SCHEMA_ALERT_MS = 7 * 24 * 3_600_000;

/** Columns that an alert names. */
const MAX_NAMED = 3;

/**
 * Datasets of which columns were removed or retyped, until all readers have run with the new schema.
 *
 * A reader has if a run that began later completed, or is running. A reader that failed since makes it an error. Times
 * are relative to the newest event, so that a graph that gets no events keeps its alerts.
 */
export function schemaAlerts(
  graph: Graph,
  inactive: Uint8Array,
  stateOf: (node: GraphNode) => State,
  found: SchemaBreaksResponse | null,
): Alert[] {
  if (found === null || found.breaks.length === 0) return [];
  const indexById = new Map(graph.nodes.map(({ id }, at) => [id, at]));
  const successors = neighbors(graph.nodes.length, graph.from, graph.to);
  const newest = graph.nodes.reduce((last, { updatedAt }) => Math.max(last, Date.parse(updatedAt ?? "") || 0), 0);
  return found.breaks.flatMap((change) => {
    const id = nodeId("dataset", change);
    const at = indexById.get(id);
    const changed = Date.parse(change.since);
    if (at === undefined || inactive[at] === 1 || newest - changed > SCHEMA_ALERT_MS) return [];
    const readers = [...successors.list.slice(successors.start[at], successors.start[at + 1])]
      .filter((reader) => inactive[reader] !== 1)
      .map((reader) => graph.nodes[reader]);
    const waiting = readers.filter((reader) => !hasRunSince(reader, stateOf(reader), changed));
    if (waiting.length === 0) return [];
    const failed = waiting.some((reader) => stateOf(reader) === "failed" && Date.parse(reader.endedAt ?? "") > changed);
    return [
      {
        level: failed ? "error" : "warning",
        kind: "schema",
        subject: id,
        node: id,
        text: `${displayText(change.name)}: ${schemaText(change)}; not run with it yet: ${listed(waiting.map(({ name }) => name))}`,
        since: change.since,
        affected: countReachable(successors, at),
      },
    ];
  });
}

function hasRunSince({ startedAt }: GraphNode, state: State, time: number): boolean {
  return (state === "completed" || state === "running") && startedAt !== null && Date.parse(startedAt) > time;
}

function schemaText({ removed, retyped }: SchemaBreaksResponse["breaks"][number]): string {
  return [
    ...(removed.length > 0 ? [`${listed(removed)} removed`] : []),
    ...(retyped.length > 0 ? [`type of ${listed(retyped.map(({ column }) => column))} changed`] : []),
  ].join(", ");
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).map(displayText).join(", ");
  return names.length > MAX_NAMED ? `${shown} and ${names.length - MAX_NAMED} more` : shown;
}

function checkText({ assertion, column }: FailedCheck): string {
  const name = displayText(assertion ?? "check");
  return column === null ? name : `${name} of ${displayText(column)}`;
}

function jobProblem(node: GraphNode, state: State): Pick<Alert, "level" | "kind" | "text" | "since"> | null {
  const name = displayText(node.name);
  switch (state) {
    case "failed":
      return { level: "error", kind: "failed", text: `${name} failed`, since: node.endedAt ?? node.updatedAt };
    case "stale":
      return { level: "error", kind: "stale", text: `${name} is running but sends no events`, since: node.updatedAt };
    case "aborted":
      return node.streaming && node.endedBecause !== null
        ? { level: "warning", kind: "lost", text: `${name}: ${displayText(node.endedBecause)}`, since: node.endedAt }
        : null;
    default:
      return null;
  }
}

function eventAlerts(stats: StatsResponse | null): Alert[] {
  const counts: [string, number, string][] = [
    ...Object.entries(stats?.deadLetters ?? {}).map(([kind, count]): [string, number, string] => [
      `dead letters: ${kind}`,
      count,
      `${count} dead letters (${kind}); see /api/v1/dead-letters`,
    ]),
    [
      "unapplied",
      stats?.unapplied.length ?? 0,
      `${stats?.unapplied.length ?? 0} events could not be applied to the graph`,
    ],
  ];
  return counts
    .filter(([, count]) => count > 0)
    .map(([subject, , text]) => ({ ...GENERAL, kind: "events", subject, text }));
}

function contractAlerts(contract: ContractReport | null): Alert[] {
  if (!contract || contract.ok) return [];
  const count = contract.findings.length;
  const text = `${count} difference${count === 1 ? "" : "s"} from the lineage contract`;
  return [{ ...GENERAL, level: "warning", kind: "contract", subject: "contract", text }];
}

/** Attributes of an alert without a node. */
const GENERAL = { level: "error", since: null, affected: 0 } as const;

/** Number of nodes reachable from a node, up to a maximum. */
function countReachable({ start, list }: Neighbors, first: number): number {
  const seen = new Set([first]);
  for (const node of seen) {
    for (let at = start[node]; at < start[node + 1] && seen.size <= MAX_AFFECTED; at++) seen.add(list[at]);
  }
  return seen.size - 1;
}
