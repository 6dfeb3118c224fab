// SPDX-License-Identifier: Apache-2.0
import type { LayoutSizes } from "./layout";

/** Sizes in the graph view. */
export const CARD_SIZES: LayoutSizes = { width: 208, height: 48, columnGap: 60, rowGap: 20, aspect: 1.7 };

/** Sizes in the column view, whose edges have labels. */
export const COLUMN_CARD_SIZES: LayoutSizes = { ...CARD_SIZES, columnGap: 150 };
