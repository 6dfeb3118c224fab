// SPDX-License-Identifier: Apache-2.0
import { CARD_SIZES } from "../layout/sizes";

/** A column as a card shows it. */
export interface CardColumn {
  readonly name: string;
  readonly masked: boolean;
}

/** Scale from which cards list columns: there is room for some lines of readable text. */
export const DETAIL_SCALE = 1.5;

/** Sizes on the screen in pixels: they stay the same while the card grows, so that it has room for more. */
const TITLE_HEIGHT = 22;
const LINE_HEIGHT = 14;
const CELL_WIDTH = 96;
const BORDER = 5;
export const TITLE_FONT = 13;
export const COLUMN_FONT = 11;

/** Place of one column in a card, in diagram units relative to the upper left corner of the text. */
export interface ColumnCell {
  /** Index of the column; -1 for the text that says how many more there are. */
  readonly column: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Places of columns below the title of a card, line by line, as many as fit at a scale. If not all fit, the last place
 * says how many more there are.
 *
 * @param count number of columns
 * @param width width of the text in diagram units
 */
export function columnCells(count: number, width: number, scale: number): ColumnCell[] {
  const perLine = Math.max(1, Math.floor((width * scale) / CELL_WIDTH));
  const lines = Math.max(1, Math.floor((CARD_SIZES.height * scale - TITLE_HEIGHT - BORDER) / LINE_HEIGHT));
  const shown = count > perLine * lines ? perLine * lines : count;
  return Array.from({ length: shown }, (_, at) => ({
    column: at === shown - 1 && shown < count ? -1 : at,
    left: ((at % perLine) * width) / perLine,
    top: (TITLE_HEIGHT + Math.floor(at / perLine) * LINE_HEIGHT) / scale,
    width: width / perLine,
    height: LINE_HEIGHT / scale,
  }));
}

/** Index of the column at a point relative to the upper left corner of the text; -1 for none. */
export function columnAt(count: number, width: number, scale: number, x: number, y: number): number {
  const hit = columnCells(count, width, scale).find(
    ({ left, top, width: wide, height }) => x >= left && x < left + wide && y >= top && y < top + height,
  );
  return hit?.column ?? -1;
}
