// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import type { JobSummary } from "../src/model/apiTypes";
import { type RunNode, runRows, runTrees, timeRange } from "../src/model/runTree";
import { job } from "./samples";

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();

function run(name: string, minute: number, parent?: string, more: Partial<JobSummary> = {}): JobSummary {
  const above = parent === undefined ? null : { namespace: "jobs", name: parent, run: `run of ${parent}` };
  const times = { startedAt: at(minute), endedAt: at(minute + 1) };
  return job(name, [], [], { run: `run of ${name}`, parent: above, ...times, ...more });
}

const shape = ({ name, children }: RunNode): unknown => (children.length === 0 ? name : { [name]: children.map(shape) });

describe("trees of runs", () => {
  test("nest runs below the run that they name, children by start, newest tree first", () => {
    const jobs = [
      run("dag", 0),
      run("second task", 4, "dag"),
      run("first task", 1, "dag"),
      run("write", 2, "first task"),
      run("later dag", 30),
      run("its task", 31, "later dag"),
      run("alone", 40),
    ];
    expect(runTrees(jobs).map(shape)).toEqual([
      { "later dag": ["its task"] },
      { dag: [{ "first task": ["write"] }, "second task"] },
    ]);
  });

  test("leave out children of an earlier run of the parent, and of unknown parents", () => {
    const earlier = run("old task", 1, "dag", { parent: { namespace: "jobs", name: "dag", run: "an earlier one" } });
    expect(runTrees([run("dag", 9), earlier, run("stray", 1, "unknown")])).toEqual([]);
  });

  test("end for parents in a cycle", () => {
    const cycle = [run("a", 0, "b"), run("b", 1, "a"), run("own parent", 2, "own parent"), run("root", 3), run("c", 4, "root")];
    expect(runTrees(cycle).map(shape)).toEqual([{ root: ["c"] }]);
  });

  test("have a time range from the first start to the last end, or to now", () => {
    const [tree] = runTrees([run("dag", 5), run("task", 6, "dag"), run("open", 7, "dag", { endedAt: null })]);
    const rows = runRows(tree);
    expect(rows.map(({ name, depth }) => [name, depth])).toEqual([
      ["dag", 0],
      ["task", 1],
      ["open", 1],
    ]);
    expect(timeRange(rows, Date.parse(at(20)))).toEqual({ start: Date.parse(at(5)), end: Date.parse(at(20)) });
  });
});
