// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useState } from "preact/hooks";
import { type DiffChange, changedNodes, countStatuses, type DiffStatuses, DIFF_STATUSES, DIFF_SIGN, changeText } from "../model/diff";
import type { Graph } from "../model/graph";
import { displayText } from "../model/names";
import { graphWorker, navigate, graph, diffStatuses, isPart, route } from "../state/store";
import { formatTime } from "./format";
import { Link } from "./components";

/** Legend and totals of a comparison, and navigation from one change to the next. */
export function DiffControls() {
  if (diffStatuses.value === null) return null;
  return <DiffLegend statuses={diffStatuses.value} graph={graph.value} />;
}

function DiffLegend({ statuses, graph: compared }: { readonly statuses: DiffStatuses; readonly graph: Graph }) {
  const changedIndexes = useMemo(() => changedNodes(compared, statuses), [compared, statuses]);
  const goToChange = (step: number) => {
    const ids = changedIndexes.map((index) => compared.nodes[index].id);
    const at = ids.indexOf(route.value.node);
    const to = at < 0 ? (step > 0 ? 0 : ids.length - 1) : (at + step + ids.length) % ids.length;
    if (ids.length > 0) navigate({ node: ids[to] });
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = (event.target as HTMLElement).closest("input:not([type=range]), textarea, select");
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "n") goToChange(1);
      if (event.key === "p") goToChange(-1);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [changedIndexes]);
  const [nodes, edges] = [statuses.nodes, statuses.edges].map((list) => new Map(countStatuses(list)));
  const { since } = route.value;
  return (
    <div class="comparison" role="group" aria-label={`Changes since ${formatTime(since)}`}>
      {changedIndexes.length === 0 && <span role="status">No changes since {formatTime(since)}.</span>}
      {DIFF_STATUSES.filter((status) => nodes.has(status) || edges.has(status)).map((status) => (
        <span key={status} class="legend-entry">
          <span class={`sign ${status}`} aria-hidden="true">
            {DIFF_SIGN[status]}
          </span>{" "}
          {status}
          <span class="count">: {countText(nodes.get(status) ?? 0, edges.get(status) ?? 0)}</span>
        </span>
      ))}
      {changedIndexes.length > 0 && (
        <button type="button" onClick={() => goToChange(1)} aria-keyshortcuts="n">
          Next change
        </button>
      )}
      <Link class="button" to={{ view: "changes", only: false, ...(isPart.value ? {} : { node: "" }) }}>
        Show as table
      </Link>
    </div>
  );
}

function countText(nodes: number, edges: number): string {
  const count = (number: number, word: string) => (number === 0 ? "" : `${number} ${word}${number === 1 ? "" : "s"}`);
  return [count(nodes, "node"), count(edges, "edge")].filter(Boolean).join(", ");
}

const MAX_CHANGES = 200;

/** The changes of one node in a comparison. */
export function NodeChanges({ id }: { readonly id: string }) {
  const [changes, setChanges] = useState<readonly DiffChange[]>([]);
  useEffect(() => {
    let current = true;
    void graphWorker.call("changesOf", id).then((found) => current && setChanges(found));
    return () => {
      current = false;
    };
  }, [id, diffStatuses.value]);
  if (diffStatuses.value === null || changes.length === 0) return null;
  return (
    <section class="section">
      <h3>Changed since {formatTime(route.value.since)}</h3>
      <ul class="diff">
        {changes.slice(0, MAX_CHANGES).map((change) => (
          <li class={change.kind} key={`${change.subject}${change.text}`}>
            <span aria-hidden="true">{DIFF_SIGN[change.kind]}</span> <span class="hidden">{change.kind}</span>{" "}
            {change.subject} <bdi>{displayText(change.text)}</bdi> <ChangeDetails change={change} />
          </li>
        ))}
      </ul>
      {changes.length > MAX_CHANGES && (
        <p class="faint">
          Showing the first {MAX_CHANGES} of {changes.length}. The Changes view contains all.
        </p>
      )}
    </section>
  );
}

/** Value before and after a change, if there is one. */
export function ChangeDetails({ change }: { readonly change: DiffChange }) {
  const text = changeText(change);
  return text === "" ? null : <small>{displayText(text)}</small>;
}
