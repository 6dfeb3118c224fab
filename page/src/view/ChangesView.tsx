// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import type { DiffResponse } from "../model/diff";
import { MAX_EXPORTED_NODES, PART_DEPTH } from "../model/graph";
import { displayText } from "../model/names";
import { csv } from "../model/csv";
import { navigate, graph, route } from "../state/store";
import { DatasetPicker } from "./DatasetPicker";
import { ChangeDetails } from "./DiffControls";
import { download } from "./downloads";
import { formatTime } from "./format";
import { Link, Notice } from "./components";
import { useResource } from "./useResource";
import { useFirstEventTime } from "./TimeBar";

const MAX_ROWS = 2000;
const HOUR_MS = 3_600_000;

/** The changes between two times, as a table. */
export function ChangesView() {
  const firstEventTime = useFirstEventTime();
  const { since, at, node } = route.value;
  const isLarge = graph.value.nodes.length > MAX_EXPORTED_NODES;
  const from =
    since !== "" ? since : firstEventTime === null ? "" : new Date(Math.max(firstEventTime, Date.now() - HOUR_MS)).toISOString();
  // Without an end time the result depends on the current graph: the diff is fetched again for each graph.
  const query = useMemo(() => {
    const values = new URLSearchParams({ from });
    if (at !== "") values.set("to", at);
    if (isLarge) {
      values.set("nodeId", node);
      values.set("depth", String(PART_DEPTH));
    }
    return from === "" || (isLarge && node === "") ? null : `/api/v1/diff?${values}`;
  }, [since, at, firstEventTime, isLarge, node]);
  const found = useResource<DiffResponse>(query, at === "" ? graph.value : at);
  if (isLarge && node === "") {
    return <DatasetPicker title="Changes around which dataset?" linkTo={(id) => ({ node: id })} />;
  }
  return (
    <div class="list">
      <div class="toolbar">
        {isLarge && (
          <button type="button" onClick={() => navigate({ node: "" })}>
            Another dataset
          </button>
        )}
        <TimeInput label="From" value={from} onChange={(value) => navigate({ since: value })} />
        <TimeInput label="To" value={at} onChange={(value) => navigate({ at: value })} />
        {at !== "" && (
          <button type="button" onClick={() => navigate({ at: "" })}>
            Now
          </button>
        )}
        {from !== "" && (
          <Link class="button" to={{ view: "graph", since: from }}>
            Show in graph
          </Link>
        )}
      </div>
      <h2>
        Changes {isLarge && `around ${displayText(node.split(":").slice(1).join(":"))} `}between {formatTime(from)} and{" "}
        {at === "" ? "now" : formatTime(at)}
      </h2>
      {found.error && <p class="error">{found.error}</p>}
      {found.value ? <Changes found={found.value} /> : !found.error && <p class="faint">Comparing …</p>}
    </div>
  );
}

/** Input for a date and time in the user's time zone. The value is RFC 3339. */
function TimeInput(props: { readonly label: string; readonly value: string; readonly onChange: (value: string) => void }) {
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

function Changes({ found }: { readonly found: DiffResponse }) {
  if (found.empty) return <Notice title="No changes: both graphs are equal" />;
  const totals = Object.entries(found.counts).map(
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
        {totals.join("; ")}.{" "}
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
              <th scope="col">change</th>
              <th scope="col">subject</th>
              <th scope="col">name</th>
              <th scope="col">details</th>
            </tr>
          </thead>
          <tbody>
            {found.changes.slice(0, MAX_ROWS).map((change, at) => (
              <tr key={at} class={change.kind}>
                <td>
                  <span class={`change ${change.kind}`}>{change.kind}</span>
                </td>
                <td>{change.subject}</td>
                <td>
                  <bdi>{displayText(change.text)}</bdi>
                </td>
                <td>
                  <ChangeDetails change={change} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.changes.length > MAX_ROWS && (
        <p class="faint">
          Showing the first {MAX_ROWS} of {found.changes.length}. The CSV and JSON files contain all.
        </p>
      )}
    </>
  );
}
