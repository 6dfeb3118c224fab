// SPDX-License-Identifier: Apache-2.0
import type { Scene } from "./diagram";

/** What is set off from the rest. */
export interface Emphasis {
  readonly selected: number;
  readonly hovered: number;
  /** Cards of a path, by their distance: negative upstream. Null where all are equal. */
  readonly traced: ReadonlyMap<number, number> | null;
}

export const PLAIN: Emphasis = { selected: -1, hovered: -1, traced: null };

/** A part of the picture, in its own pixels. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Below this scale cards are spots of colour: nobody could read them. */
export const READABLE = 0.34;

/** How much is left of what is not on the path that is looked at. */
const FADED = 0.22;

/** And of what is as it was, where the picture is of a difference: it still is to be read. */
const UNCHANGED = 0.5;

/** How opaque a card or line is. */
export function opacity(
  { compared = false }: Scene,
  mark: string | undefined,
  traced: boolean,
  onPath: boolean,
): number {
  if (traced) return onPath ? 1 : FADED;
  return compared && !mark ? UNCHANGED : 1;
}
