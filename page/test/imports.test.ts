// SPDX-License-Identifier: Apache-2.0
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const SOURCES = resolve(import.meta.dirname, "../src");
const ENDINGS = ["", ".ts", ".tsx"];

/** Folders that no module of a folder may import. Type imports count too. */
const FORBIDDEN: Readonly<Record<string, readonly string[]>> = {
  layout: ["model", "state", "view", "worker"],
  model: ["state", "view", "worker"],
  worker: ["state", "view"],
  state: ["view"],
};

/** Relative imports by module, as paths below src. A worker's URL is not an import. */
function importGraph(): Map<string, string[]> {
  const modules = (readdirSync(SOURCES, { recursive: true }) as string[]).filter((path) => /\.tsx?$/.test(path));
  return new Map(modules.map((module) => [module, importsOf(module)]));
}

function importsOf(module: string): string[] {
  const text = readFileSync(join(SOURCES, module), "utf8");
  const names = [...text.matchAll(/\b(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(([, name]) => name);
  return names.flatMap((name) => {
    const path = resolve(SOURCES, dirname(module), name);
    const candidates = ENDINGS.map((ending) => path + ending);
    const found = candidates.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
    if (!found) throw new Error(`${module}: import of "${name}" does not resolve to a file`);
    return [relative(SOURCES, found)];
  });
}

/** The first import cycle, as a list of modules that ends with the module it begins with; empty without one. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const finished = new Set<string>();
  const path: string[] = [];
  const visit = (module: string): string[] => {
    const start = path.indexOf(module);
    if (start >= 0) return [...path.slice(start), module];
    if (finished.has(module)) return [];
    path.push(module);
    for (const imported of graph.get(module) ?? []) {
      const cycle = visit(imported);
      if (cycle.length > 0) return cycle;
    }
    path.pop();
    finished.add(module);
    return [];
  };
  for (const module of graph.keys()) {
    const cycle = visit(module);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

describe("imports of src", () => {
  const graph = importGraph();

  test("are resolved", () => {
    expect(graph.get("main.tsx")).toContain(join("view", "App.tsx"));
  });

  test("have no cycle", () => {
    expect(findCycle(graph)).toEqual([]);
  });

  test.each(Object.entries(FORBIDDEN))("of %s do not include %s", (folder, forbidden) => {
    const within = (module: string, name: string) => module.startsWith(join(name, "/"));
    const violations = [...graph].flatMap(([module, imported]) =>
      imported
        .filter((other) => within(module, folder) && forbidden.some((name) => within(other, name)))
        .map((other) => `${module} -> ${other}`),
    );
    expect(violations).toEqual([]);
  });
});

test("findCycle reports the modules of a cycle", () => {
  const graph = new Map([["a", ["b"]], ["b", ["c", "d"]], ["c", []], ["d", ["b"]]]);
  expect(findCycle(graph)).toEqual(["b", "d", "b"]);
});
