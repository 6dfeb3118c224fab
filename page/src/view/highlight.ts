// SPDX-License-Identifier: Apache-2.0
import type { DiagramWithLayout } from "./diagram";

/** Cards to emphasize, by index; -1 for none. */
export interface Highlight {
  readonly selected: number;
  readonly hovered: number;
  /** Lineage of the selected card: distance by card, negative upstream. Null without a selection. */
  readonly traced: ReadonlyMap<number, number> | null;
}

export const NO_HIGHLIGHT: Highlight = { selected: -1, hovered: -1, traced: null };

/** A rectangle in diagram coordinates. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Below this scale text is too small to read, and cards are drawn as plain rectangles. */
export const MIN_READABLE_SCALE = 0.34;

/** Opacity of cards and edges outside the traced lineage. */
const FADED_OPACITY = 0.22;

/** Opacity of unchanged cards and edges in a comparison: still readable. */
const UNCHANGED_OPACITY = 0.5;

/** Opacity of jobs and datasets that are over. */
const INACTIVE_OPACITY = 0.55;

/** Opacity of a card or edge. */
export function opacity(
  { isDiff = false }: DiagramWithLayout,
  { diffStatus, inactive }: { readonly diffStatus?: string | undefined; readonly inactive?: boolean },
  traced: boolean,
  onPath: boolean,
): number {
  if (traced) return onPath ? 1 : FADED_OPACITY;
  if (inactive) return INACTIVE_OPACITY;
  return isDiff && !diffStatus ? UNCHANGED_OPACITY : 1;
}
