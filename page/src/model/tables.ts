// SPDX-License-Identifier: Apache-2.0

/** One row of an exported list: every row has the same keys. */
export type Row = Readonly<Record<string, string | number | boolean>>;

/**
 * Comma-separated values (RFC 4180). A cell that a spreadsheet would take for a formula gets a quote in front: names
 * come from strangers.
 */
export function csv(rows: readonly Row[]): string {
  const keys = Object.keys(rows[0] ?? {});
  const lines = [keys, ...rows.map((row) => keys.map((key) => row[key] ?? ""))];
  return lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("");
}

function cell(value: string | number | boolean): string {
  const text = String(value);
  const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export interface MermaidEdge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/** A flowchart in Mermaid's language. Names are written as character codes wherever they could mean anything in it. */
export function mermaid(edges: readonly MermaidEdge[]): string {
  const names = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];
  const place = new Map(names.map((name, at) => [name, `n${at}`]));
  const nodes = names.map((name) => `  ${place.get(name)}["${harmless(name)}"]`);
  const arrows = edges.map(({ from, to, label }) => {
    const text = label === "" ? "" : `|"${harmless(label)}"|`;
    return `  ${place.get(from)} -->${text} ${place.get(to)}`;
  });
  return `flowchart LR\n${[...nodes, ...new Set(arrows)].join("\n")}\n`;
}

function harmless(text: string): string {
  return [...text].map((one) => (/[\p{L}\p{N} ./_:-]/u.test(one) ? one : `#${one.codePointAt(0)};`)).join("");
}
