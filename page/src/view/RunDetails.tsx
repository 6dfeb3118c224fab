// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { shown } from "../model/names";
import type { Run } from "../model/runs";
import { type Event, statistics } from "../model/runStatistics";
import { bytes, moment, number } from "./format";
import { Table } from "./components";
import { useResource } from "./useResource";

const SHOWN_EVENTS = 50;

/** Statistics, error and events of one run. */
export function RunDetails({ run }: { readonly run: Run }) {
  // Bounds spare the service a look at every event that it has.
  const bounds = new URLSearchParams({ run: run.id, after: run.createdAt, limit: String(SHOWN_EVENTS) });
  const found = useResource<{ readonly events: readonly Event[]; readonly totalCount: number }>(
    `/api/v1/events/lineage?${bounds}`,
    run.updatedAt,
  );
  const error = run.facets.errorMessage as { readonly message?: string; readonly stackTrace?: string } | undefined;
  const counts = statistics(found.value?.events ?? []);
  return (
    <div class="run">
      <p class="faint">
        Run <code>{shown(run.id)}</code>, {moment(run.startedAt ?? run.createdAt)}
        {run.endedAt ? ` to ${moment(run.endedAt)}` : ""}
        {run.closedBecause ? ` (closed by the service: ${shown(run.closedBecause)})` : ""}
      </p>
      {error?.message && (
        <div class="failure" role="note">
          <strong>{shown(error.message)}</strong>
          {error.stackTrace && <pre tabIndex={0}>{error.stackTrace}</pre>}
        </div>
      )}
      {counts.length > 0 && (
        <Table
          headings={[{ title: "dataset" }, { title: "rows", right: true }, { title: "size", right: true }]}
          rows={counts.map((row) => ({
            key: `${row.direction}${row.dataset}`,
            cells: [
              <>
                {row.direction === "input" ? "read " : "wrote "}
                <bdi>{shown(row.dataset)}</bdi>
              </>,
              row.rows === null ? "–" : number(row.rows),
              bytes(row.size),
            ],
          }))}
        />
      )}
      <Events found={found.value} />
    </div>
  );
}

function Events({
  found,
}: {
  readonly found: { readonly events: readonly Event[]; readonly totalCount: number } | null;
}) {
  const [open, setOpen] = useState(-1);
  if (!found) return <p class="faint">Reading its events …</p>;
  const more =
    found.totalCount > found.events.length ? `, the latest ${found.events.length} of ${found.totalCount}` : "";
  return (
    <details class="events">
      <summary>
        Events ({found.totalCount}
        {more})
      </summary>
      <ol>
        {found.events.map((event, at) => (
          <li key={at}>
            <button type="button" aria-expanded={open === at} onClick={() => setOpen(open === at ? -1 : at)}>
              {shown(event.eventType ?? "event")} <small>{moment(event.eventTime)}</small>
            </button>
            {open === at && <pre tabIndex={0}>{JSON.stringify(event, null, 2)}</pre>}
          </li>
        ))}
      </ol>
    </details>
  );
}
