// SPDX-License-Identifier: Apache-2.0

export interface MermaidEdge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/** A Mermaid flowchart. Characters of names that have a meaning in Mermaid are written as character codes. */
export function mermaid(edges: readonly MermaidEdge[]): string {
  const names = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];
  const ids = new Map(names.map((name, index) => [name, `n${index}`]));
  const nodes = names.map((name) => `  ${ids.get(name)}["${escapeMermaid(name)}"]`);
  const arrows = edges.map(({ from, to, label }) => {
    const text = label === "" ? "" : `|"${escapeMermaid(label)}"|`;
    return `  ${ids.get(from)} -->${text} ${ids.get(to)}`;
  });
  return `flowchart LR\n${[...nodes, ...new Set(arrows)].join("\n")}\n`;
}

function escapeMermaid(text: string): string {
  return [...text].map((one) => (/[\p{L}\p{N} ./_:-]/u.test(one) ? one : `#${one.codePointAt(0)};`)).join("");
}
