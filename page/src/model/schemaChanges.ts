// SPDX-License-Identifier: Apache-2.0
import type { Field } from "./apiTypes";

/** What became of one column from one version of a schema to the next; `text` says its type, or both. */
export interface SchemaChange {
  readonly kind: "added" | "removed" | "changed";
  readonly column: string;
  readonly text: string;
}

/** The columns that two versions of a schema differ in; nested ones by their paths. */
export function schemaChanges(before: readonly Field[], after: readonly Field[]): SchemaChange[] {
  const [old, now] = [typesOf(before), typesOf(after)];
  const changes: SchemaChange[] = [];
  for (const [column, type] of now) {
    const was = old.get(column);
    if (was === undefined) changes.push({ kind: "added", column, text: type });
    else if (was !== type)
      changes.push({ kind: "changed", column, text: `${was || "unknown"} → ${type || "unknown"}` });
  }
  for (const [column, type] of old) if (!now.has(column)) changes.push({ kind: "removed", column, text: type });
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
