// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { go, graph, route } from "../state/store";
import { moment } from "./format";
import { Link } from "./parts";
import { useResource } from "./resource";

const STEPS = 1000;

/** The first moment that the log tells of, in milliseconds; null while it is not known. */
export function useBeginning(): number | null {
  const first = useResource<{ readonly events: readonly { readonly eventTime: string }[] }>(
    "/api/v1/events/lineage?sortDirection=asc&limit=1",
    graph.value.nodes.length > 0,
  );
  const time = Date.parse(first.value?.events[0]?.eventTime ?? "");
  return Number.isNaN(time) ? null : time;
}

/** A slider over all that the log knows; at its right end the graph is that of the present, and live. */
export function TimeBar() {
  const beginning = useBeginning();
  const { at } = route.value;
  const [sliding, slide] = useState<number | null>(null);
  if (beginning === null) return null;
  const end = Math.max(Date.now(), beginning + 1);
  const step = (time: number) => Math.round(((time - beginning) / (end - beginning)) * STEPS);
  const time = (value: number) => beginning + ((end - beginning) * value) / STEPS;
  const value = sliding ?? (at === "" ? STEPS : Math.min(STEPS, Math.max(0, step(Date.parse(at)))));
  const text = value === STEPS ? "now, live" : moment(new Date(time(value)).toISOString());
  const settle = (chosen: number) => {
    slide(null);
    go({ at: chosen === STEPS ? "" : new Date(Math.ceil(time(chosen))).toISOString() });
  };
  return (
    <div class="time" data-past={at !== ""}>
      <label>
        <span>As of</span>
        <input
          type="range"
          min={0}
          max={STEPS}
          value={value}
          aria-valuetext={text}
          onInput={(event) => slide(Number(event.currentTarget.value))}
          onChange={(event) => settle(Number(event.currentTarget.value))}
        />
      </label>
      <output>{text}</output>
      {at !== "" && (
        <>
          <Link class="button" to={{ view: "changes", since: at, at: "" }}>
            What changed since
          </Link>
          <button type="button" onClick={() => go({ at: "" })}>
            Back to now
          </button>
        </>
      )}
    </div>
  );
}
