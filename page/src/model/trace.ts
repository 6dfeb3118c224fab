// SPDX-License-Identifier: Apache-2.0
import { neighbours } from "../layout/digraph";

/** Distances in edges from a node: up to what feeds it (negative), down to what it feeds (positive). */
export type Trace = ReadonlyMap<number, number>;

interface Edges {
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/** Everything upstream and downstream of a node, the node itself at 0. */
export function trace(count: number, edges: Edges, start: number): Trace {
  const found = new Map<number, number>([[start, 0]]);
  walk(count, edges.to, edges.from, start, -1, found);
  walk(count, edges.from, edges.to, start, 1, found);
  return found;
}

function walk(
  count: number,
  keys: Int32Array,
  values: Int32Array,
  first: number,
  step: number,
  found: Map<number, number>,
): void {
  const { start, list } = neighbours(count, keys, values);
  const seen = new Set([first]);
  let edge: number[] = [first];
  for (let distance = step; edge.length > 0; distance += step) {
    const next: number[] = [];
    for (const node of edge) {
      for (let at = start[node]; at < start[node + 1]; at++) {
        const other = list[at];
        if (seen.has(other)) continue;
        seen.add(other);
        next.push(other);
        // What is both up- and downstream (a cycle) keeps its place upstream.
        if (!found.has(other)) found.set(other, distance);
      }
    }
    edge = next;
  }
}
