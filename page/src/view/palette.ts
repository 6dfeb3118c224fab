// SPDX-License-Identifier: Apache-2.0
import { type Mark, MARKS } from "../model/diff";
import type { Engine } from "../model/engines";
import type { State } from "../model/graph";

/** The colours that the canvas draws with; styles.css says them once for the canvas and the rest of the page. */
export interface Palette {
  readonly ground: string;
  readonly card: string;
  readonly group: string;
  readonly border: string;
  readonly text: string;
  readonly faint: string;
  readonly line: string;
  readonly accent: string;
  readonly upstream: string;
  readonly downstream: string;
  readonly masked: string;
  /** Text on a mark's colour. */
  readonly onMark: string;
  readonly marks: Readonly<Record<Mark, string>>;
  readonly states: Readonly<Record<State, string>>;
  readonly engines: Readonly<Record<Engine, string>>;
  readonly font: string;
}

const ENGINES: readonly Engine[] = [
  ...(["kafka", "connect", "flink", "spark", "iceberg", "s3", "postgres", "database", "file", "job"] as const),
];
const STATES: readonly State[] = ["running", "stale", "failed", "aborted", "completed", "new", "none"];

/** The colours as the styles of the page are now. */
export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const each = <Key extends string>(keys: readonly Key[], prefix: string) =>
    Object.fromEntries(keys.map((key) => [key, value(`${prefix}-${key}`)])) as Record<Key, string>;
  return {
    ground: value("ground"),
    card: value("card"),
    group: value("group"),
    border: value("border"),
    text: value("text"),
    faint: value("faint"),
    line: value("line"),
    accent: value("accent"),
    upstream: value("upstream"),
    downstream: value("downstream"),
    masked: value("masked"),
    onMark: value("on-mark"),
    marks: Object.fromEntries(MARKS.map((mark) => [mark, value(mark)])) as Record<Mark, string>,
    states: each(STATES, "state"),
    engines: each(ENGINES, "engine"),
    font: value("font"),
  };
}
