// SPDX-License-Identifier: Apache-2.0
import type { Sizes } from "./layout";

/** The cards of the graph view. */
export const SIZES: Sizes = { width: 208, height: 48, columnGap: 60, rowGap: 20, aspect: 1.7 };

/** Columns: the lines between them carry words. */
export const COLUMN_SIZES: Sizes = { ...SIZES, columnGap: 150 };
