// SPDX-License-Identifier: Apache-2.0

/** What `/api/v1/flow` answers: the last half hour in steps, the oldest first. */
export interface FlowAnswer {
  readonly stepSeconds: number;
  readonly mostSamples: number;
  readonly samples: readonly {
    readonly start: string;
    readonly events: number;
    readonly lagSeconds: number | null;
  }[];
}

/** One chart: a value for each step, the latest at the end; null where nothing is known. */
export interface Series {
  readonly values: readonly (number | null)[];
  /** The last whole step's value; null where there is none. */
  readonly last: number | null;
  readonly most: number;
  readonly minutes: number;
}

/** Events each second. The step that still grows is left out: it would look like a fall. */
export function throughput({ stepSeconds, ...flow }: FlowAnswer): Series {
  return series({ stepSeconds, ...flow }, ({ events }) => events / stepSeconds);
}

/** Seconds from an event's own time to the graph, the longest of each step. */
export function lag(flow: FlowAnswer): Series {
  return series(flow, ({ lagSeconds }) => lagSeconds);
}

function series(
  { stepSeconds, mostSamples, samples }: FlowAnswer,
  valueOf: (sample: FlowAnswer["samples"][number]) => number | null,
): Series {
  const known = samples.slice(0, -1).map(valueOf);
  const before = new Array<null>(Math.max(0, mostSamples - 1 - known.length)).fill(null);
  return {
    values: [...before, ...known],
    last: known.at(-1) ?? null,
    most: Math.max(0, ...known.map((value) => value ?? 0)),
    minutes: Math.round((known.length * stepSeconds) / 60),
  };
}
