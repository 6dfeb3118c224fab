// SPDX-License-Identifier: Apache-2.0
import { type DiffStatus, DIFF_STATUSES } from "../model/diff";
import { type Engine, ENGINES } from "../model/engines";
import type { State } from "../model/graph";

/** Colors and font of the canvas, from the custom properties in styles.css. */
export interface Palette {
  readonly background: string;
  readonly card: string;
  readonly group: string;
  readonly border: string;
  readonly text: string;
  readonly faint: string;
  readonly edge: string;
  readonly accent: string;
  readonly upstream: string;
  readonly downstream: string;
  readonly masked: string;
  /** Color of the sign on a diff badge. */
  readonly onDiffStatus: string;
  readonly diffStatuses: Readonly<Record<DiffStatus, string>>;
  readonly states: Readonly<Record<State, string>>;
  readonly engines: Readonly<Record<Engine, string>>;
  readonly font: string;
}

const STATES: readonly State[] = ["running", "stale", "failed", "aborted", "completed", "new", "none"];

/** Read the palette of the current theme. */
export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const each = <Key extends string>(keys: readonly Key[], prefix: string) =>
    Object.fromEntries(keys.map((key) => [key, value(`${prefix}-${key}`)])) as Record<Key, string>;
  return {
    background: value("background"),
    card: value("card"),
    group: value("group"),
    border: value("border"),
    text: value("text"),
    faint: value("faint"),
    edge: value("edge"),
    accent: value("accent"),
    upstream: value("upstream"),
    downstream: value("downstream"),
    masked: value("masked"),
    onDiffStatus: value("on-diff"),
    diffStatuses: Object.fromEntries(DIFF_STATUSES.map((status) => [status, value(status)])) as Record<DiffStatus, string>,
    states: each(STATES, "state"),
    engines: each(ENGINES, "engine"),
    font: value("font"),
  };
}
