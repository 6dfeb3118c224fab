// SPDX-License-Identifier: Apache-2.0
import { CARD_SIZES } from "../layout/sizes";
import type { CardColumn } from "./cardColumns";
import { type Box, type Highlight, opacity, MIN_READABLE_SCALE } from "./highlight";
import type { Palette } from "./palette";
import { paintCard } from "./paintCard";
import { paintEdges } from "./paintEdges";
import { paintOverview } from "./paintOverview";
import type { DiagramWithLayout } from "./diagram";
import type { Size, Viewport } from "./viewport";

const { width: WIDTH, height: HEIGHT } = CARD_SIZES;

/** Draw the visible part of a diagram. `ratio` is the device pixel ratio, `columns` the known columns by card. */
export function paintDiagram(
  context: CanvasRenderingContext2D,
  diagram: DiagramWithLayout,
  viewport: Viewport,
  size: Size,
  ratio: number,
  palette: Palette,
  highlight: Highlight,
  columns: ReadonlyMap<string, readonly CardColumn[]>,
): void {
  const { x, y, scale } = viewport;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = palette.background;
  context.fillRect(0, 0, size.width, size.height);
  context.setTransform(ratio * scale, 0, 0, ratio * scale, -x * scale * ratio, -y * scale * ratio);
  const visible = {
    left: x - WIDTH,
    top: y - HEIGHT,
    right: x + size.width / scale + WIDTH,
    bottom: y + size.height / scale + HEIGHT,
  };
  paintEdges(context, diagram, visible, scale, palette, highlight);
  if (scale < MIN_READABLE_SCALE) paintOverview(context, diagram, visible, palette, highlight);
  else paintCards(context, diagram, visible, palette, highlight, scale, columns);
}

function paintCards(
  context: CanvasRenderingContext2D,
  diagram: DiagramWithLayout,
  visible: Box,
  palette: Palette,
  highlight: Highlight,
  scale: number,
  columns: ReadonlyMap<string, readonly CardColumn[]>,
): void {
  diagram.cards.forEach((card, at) => {
    const [left, top] = [diagram.layout.x[at] - WIDTH / 2, diagram.layout.y[at] - HEIGHT / 2];
    if (left > visible.right || left + WIDTH < visible.left || top > visible.bottom || top + HEIGHT < visible.top) return;
    const onPath = highlight.traced?.has(at) ?? false;
    context.globalAlpha = opacity(diagram, card, highlight.traced !== null, onPath);
    paintCard(context, card, left, top, palette, at === highlight.selected, at === highlight.hovered, scale, columns.get(card.id));
  });
  context.globalAlpha = 1;
}
