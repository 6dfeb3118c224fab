// SPDX-License-Identifier: Apache-2.0

/** Numbers by second, of the last seconds only. */
export interface Series {
  /** The second (since the epoch) of the last value. */
  readonly end: number;
  readonly values: readonly number[];
}

export const SECONDS = 120;

export function emptySeries(second: number): Series {
  return { end: second, values: new Array<number>(SECONDS).fill(0) };
}

/** The series moved on to a second, zeros in between, with `value` joined to what is known of that second. */
export function joined(series: Series, second: number, value: number, join: (a: number, b: number) => number): Series {
  const steps = Math.max(0, second - series.end);
  const zeros = new Array<number>(Math.min(SECONDS, steps)).fill(0);
  const values = [...series.values, ...zeros].slice(-SECONDS);
  const place = SECONDS - 1 - Math.max(0, series.end - second);
  if (place >= 0) values[place] = join(values[place], value);
  return { end: Math.max(series.end, second), values };
}
