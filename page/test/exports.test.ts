// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { escapeXml, svgDocument } from "../src/model/svg";
import { csv } from "../src/model/csv";
import { mermaid } from "../src/model/mermaid";

test("CSV quotes cells and escapes formulas", () => {
  const rows = [
    { name: 'a "b", c', formula: "=1+2", count: -3 },
    { name: "two\nlines", formula: "@x", count: 4 },
  ];
  expect(csv(rows)).toBe('name,formula,count\r\n"a ""b"", c",\'=1+2,-3\r\n"two\nlines",\'@x,4\r\n');
});

test("Mermaid escapes special characters and removes duplicate edges", () => {
  const made = mermaid([
    { from: 'a"]', to: "b", label: "x|y" },
    { from: 'a"]', to: "b", label: "x|y" },
  ]);
  expect(made).toBe('flowchart LR\n  n0["a#34;#93;"]\n  n1["b"]\n  n0 -->|"x#124;y"| n1\n');
});

const colors = {
  background: "#fff",
  card: "#fff",
  border: "#000",
  text: "#000",
  faint: "#777",
  edge: "#888",
  font: 'a, "b"',
};

test("SVG escapes names and contains no script", () => {
  const card = {
    title: "<script>alert(1)</script>",
    subtitle: '"&\u0000',
    round: true,
    color: "#000",
    icon: "M0 0",
    x: 100,
    y: 50,
  };
  const made = svgDocument([card], [{ points: [0, 0, 50, 50], dash: "2 5", label: "a<b" }], 200, 100, colors);
  expect(made).not.toContain("<script");
  expect(made).toContain("&lt;script&gt;");
  expect(made).toContain("&quot;&amp;\ufffd");
  expect(made).toContain("a&lt;b");
  expect(escapeXml("'")).toBe("&apos;");
});

test("SVG shows the diff status of cards and edges by sign, color and dashes", () => {
  const diffBadge = { sign: "−", color: "#a51d1d", dash: "4 4" };
  const card = { title: "removed", subtitle: "", round: false, color: "#000", icon: "M0 0", x: 100, y: 50, diffBadge };
  const made = svgDocument([card], [{ points: [0, 0, 50, 50], dash: "4 4", label: "", diffBadge }], 200, 100, colors);
  expect(made.match(/>−<\/text>/g)).toHaveLength(2);
  expect(made.match(/stroke-dasharray="4 4"/g)).toHaveLength(2);
  expect(made.match(/stroke="#a51d1d"/g)).toHaveLength(2);
});
