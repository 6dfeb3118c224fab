// SPDX-License-Identifier: Apache-2.0

/** Sizes in pixels at scale 1. */
export interface LayoutSizes {
  readonly width: number;
  readonly height: number;
  readonly columnGap: number;
  readonly rowGap: number;
  /** Desired aspect ratio (width by height) of the drawing. */
  readonly aspect: number;
}

/** Sizes in the graph view. */
export const CARD_SIZES: LayoutSizes = { width: 208, height: 48, columnGap: 60, rowGap: 20, aspect: 1.7 };

/** Sizes in the column view, whose edges have labels. */
export const COLUMN_CARD_SIZES: LayoutSizes = { ...CARD_SIZES, columnGap: 150 };
