// SPDX-License-Identifier: Apache-2.0
/** Metadata of a node that users state, and its text in a form, with one owner or tag per line. */

export interface Owner {
  readonly name: string;
  readonly type: string;
}

export interface Tag {
  readonly key: string;
  readonly value: string;
}

export interface ColumnMetadata {
  readonly description: string;
  readonly tags: readonly Tag[];
}

export interface Metadata {
  readonly description: string;
  readonly owners: readonly Owner[];
  readonly tags: readonly Tag[];
  readonly columns: Readonly<Record<string, ColumnMetadata>>;
}

const DEFAULT_OWNER = "MAINTAINER";
const DEFAULT_VALUE = "true";

/** `team-data`, or `ann (STEWARD)` for another type than maintainer, each on a line. */
export function formatOwners(owners: readonly Owner[]): string {
  return owners.map(({ name, type }) => (type === DEFAULT_OWNER ? name : `${name} (${type})`)).join("\n");
}

/** Inverse of `formatOwners`; empty lines and spaces around a line are ignored. */
export function parseOwners(text: string): Owner[] {
  return lines(text).map((line) => {
    const found = /^(.*\S)\s*\(([^()]+)\)$/.exec(line);
    return found ? { name: found[1], type: found[2].trim() } : { name: line, type: DEFAULT_OWNER };
  });
}

/** `gold`, or `retention=30d` for another value than true, each on a line. */
export function formatTags(tags: readonly Tag[]): string {
  return tags.map(({ key, value }) => (value === DEFAULT_VALUE ? key : `${key}=${value}`)).join("\n");
}

/** Inverse of `formatTags`; a `=` without a key or value before or behind it is part of the key. */
export function parseTags(text: string): Tag[] {
  return lines(text).map((line) => {
    const found = /^([^=]*[^=\s])\s*=\s*(\S.*)$/.exec(line);
    return found ? { key: found[1], value: found[2] } : { key: line, value: DEFAULT_VALUE };
  });
}

/** True if the texts of the form can express this metadata. Other metadata requires a file. */
export function isEditable({ owners, tags, columns }: Metadata): boolean {
  const same = <Row>(rows: readonly Row[], text: string, parse: (text: string) => Row[]) =>
    JSON.stringify(rows.map(sorted)) === JSON.stringify(parse(text).map(sorted));
  return (
    same(owners, formatOwners(owners), parseOwners) &&
    [tags, ...Object.values(columns).map((column) => column.tags)].every((rows) => same(rows, formatTags(rows), parseTags))
  );
}

/** Columns of the form: those of the schema, then those that are described without being in it. */
export function columnsOf(metadata: Metadata, schema: readonly string[]): string[] {
  return [...new Set([...schema, ...Object.keys(metadata.columns)])];
}

/** Metadata without the columns that have neither description nor tags. */
export function withoutEmptyColumns(metadata: Metadata): Metadata {
  const said = Object.entries(metadata.columns).filter(([, { description, tags }]) => description !== "" || tags.length > 0);
  return { ...metadata, columns: Object.fromEntries(said) };
}

function lines(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

function sorted<Row>(row: Row): [string, unknown][] {
  return Object.entries(row as object).sort(([one], [other]) => (one < other ? -1 : 1));
}
