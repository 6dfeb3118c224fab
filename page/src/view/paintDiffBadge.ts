// SPDX-License-Identifier: Apache-2.0
import type { Mark } from "../model/diff";
import type { Palette } from "./palette";

const RADIUS = 9;
const ARM = 4;

/** Dashes of what is no more; what is there is drawn through. */
export const REMOVED: readonly number[] = [4, 4];

/** A mark as a disc with its sign, its middle at a point: plus, minus or a wave, so that nobody needs the colours. */
export function paintMark(context: CanvasRenderingContext2D, mark: Mark, x: number, y: number, palette: Palette): void {
  context.setLineDash([]);
  context.fillStyle = palette.marks[mark];
  context.beginPath();
  context.arc(x, y, RADIUS, 0, 2 * Math.PI);
  context.fill();
  context.strokeStyle = palette.onMark;
  context.lineWidth = 2;
  context.lineCap = "round";
  context.beginPath();
  if (mark === "changed") {
    context.moveTo(x - ARM, y + 1);
    context.bezierCurveTo(x - 1, y - 6, x + 1, y + 6, x + ARM, y - 1);
  } else {
    context.moveTo(x - ARM, y);
    context.lineTo(x + ARM, y);
  }
  if (mark === "added") {
    context.moveTo(x, y - ARM);
    context.lineTo(x, y + ARM);
  }
  context.stroke();
}
