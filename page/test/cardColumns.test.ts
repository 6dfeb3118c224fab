// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { CARD_SIZES } from "../src/layout/sizes";
import { columnAt, columnCells, DETAIL_SCALE } from "../src/view/cardColumns";
import { MAX_SCALE } from "../src/view/viewport";

const WIDTH = 154;
const SCALES = [DETAIL_SCALE, 2, 2.5, MAX_SCALE];

test("an enlarged card has room for more columns, all within it", () => {
  const counts = SCALES.map((scale) => columnCells(1000, WIDTH, scale).length);
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  expect(counts[0]).toBeGreaterThanOrEqual(4);
  for (const scale of SCALES) {
    for (const { left, top, width, height } of columnCells(1000, WIDTH, scale)) {
      expect(left).toBeGreaterThanOrEqual(0);
      expect(left + width).toBeLessThanOrEqual(WIDTH + 1e-9);
      expect(top + height).toBeLessThanOrEqual(CARD_SIZES.height);
    }
  }
});

test("the last place says how many more columns there are only if some do not fit", () => {
  for (const scale of SCALES) {
    const room = columnCells(1000, WIDTH, scale).length;
    expect(columnCells(room, WIDTH, scale).map(({ column }) => column)).toEqual([...Array(room).keys()]);
    expect(columnCells(room + 1, WIDTH, scale).at(-1)?.column).toBe(-1);
  }
  expect(columnCells(0, WIDTH, 2)).toEqual([]);
});

test("a point in a place finds its column, and no other", () => {
  for (const scale of SCALES) {
    const cells = columnCells(1000, WIDTH, scale);
    for (const { column, left, top, width, height } of cells) {
      expect(columnAt(1000, WIDTH, scale, left + width / 2, top + height / 2)).toBe(column);
    }
    expect(columnAt(1000, WIDTH, scale, WIDTH / 2, 1)).toBe(-1);
    expect(columnAt(1000, WIDTH, scale, -1, CARD_SIZES.height / 2)).toBe(-1);
  }
});
