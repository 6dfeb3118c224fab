// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { displayLines, displayText } from "../model/names";
import type { Run } from "../model/runs";
import { type DatasetStatistics, type RunEvent, datasetStatistics } from "../model/runStatistics";
import { formatBytes, formatTime, formatNumber } from "./format";
import { Table, Unavailable } from "./components";
import { useResource } from "./useResource";

const MAX_EVENTS = 50;

/** Statistics, error and events of one run. */
export function RunDetails({ run }: { readonly run: Run }) {
  // `after` and `limit` keep the service from scanning its entire log.
  const bounds = new URLSearchParams({ run: run.id, after: run.createdAt, limit: String(MAX_EVENTS) });
  const found = useResource<{ readonly events: readonly RunEvent[]; readonly totalCount: number }>(
    `/api/v1/events/lineage?${bounds}`,
    run.updatedAt,
  );
  const error = run.facets.errorMessage as { readonly message?: string; readonly stackTrace?: string } | undefined;
  const counts = datasetStatistics(found.value?.events ?? []);
  return (
    <div class="run">
      <p class="faint">
        Run <code>{displayText(run.id)}</code>, {formatTime(run.startedAt ?? run.createdAt)}
        {run.endedAt ? ` to ${formatTime(run.endedAt)}` : ""}
        {run.closedBecause ? ` (closed by the lineage service: ${displayText(run.closedBecause)})` : ""}
      </p>
      {error?.message && (
        <div class="failure" role="note">
          <strong class="lines">{displayLines(error.message)}</strong>
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
                <bdi>{displayText(row.dataset)}</bdi>
                {row.nulls.size > 0 && <small class="nulls">{nullsText(row)}</small>}
              </>,
              row.rows === null ? "–" : formatNumber(row.rows),
              formatBytes(row.size),
            ],
          }))}
        />
      )}
      {found.value ? <Events found={found.value} /> : <Unavailable error={found.error} />}
    </div>
  );
}

const MAX_COLUMNS = 8;

/** Columns with nulls, most of them first: `nulls: price 12 (30 %), supplier 1`. */
function nullsText({ nulls, rows }: DatasetStatistics): string {
  const columns = [...nulls].sort(([, one], [, other]) => other - one);
  const texts = columns.slice(0, MAX_COLUMNS).map(([column, count]) => {
    const share = rows !== null && rows > 0 ? ` (${formatNumber(Math.round((100 * count) / rows))} %)` : "";
    return `${displayText(column)} ${formatNumber(count)}${share}`;
  });
  return `nulls: ${texts.join(", ")}${columns.length > MAX_COLUMNS ? ", …" : ""}`;
}

function Events({
  found,
}: {
  readonly found: { readonly events: readonly RunEvent[]; readonly totalCount: number };
}) {
  const [open, setOpen] = useState(-1);
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
              {displayText(event.eventType ?? "event")} <small>{formatTime(event.eventTime)}</small>
            </button>
            {open === at && <pre tabIndex={0}>{JSON.stringify(event, null, 2)}</pre>}
          </li>
        ))}
      </ol>
    </details>
  );
}
