// SPDX-License-Identifier: Apache-2.0

const NUMBER_FORMAT = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const TIME_FORMAT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export function formatNumber(value: number): string {
  return NUMBER_FORMAT.format(value);
}

/** Date and time in the user's time zone. */
export function formatTime(text: string | null | undefined): string {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? "unknown" : TIME_FORMAT.format(time);
}

/** Approximate age: `12 s ago`, `3 h ago`. */
export function formatAge(text: string | null | undefined, now: number): string {
  const time = Date.parse(text ?? "");
  return Number.isNaN(time) ? "never" : `${formatDuration(Math.max(0, now - time))} ago`;
}

const UNITS: readonly [number, string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

export function formatDuration(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined) return "–";
  const unit = UNITS.find(([size]) => milliseconds >= size);
  if (!unit) return `${Math.round(milliseconds)} ms`;
  const value = milliseconds / unit[0];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit[1]}`;
}

export function formatBytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const power = Math.min(4, Math.max(0, Math.floor(Math.log2(Math.max(1, value)) / 10)));
  return `${formatNumber(value / 1024 ** power)} ${["B", "KiB", "MiB", "GiB", "TiB"][power]}`;
}
