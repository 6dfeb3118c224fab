// SPDX-License-Identifier: Apache-2.0
import { SIZES } from "../layout/sizes";
import { type Box, type Emphasis, opacity, READABLE } from "./highlight";
import type { Palette } from "./palette";
import { paintCard } from "./paintCard";
import { paintLines } from "./paintEdges";
import { paintSpots } from "./paintOverview";
import type { Scene } from "./diagram";
import type { Size, Viewport } from "./viewport";

const { width: WIDTH, height: HEIGHT } = SIZES;

/** Draw a scene. `ratio` is device pixels per pixel. */
export function paint(
  context: CanvasRenderingContext2D,
  scene: Scene,
  viewport: Viewport,
  size: Size,
  ratio: number,
  palette: Palette,
  emphasis: Emphasis,
): void {
  const { x, y, scale } = viewport;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, size.width, size.height);
  context.setTransform(ratio * scale, 0, 0, ratio * scale, -x * scale * ratio, -y * scale * ratio);
  const seen = {
    left: x - WIDTH,
    top: y - HEIGHT,
    right: x + size.width / scale + WIDTH,
    bottom: y + size.height / scale + HEIGHT,
  };
  paintLines(context, scene, seen, scale, palette, emphasis);
  if (scale < READABLE) paintSpots(context, scene, seen, palette, emphasis);
  else paintCards(context, scene, seen, palette, emphasis);
}

function paintCards(
  context: CanvasRenderingContext2D,
  scene: Scene,
  seen: Box,
  palette: Palette,
  emphasis: Emphasis,
): void {
  scene.cards.forEach((card, at) => {
    const [left, top] = [scene.layout.x[at] - WIDTH / 2, scene.layout.y[at] - HEIGHT / 2];
    if (left > seen.right || left + WIDTH < seen.left || top > seen.bottom || top + HEIGHT < seen.top) return;
    const onPath = emphasis.traced?.has(at) ?? false;
    context.globalAlpha = opacity(scene, card.mark, emphasis.traced !== null, onPath);
    paintCard(context, card, left, top, palette, at === emphasis.selected, at === emphasis.hovered);
  });
  context.globalAlpha = 1;
}
