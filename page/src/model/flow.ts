// SPDX-License-Identifier: Apache-2.0

/** Response of `/api/v1/flow`: the last half hour in steps, oldest first. */
export interface FlowResponse {
  readonly stepSeconds: number;
  readonly mostSamples: number;
  readonly samples: readonly {
    readonly start: string;
    readonly events: number;
    readonly lagSeconds: number | null;
  }[];
}

/** Values of one chart, one per step, latest last; null without data. */
export interface ChartSeries {
  readonly values: readonly (number | null)[];
  /** Value of the last complete step. */
  readonly last: number | null;
  readonly max: number;
  readonly minutes: number;
}

/** Events per second. The current, incomplete step is left out: it would look like a drop. */
export function throughputSeries({ stepSeconds, ...flow }: FlowResponse): ChartSeries {
  return chartSeries({ stepSeconds, ...flow }, ({ events }) => events / stepSeconds);
}

/** Maximum lag per step, in seconds from an event's time until it is in the graph. */
export function lagSeries(flow: FlowResponse): ChartSeries {
  return chartSeries(flow, ({ lagSeconds }) => lagSeconds);
}

function chartSeries(
  { stepSeconds, mostSamples, samples }: FlowResponse,
  valueOf: (sample: FlowResponse["samples"][number]) => number | null,
): ChartSeries {
  const known = samples.slice(0, -1).map(valueOf);
  const before = new Array<null>(Math.max(0, mostSamples - 1 - known.length)).fill(null);
  return {
    values: [...before, ...known],
    last: known.at(-1) ?? null,
    max: Math.max(0, ...known.map((value) => value ?? 0)),
    minutes: Math.round((known.length * stepSeconds) / 60),
  };
}
