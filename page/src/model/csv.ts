// SPDX-License-Identifier: Apache-2.0

/** A row of an exported table. All rows of a table have the same keys. */
export type CsvRow = Readonly<Record<string, string | number | boolean>>;

/**
 * Comma-separated values (RFC 4180) with a header line.
 *
 * Names are untrusted: text that a spreadsheet would evaluate as a formula gets an apostrophe in front.
 */
export function csv(rows: readonly CsvRow[]): string {
  const keys = Object.keys(rows[0] ?? {});
  const lines = [keys, ...rows.map((row) => keys.map((key) => row[key] ?? ""))];
  return lines.map((line) => `${line.map(csvCell).join(",")}\r\n`).join("");
}

function csvCell(value: string | number | boolean): string {
  const text = String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
