// SPDX-License-Identifier: Apache-2.0
import type { Field } from "./apiTypes";

/** Change of one column between two schema versions; `text` is its type, or both types if the type changed. */
export interface SchemaChange {
  readonly kind: "added" | "removed" | "changed";
  readonly column: string;
  readonly text: string;
}

/** Compare two schema versions; nested columns by path. */
export function schemaChanges(before: readonly Field[], after: readonly Field[]): SchemaChange[] {
  const [previous, current] = [typesOf(before), typesOf(after)];
  const changes: SchemaChange[] = [];
  for (const [column, type] of current) {
    const previousType = previous.get(column);
    if (previousType === undefined) changes.push({ kind: "added", column, text: type });
    else if (previousType !== type)
      changes.push({ kind: "changed", column, text: `${previousType || "unknown"} → ${type || "unknown"}` });
  }
  for (const [column, type] of previous) if (!current.has(column)) changes.push({ kind: "removed", column, text: type });
  return changes;
}

function typesOf(fields: readonly Field[], above = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const field of fields) {
    found.set(`${above}${field.name}`, field.type ?? "");
    for (const [path, type] of typesOf(field.fields ?? [], `${above}${field.name}.`)) found.set(path, type);
  }
  return found;
}
