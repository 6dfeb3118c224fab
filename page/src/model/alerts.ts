// SPDX-License-Identifier: Apache-2.0
import type { GraphNode, State } from "./graph";
import { shown } from "./names";

export interface LabAnswer {
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

export interface StatsAnswer {
  readonly logged: number;
  readonly accepted: number;
  readonly duplicates: number;
  readonly listeners: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly deadLetters: Readonly<Record<string, number>>;
  readonly unapplied: readonly { readonly error: string }[];
}

export interface ContractReport {
  readonly ok: boolean;
  readonly jobs: readonly string[];
  readonly findings: readonly {
    readonly kind: string;
    readonly subject: string;
    readonly job: string;
    readonly text: string;
    readonly expected: string;
    readonly found: string;
  }[];
}

/** Something that somebody should look at; `node` is where. */
export interface Alert {
  readonly level: "bad" | "odd";
  readonly text: string;
  readonly node?: string;
}

/** What needs somebody, the worst first. What is not known yet alerts nobody. */
export function alerts(
  nodes: readonly GraphNode[],
  stateOf: (node: GraphNode) => State,
  lab: LabAnswer | null,
  stats: StatsAnswer | null,
  contract: ContractReport | null,
): Alert[] {
  const found: Alert[] = [];
  for (const service of lab?.services ?? []) {
    if (service.state === "down")
      found.push({ level: "bad", text: `${shown(service.title)} does not answer: ${shown(service.answer)}` });
  }
  for (const node of nodes) {
    const state = stateOf(node);
    if (state === "failed") found.push({ level: "bad", text: `${shown(node.name)} has failed`, node: node.id });
    if (state === "stale")
      found.push({
        level: "bad",
        text: `${shown(node.name)} is stale: it should be alive, and is silent`,
        node: node.id,
      });
    if (state === "aborted" && node.streaming)
      found.push({ level: "odd", text: `${shown(node.name)} was stopped`, node: node.id });
  }
  const dead = Object.entries(stats?.deadLetters ?? {}).filter(([, count]) => count > 0);
  for (const [kind, count] of dead)
    found.push({ level: "bad", text: `${count} dead letters (${kind}); see /api/v1/dead-letters` });
  if (stats && stats.unapplied.length > 0)
    found.push({ level: "bad", text: `${stats.unapplied.length} events are not in the graph` });
  if (contract && !contract.ok)
    found.push({ level: "odd", text: `the lineage departs from the contract in ${contract.findings.length} ways` });
  return found.sort((a, b) => (a.level === b.level ? 0 : a.level === "bad" ? -1 : 1));
}
