// SPDX-License-Identifier: Apache-2.0
import { SIZES } from "../layout/sizes";
import { type Box, type Emphasis, opacity } from "./highlight";
import type { Palette } from "./palette";
import type { Card, Scene } from "./diagram";

const { width: WIDTH, height: HEIGHT } = SIZES;

/** Cards as spots, all of one colour at a time; what is no more is hollow. */
export function paintSpots(
  context: CanvasRenderingContext2D,
  scene: Scene,
  seen: Box,
  palette: Palette,
  { selected, traced }: Emphasis,
): void {
  const { cards, layout } = scene;
  const spots = new Map<string, Spots>();
  cards.forEach((card, at) => {
    const [left, top] = [layout.x[at] - WIDTH / 2, layout.y[at] - HEIGHT / 2];
    if (left > seen.right || left + WIDTH < seen.left || top > seen.bottom || top + HEIGHT < seen.top) return;
    const color = spotColor(card, palette);
    const alpha = opacity(scene, card.mark, traced !== null, traced?.has(at) ?? false);
    const hollow = card.mark === "removed";
    const key = `${color} ${alpha} ${hollow}`;
    const known = spots.get(key) ?? { path: new Path2D(), color, alpha, hollow };
    spots.set(key, known);
    known.path.rect(left, top, WIDTH, HEIGHT);
  });
  context.lineWidth = 12;
  for (const { path, color, alpha, hollow } of spots.values()) {
    context.globalAlpha = alpha;
    context.fillStyle = context.strokeStyle = color;
    if (hollow) context.stroke(path);
    else context.fill(path);
  }
  context.globalAlpha = 1;
  if (selected < 0) return;
  context.strokeStyle = palette.accent;
  context.strokeRect(layout.x[selected] - WIDTH / 2, layout.y[selected] - HEIGHT / 2, WIDTH, HEIGHT);
}

interface Spots {
  readonly path: Path2D;
  readonly color: string;
  readonly alpha: number;
  readonly hollow: boolean;
}

/** The colour by which a card is told from others where it cannot be read: what is wrong, or other, comes first. */
export function spotColor({ mark, state, engine }: Card, palette: Palette): string {
  if (mark) return palette.marks[mark];
  return state === "failed" || state === "stale" ? palette.states[state] : palette.engines[engine];
}
