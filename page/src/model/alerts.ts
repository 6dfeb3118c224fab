// SPDX-License-Identifier: Apache-2.0
import type { GraphNode, State } from "./graph";
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

/** `unlisted` are jobs of others, which are no deviations. */
export interface ContractReport {
  readonly ok: boolean;
  readonly jobs: readonly string[];
  readonly findings: readonly ContractFinding[];
  readonly unlisted: readonly ContractFinding[];
}

/** A problem to show in the lab view. `node` is the affected node, if any. */
export interface Alert {
  readonly level: "error" | "warning";
  readonly text: string;
  readonly node?: string;
}

/** Current problems, errors first. Responses that have not arrived yet (null) raise no alert. */
export function alerts(
  nodes: readonly GraphNode[],
  stateOf: (node: GraphNode) => State,
  lab: LabResponse | null,
  stats: StatsResponse | null,
  contract: ContractReport | null,
): Alert[] {
  const found: Alert[] = [];
  for (const service of lab?.services ?? []) {
    if (service.state === "down")
      found.push({ level: "error", text: `${displayText(service.title)} does not respond: ${displayText(service.answer)}` });
  }
  for (const node of nodes) {
    const state = stateOf(node);
    if (state === "failed") found.push({ level: "error", text: `${displayText(node.name)} failed`, node: node.id });
    if (state === "stale")
      found.push({
        level: "error",
        text: `${displayText(node.name)} is stale: it is running but sends no events`,
        node: node.id,
      });
    if (state === "aborted" && node.streaming)
      found.push({ level: "warning", text: `${displayText(node.name)} was aborted`, node: node.id });
  }
  const dead = Object.entries(stats?.deadLetters ?? {}).filter(([, count]) => count > 0);
  for (const [kind, count] of dead)
    found.push({ level: "error", text: `${count} dead letters (${kind}); see /api/v1/dead-letters` });
  if (stats && stats.unapplied.length > 0)
    found.push({ level: "error", text: `${stats.unapplied.length} events could not be applied to the graph` });
  if (contract && !contract.ok) {
    const count = contract.findings.length;
    found.push({ level: "warning", text: `${count} difference${count === 1 ? "" : "s"} from the lineage contract` });
  }
  return found.sort((a, b) => (a.level === b.level ? 0 : a.level === "error" ? -1 : 1));
}
