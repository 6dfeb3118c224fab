// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { navigate, graph, route } from "../state/store";
import { formatTime } from "./format";
import { Link } from "./components";
import { useResource } from "./useResource";

const SLIDER_STEPS = 1000;
const HOUR_MS = 3_600_000;

/** Time (ms) of the first event in the log; null until it is known. */
export function useFirstEventTime(): number | null {
  const first = useResource<{ readonly events: readonly { readonly eventTime: string }[] }>(
    "/api/v1/events/lineage?sortDirection=asc&limit=1",
    graph.value.nodes.length > 0,
  );
  const time = Date.parse(first.value?.events[0]?.eventTime ?? "");
  return Number.isNaN(time) ? null : time;
}

/**
 * Slider for the time of the shown graph. At its right end the graph is live. In a comparison, a second slider sets the
 * earlier time.
 */
export function TimeBar() {
  const start = useFirstEventTime();
  const { at, since } = route.value;
  if (start === null) return null;
  const end = Math.max(Date.now(), start + 1);
  const anHourAgo = () => new Date(Math.max(start, Date.now() - HOUR_MS)).toISOString();
  return (
    <div class="time" data-past={at !== ""}>
      {since !== "" && (
        <Slider label="Since" start={start} end={end} value={since} onChange={(value) => navigate({ since: value })} />
      )}
      <Slider label="As of" start={start} end={end} value={at} onChange={(value) => navigate({ at: value })} />
      {since === "" ? (
        <Link class="button" to={at === "" ? { since: anHourAgo() } : { since: at, at: "" }}>
          {at === "" ? "Show changes" : "Show changes since"}
        </Link>
      ) : (
        <button type="button" onClick={() => navigate({ since: "" })}>
          Stop comparing
        </button>
      )}
      {at !== "" && (
        <button type="button" onClick={() => navigate({ at: "" })}>
          Back to now
        </button>
      )}
    </div>
  );
}

interface SliderProps {
  readonly label: string;
  /** Start of the range, in milliseconds. */
  readonly start: number;
  readonly end: number;
  /** RFC 3339; empty for now, at the right end. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Slider({ label, start, end, value, onChange }: SliderProps) {
  const [sliding, slide] = useState<number | null>(null);
  const step = (time: number) => Math.round(((time - start) / (end - start)) * SLIDER_STEPS);
  const time = (chosen: number) => start + ((end - start) * chosen) / SLIDER_STEPS;
  const position = sliding ?? (value === "" ? SLIDER_STEPS : Math.min(SLIDER_STEPS, Math.max(0, step(Date.parse(value)))));
  const exact = sliding === null && value !== "" ? value : new Date(time(position)).toISOString();
  const isNow = sliding === null ? value === "" : position === SLIDER_STEPS;
  const text = isNow ? "now, live" : formatTime(exact);
  const settle = (chosen: number) => {
    slide(null);
    onChange(chosen === SLIDER_STEPS ? "" : new Date(Math.ceil(time(chosen))).toISOString());
  };
  return (
    <span class="slider">
      <label>
        <span>{label}</span>
        <input
          type="range"
          min={0}
          max={SLIDER_STEPS}
          value={position}
          aria-valuetext={text}
          onInput={(event) => slide(Number(event.currentTarget.value))}
          onChange={(event) => settle(Number(event.currentTarget.value))}
        />
      </label>
      <output>{text}</output>
    </span>
  );
}
