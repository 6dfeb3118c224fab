// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import type { DifferenceAnswer } from "../model/diff";
import { shown } from "../model/names";
import { csv } from "../model/tables";
import { go, graph, route } from "../state/store";
import { How } from "./DiffControls";
import { download } from "./downloads";
import { moment } from "./format";
import { Link, Notice } from "./components";
import { useResource } from "./useResource";
import { useBeginning } from "./TimeBar";

const SHOWN = 2000;
const HOUR = 3_600_000;

/** What is other at one moment than at an earlier one. */
export function ChangesView() {
  const beginning = useBeginning();
  const { since, at } = route.value;
  const from =
    since !== "" ? since : beginning === null ? "" : new Date(Math.max(beginning, Date.now() - HOUR)).toISOString();
  // Without an end, from when to when is only stable as long as nothing happens: ask anew for each graph.
  const query = useMemo(() => {
    const values = new URLSearchParams({ from });
    if (at !== "") values.set("to", at);
    return from === "" ? null : `/api/v1/diff?${values}`;
  }, [since, at, beginning]);
  const found = useResource<DifferenceAnswer>(query, at === "" ? graph.value : at);
  return (
    <div class="list">
      <div class="bar">
        <Moment label="From" value={from} onChange={(value) => go({ since: value })} />
        <Moment label="to" value={at} onChange={(value) => go({ at: value })} />
        {at !== "" && (
          <button type="button" onClick={() => go({ at: "" })}>
            to now
          </button>
        )}
        {from !== "" && (
          <Link class="button" to={{ view: "graph", since: from }}>
            In the graph
          </Link>
        )}
      </div>
      <h2>
        What changed between {moment(from)} and {at === "" ? "now" : moment(at)}
      </h2>
      {found.error && <p class="error">{found.error}</p>}
      {found.value ? <Changes found={found.value} /> : !found.error && <p class="faint">Comparing …</p>}
    </div>
  );
}

/** A date and time in the user's own zone, kept as RFC 3339. */
function Moment(props: { readonly label: string; readonly value: string; readonly onChange: (value: string) => void }) {
  const time = Date.parse(props.value);
  const local = Number.isNaN(time)
    ? ""
    : new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  const change = (text: string) => !Number.isNaN(Date.parse(text)) && props.onChange(new Date(text).toISOString());
  return (
    <label>
      {props.label}{" "}
      <input type="datetime-local" step={1} value={local} onChange={(event) => change(event.currentTarget.value)} />
    </label>
  );
}

function Changes({ found }: { readonly found: DifferenceAnswer }) {
  if (found.empty) return <Notice title="Nothing changed: the graphs are the same" />;
  const sums = Object.entries(found.counts).map(
    ([subject, counts]) =>
      `${subject}s: ${Object.entries(counts)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(", ")}`,
  );
  const rows = found.changes.map(({ kind, subject, of, text, before, after }) => ({
    kind,
    subject,
    of,
    text,
    before,
    after,
  }));
  return (
    <>
      <p>
        {sums.join("; ")}.{" "}
        <button type="button" onClick={() => download("changes.csv", "text/csv", csv(rows))}>
          CSV
        </button>{" "}
        <button
          type="button"
          onClick={() => download("changes.json", "application/json", `${JSON.stringify(found, null, 2)}\n`)}
        >
          JSON
        </button>
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Changes">
        <table class="changes">
          <thead>
            <tr>
              <th scope="col">what</th>
              <th scope="col">of</th>
              <th scope="col">which</th>
              <th scope="col">how</th>
            </tr>
          </thead>
          <tbody>
            {found.changes.slice(0, SHOWN).map((change, at) => (
              <tr key={at} class={change.kind}>
                <td>
                  <span class={`change ${change.kind}`}>{change.kind}</span>
                </td>
                <td>{change.subject}</td>
                <td>
                  <bdi>{shown(change.text)}</bdi>
                </td>
                <td>
                  <How change={change} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.changes.length > SHOWN && (
        <p class="faint">
          The first {SHOWN} of {found.changes.length}; the files have all of them.
        </p>
      )}
    </>
  );
}
