// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { go, graph, route } from "../state/store";
import { moment } from "./format";
import { Link } from "./components";
import { useResource } from "./useResource";

const STEPS = 1000;
const HOUR = 3_600_000;

/** The first moment that the log tells of, in milliseconds; null while it is not known. */
export function useBeginning(): number | null {
  const first = useResource<{ readonly events: readonly { readonly eventTime: string }[] }>(
    "/api/v1/events/lineage?sortDirection=asc&limit=1",
    graph.value.nodes.length > 0,
  );
  const time = Date.parse(first.value?.events[0]?.eventTime ?? "");
  return Number.isNaN(time) ? null : time;
}

/**
 * A slider over all that the log knows; at its right end the graph is that of the present, and live. With a second one
 * the graph is compared with that of an earlier moment.
 */
export function TimeBar() {
  const beginning = useBeginning();
  const { at, since } = route.value;
  if (beginning === null) return null;
  const end = Math.max(Date.now(), beginning + 1);
  const anHourAgo = () => new Date(Math.max(beginning, Date.now() - HOUR)).toISOString();
  return (
    <div class="time" data-past={at !== ""}>
      {since !== "" && (
        <Slider label="Since" beginning={beginning} end={end} value={since} onChange={(value) => go({ since: value })} />
      )}
      <Slider label="As of" beginning={beginning} end={end} value={at} onChange={(value) => go({ at: value })} />
      {since === "" ? (
        <Link class="button" to={at === "" ? { since: anHourAgo() } : { since: at, at: "" }}>
          {at === "" ? "What changed" : "What changed since"}
        </Link>
      ) : (
        <button type="button" onClick={() => go({ since: "" })}>
          Stop comparing
        </button>
      )}
      {at !== "" && (
        <button type="button" onClick={() => go({ at: "" })}>
          Back to now
        </button>
      )}
    </div>
  );
}

interface SliderProps {
  readonly label: string;
  /** In milliseconds. */
  readonly beginning: number;
  readonly end: number;
  /** RFC 3339; empty for the present, at the right end. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Slider({ label, beginning, end, value, onChange }: SliderProps) {
  const [sliding, slide] = useState<number | null>(null);
  const step = (time: number) => Math.round(((time - beginning) / (end - beginning)) * STEPS);
  const time = (chosen: number) => beginning + ((end - beginning) * chosen) / STEPS;
  const place = sliding ?? (value === "" ? STEPS : Math.min(STEPS, Math.max(0, step(Date.parse(value)))));
  const exact = sliding === null && value !== "" ? value : new Date(time(place)).toISOString();
  const present = sliding === null ? value === "" : place === STEPS;
  const words = present ? "now, live" : moment(exact);
  const settle = (chosen: number) => {
    slide(null);
    onChange(chosen === STEPS ? "" : new Date(Math.ceil(time(chosen))).toISOString());
  };
  return (
    <span class="slider">
      <label>
        <span>{label}</span>
        <input
          type="range"
          min={0}
          max={STEPS}
          value={place}
          aria-valuetext={words}
          onInput={(event) => slide(Number(event.currentTarget.value))}
          onChange={(event) => settle(Number(event.currentTarget.value))}
        />
      </label>
      <output>{words}</output>
    </span>
  );
}
