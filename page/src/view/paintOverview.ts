// SPDX-License-Identifier: Apache-2.0
import { CARD_SIZES } from "../layout/sizes";
import { type Box, type Highlight, opacity } from "./highlight";
import type { Palette } from "./palette";
import type { Card, DiagramWithLayout } from "./diagram";

const { width: WIDTH, height: HEIGHT } = CARD_SIZES;

/** Draw cards as plain rectangles, one path per color. Removed cards are outlined. */
export function paintOverview(
  context: CanvasRenderingContext2D,
  diagram: DiagramWithLayout,
  visible: Box,
  palette: Palette,
  { selected, traced }: Highlight,
): void {
  const { cards, layout } = diagram;
  const groups = new Map<string, ColorGroup>();
  cards.forEach((card, at) => {
    const [left, top] = [layout.x[at] - WIDTH / 2, layout.y[at] - HEIGHT / 2];
    if (left > visible.right || left + WIDTH < visible.left || top > visible.bottom || top + HEIGHT < visible.top) return;
    const color = overviewColor(card, palette);
    const alpha = opacity(diagram, card, traced !== null, traced?.has(at) ?? false);
    const hollow = card.diffStatus === "removed";
    const key = `${color} ${alpha} ${hollow}`;
    const known = groups.get(key) ?? { path: new Path2D(), color, alpha, hollow };
    groups.set(key, known);
    known.path.rect(left, top, WIDTH, HEIGHT);
  });
  context.lineWidth = 12;
  for (const { path, color, alpha, hollow } of groups.values()) {
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

interface ColorGroup {
  readonly path: Path2D;
  readonly color: string;
  readonly alpha: number;
  readonly hollow: boolean;
}

/** Color of a card in the overview: its diff status, else a failed or stale state, else its engine. */
export function overviewColor({ diffStatus, state, engine }: Card, palette: Palette): string {
  if (diffStatus) return palette.diffStatuses[diffStatus];
  return state === "failed" || state === "stale" ? palette.states[state] : palette.engines[engine];
}
