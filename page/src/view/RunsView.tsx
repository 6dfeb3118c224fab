// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { displayText } from "../model/names";
import { type RunNode, type RunRow, runRows, timeRange } from "../model/runTree";
import { focusOn, graph, graphWorker, nodeIndexById } from "../state/store";
import { Link, Notice, StateBadge } from "./components";
import { formatAge, formatDuration } from "./format";

const MAX_TREES = 50;

/** Trees of runs: applications and DAGs with the runs that belong to them, each with a time line. */
export function RunsView() {
  const [trees, setTrees] = useState<readonly RunNode[] | null>(null);
  useEffect(() => {
    let current = true;
    void graphWorker.call("runTrees", MAX_TREES).then((found) => current && setTrees(found));
    return () => {
      current = false;
    };
  }, [graph.value]);
  if (trees === null) return <p class="loading">Loading runs …</p>;
  if (trees.length === 0) {
    return (
      <Notice title="No run belongs to another one">
        <p>Emitters name the parent of a run in its parent facet, for example the tasks of a DAG.</p>
      </Notice>
    );
  }
  const now = Date.now();
  return (
    <div class="list">
      <h2>Latest runs with their parts</h2>
      {trees.map((root) => (
        <RunTree key={root.id} root={root} now={now} />
      ))}
    </div>
  );
}

function RunTree({ root, now }: { readonly root: RunNode; readonly now: number }) {
  const rows = runRows(root);
  const range = timeRange(rows, now);
  return (
    <details class="section run-tree" open>
      <summary>
        <bdi>{displayText(root.name)}</bdi>{" "}
        <small>
          {rows.length} runs, {formatAge(new Date(range.start).toISOString(), now)}
        </small>
      </summary>
      <table>
        <thead>
          <tr>
            <th scope="col">job</th>
            <th scope="col">state</th>
            <th scope="col" class="right">
              duration
            </th>
            <th scope="col">time</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <RunTreeRow key={row.id} row={row} range={range} now={now} />
          ))}
        </tbody>
      </table>
    </details>
  );
}

function RunTreeRow(props: {
  readonly row: RunRow;
  readonly range: { readonly start: number; readonly end: number };
  readonly now: number;
}) {
  const { row, range, now } = props;
  const end = row.end ?? now;
  const share = (at: number) => `${(((at - range.start) / (range.end - range.start)) * 100).toFixed(2)}%`;
  return (
    <tr data-depth={row.depth}>
      <td style={{ paddingLeft: `${0.5 + row.depth * 1.4}rem` }}>
        {nodeIndexById.value.has(row.id) ? (
          <Link to={focusOn(row.id)}>
            <bdi>{displayText(row.name)}</bdi>
          </Link>
        ) : (
          <bdi>{displayText(row.name)}</bdi>
        )}
      </td>
      <td>
        <StateBadge state={row.state} />
      </td>
      <td class="right">{row.start === null ? "–" : formatDuration(end - row.start)}</td>
      <td class="bar">
        {row.start !== null && (
          <span
            class={`run-bar ${row.state}`}
            style={{ left: share(row.start), width: `max(3px, ${share(range.start + end - row.start)})` }}
          />
        )}
      </td>
    </tr>
  );
}
