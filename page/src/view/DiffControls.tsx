// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useState } from "preact/hooks";
import { type Change, changedPlaces, counted, type Marks, MARKS, SIGN, spokenChange } from "../model/diff";
import type { Graph } from "../model/graph";
import { shown } from "../model/names";
import { engine, go, graph, marks, route } from "../state/store";
import { moment } from "./format";
import { Link } from "./components";

/** What the marks in the picture mean and how many there are; leads from one change to the next. */
export function Comparison() {
  if (marks.value === null) return null;
  return <Legend marks={marks.value} graph={graph.value} />;
}

function Legend({ marks: found, graph: whole }: { readonly marks: Marks; readonly graph: Graph }) {
  const places = useMemo(() => changedPlaces(whole, found), [whole, found]);
  const next = (step: number) => {
    const ids = places.map((place) => whole.nodes[place].id);
    const at = ids.indexOf(route.value.node);
    const to = at < 0 ? (step > 0 ? 0 : ids.length - 1) : (at + step + ids.length) % ids.length;
    if (ids.length > 0) go({ node: ids[to] });
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = (event.target as HTMLElement).closest("input:not([type=range]), textarea, select");
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "n") next(1);
      if (event.key === "p") next(-1);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [places]);
  const [nodes, edges] = [found.nodes, found.edges].map((list) => new Map(counted(list)));
  const { since } = route.value;
  return (
    <div class="comparison" role="group" aria-label={`Changes since ${moment(since)}`}>
      {places.length === 0 && <span role="status">Nothing changed since {moment(since)}.</span>}
      {MARKS.filter((mark) => nodes.has(mark) || edges.has(mark)).map((mark) => (
        <span key={mark} class="legend-mark">
          <span class={`sign ${mark}`} aria-hidden="true">
            {SIGN[mark]}
          </span>{" "}
          {mark}
          <span class="how-many">: {parts(nodes.get(mark) ?? 0, edges.get(mark) ?? 0)}</span>
        </span>
      ))}
      {places.length > 0 && (
        <button type="button" onClick={() => next(1)} aria-keyshortcuts="n">
          Next change
        </button>
      )}
      <Link class="button" to={{ view: "changes", node: "", only: false }}>
        As a list
      </Link>
    </div>
  );
}

function parts(nodes: number, edges: number): string {
  const count = (number: number, word: string) => (number === 0 ? "" : `${number} ${word}${number === 1 ? "" : "s"}`);
  return [count(nodes, "node"), count(edges, "edge")].filter(Boolean).join(", ");
}

const SHOWN = 200;

/** What changed about one node since the moment that the graph is compared with. */
export function ChangesOfNode({ id }: { readonly id: string }) {
  const [changes, setChanges] = useState<readonly Change[]>([]);
  useEffect(() => {
    let wanted = true;
    void engine.ask("changesOf", id).then((found) => wanted && setChanges(found));
    return () => {
      wanted = false;
    };
  }, [id, marks.value]);
  if (marks.value === null || changes.length === 0) return null;
  return (
    <section class="section">
      <h3>Changed since {moment(route.value.since)}</h3>
      <ul class="diff">
        {changes.slice(0, SHOWN).map((change) => (
          <li class={change.kind} key={`${change.subject}${change.text}`}>
            <span aria-hidden="true">{SIGN[change.kind]}</span> <span class="hidden">{change.kind}</span>{" "}
            {change.subject} <bdi>{shown(change.text)}</bdi> <How change={change} />
          </li>
        ))}
      </ul>
      {changes.length > SHOWN && <p class="faint">The first {SHOWN} of {changes.length}; the list has all of them.</p>}
    </section>
  );
}

/** How it was and is, where there is something to say. */
export function How({ change }: { readonly change: Change }) {
  const words = spokenChange(change);
  return words === "" ? null : <small>{shown(words)}</small>;
}
