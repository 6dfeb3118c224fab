// SPDX-License-Identifier: Apache-2.0
import { type DiffStatuses, filterStatuses } from "./diff";
import { type Graph, subgraph } from "./graph";
import { traceLineage, traceNeighborhood } from "./trace";

/** Which part of the graph to draw. */
export interface Selection {
  /** Index of the selected node; -1 for none. */
  readonly node: number;
  /** Only the nodes upstream and downstream of the selected node. */
  readonly only: boolean;
  /** Only the nodes within this number of edges of the selected node; 0 for no limit. */
  readonly hops: number;
  /** Also jobs and datasets that are over. */
  readonly inactive: boolean;
}

export interface SelectedGraph {
  readonly graph: Graph;
  readonly statuses: DiffStatuses | null;
  /** 1 for each node of `graph` that is over. */
  readonly inactive: Uint8Array;
  /** Number of nodes that are over and not in `graph`. */
  readonly hidden: number;
}

/**
 * Select the part of a graph to draw.
 *
 * `inactive` is 1 for each node that is over. The selected node is drawn in any case, and so is every node of a
 * comparison: what ended is a change to show.
 */
export function selectGraph(
  all: Graph,
  statuses: DiffStatuses | null,
  inactive: Uint8Array,
  choice: Selection,
): SelectedGraph {
  const reached = reachedNodes(all, choice);
  const showsAll = choice.inactive || statuses !== null;
  let hidden = 0;
  const kept = all.nodes.map((_, at) => {
    if (reached !== null && !reached.has(at)) return false;
    if (showsAll || inactive[at] === 0 || at === choice.node) return true;
    hidden++;
    return false;
  });
  if (kept.every(Boolean)) return { graph: all, statuses, inactive, hidden };
  return {
    graph: subgraph(all, kept),
    statuses: statuses && filterStatuses(statuses, all, kept),
    inactive: inactive.filter((_, at) => kept[at]),
    hidden,
  };
}

function reachedNodes(all: Graph, { node, only, hops }: Selection): { has(at: number): boolean } | null {
  if (node < 0) return null;
  if (only) return traceLineage(all.nodes.length, all, node);
  return hops > 0 ? traceNeighborhood(all.nodes.length, all, node, hops) : null;
}
