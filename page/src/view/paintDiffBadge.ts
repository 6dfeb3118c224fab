// SPDX-License-Identifier: Apache-2.0
import type { DiffStatus } from "../model/diff";
import type { Palette } from "./palette";

const RADIUS = 9;
const SIGN_ARM = 4;

/** Dash pattern of removed cards and edges. */
export const REMOVED_DASH: readonly number[] = [4, 4];

/** Draw a diff status as a disc around (x, y) with a plus, minus or tilde, so that color is not needed. */
export function paintDiffBadge(context: CanvasRenderingContext2D, status: DiffStatus, x: number, y: number, palette: Palette): void {
  context.setLineDash([]);
  context.fillStyle = palette.diffStatuses[status];
  context.beginPath();
  context.arc(x, y, RADIUS, 0, 2 * Math.PI);
  context.fill();
  context.strokeStyle = palette.onDiffStatus;
  context.lineWidth = 2;
  context.lineCap = "round";
  context.beginPath();
  if (status === "changed") {
    context.moveTo(x - SIGN_ARM, y + 1);
    context.bezierCurveTo(x - 1, y - 6, x + 1, y + 6, x + SIGN_ARM, y - 1);
  } else {
    context.moveTo(x - SIGN_ARM, y);
    context.lineTo(x + SIGN_ARM, y);
  }
  if (status === "added") {
    context.moveTo(x, y - SIGN_ARM);
    context.lineTo(x, y + SIGN_ARM);
  }
  context.stroke();
}
