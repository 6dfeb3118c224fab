// SPDX-License-Identifier: Apache-2.0
import { neighbors } from "../layout/digraph";
import type { Graph } from "./graph";
import { nodeId } from "./ids";

/**
 * Datasets with failed data quality checks, and all that are derived from them: id -> id of the dataset whose checks failed.
 *
 * They are suspect until the latest run of the checks passes. Checks of jobs that are over (1 in `inactive`) do not count.
 */
export function suspectDatasets(graph: Graph, inactive: Uint8Array): ReadonlyMap<string, string> {
  const failed: string[] = [];
  graph.nodes.forEach(({ failedChecks }, at) => {
    if (inactive[at] !== 1) for (const check of failedChecks) failed.push(nodeId("dataset", check));
  });
  if (failed.length === 0) return NONE;
  const indexById = new Map(graph.nodes.map(({ id }, at) => [id, at]));
  const { start, list } = neighbors(graph.nodes.length, graph.from, graph.to);
  const causes = new Map<number, number>();
  for (const id of failed) {
    const at = indexById.get(id);
    if (at !== undefined) causes.set(at, at);
  }
  // Breadth first, so that the cause of each is the nearest one: a map yields what is added during the iteration.
  for (const [node, cause] of causes) {
    for (let at = start[node]; at < start[node + 1]; at++) {
      if (!causes.has(list[at])) causes.set(list[at], cause);
    }
  }
  return new Map(
    [...causes]
      .filter(([node]) => graph.nodes[node].kind === "dataset")
      .map(([node, cause]) => [graph.nodes[node].id, graph.nodes[cause].id]),
  );
}

const NONE: ReadonlyMap<string, string> = new Map();
