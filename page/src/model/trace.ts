// SPDX-License-Identifier: Apache-2.0
import { neighbors } from "../layout/digraph";

/** Distance in edges of each reachable node: negative upstream, positive downstream. */
export type LineageTrace = ReadonlyMap<number, number>;

interface Edges {
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/** All nodes upstream and downstream of a node, and the node itself at distance 0. */
export function traceLineage(count: number, edges: Edges, start: number): LineageTrace {
  const found = new Map<number, number>([[start, 0]]);
  walk(count, edges.to, edges.from, start, -1, found);
  walk(count, edges.from, edges.to, start, 1, found);
  return found;
}

/** The nodes within a number of edges of a node, in any direction, and the node itself. */
export function traceNeighborhood(count: number, { from, to }: Edges, start: number, hops: number): ReadonlySet<number> {
  const sides = [neighbors(count, from, to), neighbors(count, to, from)];
  const found = new Set([start]);
  let frontier = [start];
  for (let distance = 0; distance < hops; distance++) {
    const next: number[] = [];
    for (const node of frontier) {
      for (const side of sides) {
        for (let at = side.start[node]; at < side.start[node + 1]; at++) {
          const other = side.list[at];
          if (found.has(other)) continue;
          found.add(other);
          next.push(other);
        }
      }
    }
    frontier = next;
  }
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
  const { start, list } = neighbors(count, keys, values);
  const seen = new Set([first]);
  let frontier: number[] = [first];
  for (let distance = step; frontier.length > 0; distance += step) {
    const next: number[] = [];
    for (const node of frontier) {
      for (let at = start[node]; at < start[node + 1]; at++) {
        const other = list[at];
        if (seen.has(other)) continue;
        seen.add(other);
        next.push(other);
        // A node that is both upstream and downstream (a cycle) counts as upstream.
        if (!found.has(other)) found.set(other, distance);
      }
    }
    frontier = next;
  }
}
