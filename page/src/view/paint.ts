// SPDX-License-Identifier: Apache-2.0
import { SIZES } from "../layout/sizes";
import type { Palette } from "./palette";
import { cut, paintCard } from "./paintCard";
import type { Scene } from "./scene";
import type { Size, Viewport } from "./viewport";

/** What is set off from the rest. */
export interface Emphasis {
  readonly selected: number;
  readonly hovered: number;
  /** Cards of a path, by their distance: negative upstream. Null where all are equal. */
  readonly traced: ReadonlyMap<number, number> | null;
}

export const PLAIN: Emphasis = { selected: -1, hovered: -1, traced: null };

/** Below this scale cards are spots of colour: nobody could read them. */
const READABLE = 0.34;
const { width: WIDTH, height: HEIGHT } = SIZES;
const FADED = 0.22;

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
    context.globalAlpha = emphasis.traced && !emphasis.traced.has(at) ? FADED : 1;
    paintCard(context, card, left, top, palette, at === emphasis.selected, at === emphasis.hovered);
  });
  context.globalAlpha = 1;
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

function paintLines(
  context: CanvasRenderingContext2D,
  scene: Scene,
  seen: Box,
  scale: number,
  palette: Palette,
  { traced, selected, hovered }: Emphasis,
): void {
  const width = Math.max(1.4, 0.9 / scale);
  const small = scale < READABLE;
  if (small) paintAllLines(context, scene, width, palette, traced !== null);
  const { lines, layout } = scene;
  lines.forEach(({ from, to, style, label }, at) => {
    const onPath = traced !== null && traced.has(from) && traced.has(to);
    const touched = from === hovered || to === hovered;
    if (small && !onPath && !touched) return;
    const points = linePoints(layout.x, layout.y, layout.routes[at], from, to);
    if (!crosses(points, seen)) return;
    const upstream = onPath && traced.get(to)! <= 0 && traced.get(from)! < 0;
    const downstream = onPath && traced.get(from)! >= 0;
    context.globalAlpha = traced && !onPath && !touched ? FADED : 1;
    context.strokeStyle = touched
      ? palette.accent
      : style === "masked"
        ? palette.masked
        : upstream && selected >= 0
          ? palette.upstream
          : downstream && selected >= 0
            ? palette.downstream
            : palette.line;
    context.lineWidth = onPath || touched ? width * 1.5 : width;
    context.setLineDash(style === "stream" ? [9, 5] : style === "indirect" ? [2, 5] : []);
    context.stroke(curve(points));
    if (scale >= READABLE) paintArrow(context, points[points.length - 2], points[points.length - 1]);
    if (label !== "" && scale >= 0.55) paintLabel(context, label, points, palette);
  });
  context.setLineDash([]);
  context.globalAlpha = 1;
}

const together = new WeakMap<object, Path2D>();

/** All lines of a layout as one, made once: thousands of strokes would cost a frame each time. */
function paintAllLines(
  context: CanvasRenderingContext2D,
  { lines, layout }: Scene,
  width: number,
  palette: Palette,
  faded: boolean,
): void {
  let path = together.get(layout);
  if (!path) {
    path = new Path2D();
    for (let at = 0; at < lines.length; at++) {
      addCurve(path, linePoints(layout.x, layout.y, layout.routes[at], lines[at].from, lines[at].to));
    }
    together.set(layout, path);
  }
  context.globalAlpha = faded ? FADED : 1;
  context.strokeStyle = palette.line;
  context.lineWidth = width;
  context.stroke(path);
}

/** The corners of a line, from the right edge of one card over its bends to the left edge of the other. */
export function linePoints(x: Float32Array, y: Float32Array, bends: Float32Array, from: number, to: number): number[] {
  return [x[from] + WIDTH / 2, y[from], ...bends, x[to] - WIDTH / 2, y[to]];
}

/** A smooth line through its corners, level where it meets a card. */
function curve(points: readonly number[]): Path2D {
  const path = new Path2D();
  addCurve(path, points);
  return path;
}

function addCurve(path: Path2D, points: readonly number[]): void {
  path.moveTo(points[0], points[1]);
  for (let at = 2; at < points.length; at += 2) {
    const [x0, y0, x1, y1] = points.slice(at - 2, at + 2);
    const pull = Math.max(24, Math.abs(x1 - x0) / 2);
    path.bezierCurveTo(x0 + pull, y0, x1 - pull, y1, x1, y1);
  }
}

function crosses(points: readonly number[], seen: Box): boolean {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let at = 0; at < points.length; at += 2) {
    left = Math.min(left, points[at]);
    right = Math.max(right, points[at]);
    top = Math.min(top, points[at + 1]);
    bottom = Math.max(bottom, points[at + 1]);
  }
  return right >= seen.left && left <= seen.right && bottom >= seen.top && top <= seen.bottom;
}

function paintArrow(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(x - 7, y - 4);
  context.lineTo(x - 1, y);
  context.lineTo(x - 7, y + 4);
  context.stroke();
}

function paintLabel(
  context: CanvasRenderingContext2D,
  label: string,
  points: readonly number[],
  palette: Palette,
): void {
  const [x0, y0, x1, y1] = points.slice(-4);
  context.font = `11px ${palette.font}`;
  const text = cut(context, label, Math.max(40, Math.abs(x1 - x0) - 34));
  const width = context.measureText(text).width + 10;
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
  context.fillStyle = palette.ground;
  context.beginPath();
  context.roundRect(x - width / 2, y - 9, width, 18, 9);
  context.fill();
  context.fillStyle = palette.faint;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, x, y + 0.5);
}

/** Cards as spots, all of one colour at a time. */
function paintSpots(
  context: CanvasRenderingContext2D,
  { cards, layout }: Scene,
  seen: Box,
  palette: Palette,
  { selected, traced }: Emphasis,
): void {
  const spots = new Map<string, { readonly clear: Path2D; readonly faded: Path2D }>();
  cards.forEach((card, at) => {
    const [left, top] = [layout.x[at] - WIDTH / 2, layout.y[at] - HEIGHT / 2];
    if (left > seen.right || left + WIDTH < seen.left || top > seen.bottom || top + HEIGHT < seen.top) return;
    const alarming = card.state === "failed" || card.state === "stale";
    const color = alarming ? palette.states[card.state] : palette.engines[card.engine];
    const paths = spots.get(color) ?? { clear: new Path2D(), faded: new Path2D() };
    spots.set(color, paths);
    (traced && !traced.has(at) ? paths.faded : paths.clear).rect(left, top, WIDTH, HEIGHT);
  });
  for (const [color, { clear, faded }] of spots) {
    context.fillStyle = color;
    context.globalAlpha = FADED;
    context.fill(faded);
    context.globalAlpha = 1;
    context.fill(clear);
  }
  if (selected < 0) return;
  context.strokeStyle = palette.accent;
  context.lineWidth = 12;
  context.strokeRect(layout.x[selected] - WIDTH / 2, layout.y[selected] - HEIGHT / 2, WIDTH, HEIGHT);
}
