// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { escaped, svg } from "../src/model/svg";
import { csv, mermaid } from "../src/model/tables";

test("CSV quotes what must be, and lets no cell become a formula", () => {
  const rows = [
    { name: 'a "b", c', formula: "=1+2", count: -3 },
    { name: "two\nlines", formula: "@x", count: 4 },
  ];
  expect(csv(rows)).toBe('name,formula,count\r\n"a ""b"", c",\'=1+2,-3\r\n"two\nlines",\'@x,4\r\n');
});

test("Mermaid gets names as character codes where they mean something", () => {
  const made = mermaid([
    { from: 'a"]', to: "b", label: "x|y" },
    { from: 'a"]', to: "b", label: "x|y" },
  ]);
  expect(made).toBe('flowchart LR\n  n0["a#34;#93;"]\n  n1["b"]\n  n0 -->|"x#124;y"| n1\n');
});

const colors = {
  ground: "#fff",
  card: "#fff",
  border: "#000",
  text: "#000",
  faint: "#777",
  line: "#888",
  font: 'a, "b"',
};

test("SVG holds names as text and nothing that runs", () => {
  const card = {
    title: "<script>alert(1)</script>",
    subtitle: '"&\u0000',
    round: true,
    color: "#000",
    icon: "M0 0",
    x: 100,
    y: 50,
  };
  const made = svg([card], [{ points: [0, 0, 50, 50], dash: "2 5", label: "a<b" }], 200, 100, colors);
  expect(made).not.toContain("<script");
  expect(made).toContain("&lt;script&gt;");
  expect(made).toContain("&quot;&amp;\ufffd");
  expect(made).toContain("a&lt;b");
  expect(escaped("'")).toBe("&apos;");
});

test("SVG says by sign and dashes what became of a card or line", () => {
  const mark = { sign: "−", color: "#a51d1d", dash: "4 4" };
  const card = { title: "gone", subtitle: "", round: false, color: "#000", icon: "M0 0", x: 100, y: 50, mark };
  const made = svg([card], [{ points: [0, 0, 50, 50], dash: "4 4", label: "", mark }], 200, 100, colors);
  expect(made.match(/>−<\/text>/g)).toHaveLength(2);
  expect(made.match(/stroke-dasharray="4 4"/g)).toHaveLength(2);
  expect(made.match(/stroke="#a51d1d"/g)).toHaveLength(2);
});
