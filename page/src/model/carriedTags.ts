// SPDX-License-Identifier: Apache-2.0
import type { ColumnRef, QualifiedName, Summaries } from "./apiTypes";
import type { ColumnIndex } from "./columnPath";
import { columnId, nodeId } from "./ids";

/** A tag that a column has because its values come from a tagged one. */
export interface CarriedTag {
  readonly column: string;
  readonly tag: string;
  readonly origin: ColumnRef;
  /** True if each path aggregates values: single values cannot be read from the column. */
  readonly aggregated: boolean;
}

/**
 * Tags that columns of a dataset get from others, as `lab lineage tags` computes them.
 *
 * They follow edges that carry values: not INDIRECT ones, and not those that mask. An aggregation weakens them.
 */
export function carriedTags(index: ColumnIndex, summaries: Summaries, dataset: QualifiedName, columns: readonly string[]): CarriedTag[] {
  const tagsOf = new Map(summaries.datasets.map((found) => [nodeId("dataset", found), found.columnTags]));
  return columns.flatMap((column) => {
    const start = columnId(dataset, column);
    const reached = upstream(index, start);
    reached.delete(start);
    return [...reached.values()].flatMap(({ origin, aggregated }) =>
      (tagsOf.get(nodeId("dataset", origin))?.[origin.field ?? ""] ?? []).map((tag) => ({ column, tag, origin, aggregated })),
    );
  });
}

interface Reached {
  readonly origin: ColumnRef;
  readonly aggregated: boolean;
}

/** Columns whose values reach a column, by id. A column is visited again if another path does not aggregate. */
function upstream(index: ColumnIndex, start: string): Map<string, Reached> {
  const reached = new Map<string, Reached>();
  const pending: { readonly id: string; readonly aggregated: boolean }[] = [{ id: start, aggregated: false }];
  for (const { id, aggregated } of pending) {
    for (const { from, row } of index.incoming.get(id) ?? []) {
      if (row.type === "INDIRECT" || row.masking || row.input.field === undefined) continue;
      const weak = aggregated || row.subtype === "AGGREGATION";
      const known = reached.get(from);
      if (known && (weak || !known.aggregated)) continue;
      reached.set(from, { origin: row.input, aggregated: weak });
      pending.push({ id: from, aggregated: weak });
    }
  }
  return reached;
}
