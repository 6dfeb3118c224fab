// SPDX-License-Identifier: Apache-2.0
import { SIZES } from "../layout/sizes";
import type { Mark } from "../model/diff";
import { type Box, type Emphasis, opacity, READABLE } from "./highlight";
import type { Palette } from "./palette";
import { cut } from "./paintCard";
import { paintMark, REMOVED } from "./paintDiffBadge";
import type { Line, Scene } from "./diagram";

const { width: WIDTH } = SIZES;

/** Draw the lines of a scene, as far as they are seen. */
export function paintLines(
  context: CanvasRenderingContext2D,
  scene: Scene,
  seen: Box,
  scale: number,
  palette: Palette,
  { traced, hovered }: Emphasis,
): void {
  const width = Math.max(1.4, 0.9 / scale);
  const small = scale < READABLE;
  if (small) paintAllLines(context, scene, width, palette, traced !== null);
  const { lines, layout } = scene;
  lines.forEach(({ from, to, style, label, mark }, at) => {
    const onPath = traced !== null && traced.has(from) && traced.has(to);
    const touched = from === hovered || to === hovered;
    if (small && !onPath && !touched) return;
    const points = linePoints(layout.x, layout.y, layout.routes[at], from, to);
    if (!crosses(points, seen)) return;
    const upstream = onPath && traced.get(to)! <= 0 && traced.get(from)! < 0;
    const downstream = onPath && traced.get(from)! >= 0;
    context.globalAlpha = touched ? 1 : opacity(scene, mark, traced !== null, onPath);
    const path = upstream ? palette.upstream : downstream ? palette.downstream : palette.line;
    const own = mark ? palette.marks[mark] : style === "masked" ? palette.masked : path;
    context.strokeStyle = touched ? palette.accent : own;
    context.lineWidth = onPath || touched || mark ? width * 1.5 : width;
    context.setLineDash([...dashOf({ style, mark })]);
    context.stroke(curve(points));
    if (scale >= READABLE) paintArrow(context, points[points.length - 2], points[points.length - 1]);
    if (label !== "" && scale >= 0.55) paintLabel(context, label, points, palette);
    if (mark && !small) paintMark(context, mark, ...lineMiddle(points), palette);
  });
  context.setLineDash([]);
  context.globalAlpha = 1;
}

const together = new WeakMap<object, ReadonlyMap<Mark | undefined, Path2D>>();

/** All lines of a kind as one, made once: thousands of strokes would cost a frame each time. */
function paintAllLines(
  context: CanvasRenderingContext2D,
  scene: Scene,
  width: number,
  palette: Palette,
  faded: boolean,
): void {
  // Marks may change while the layout stays.
  const key = scene.compared ? scene.lines : scene.layout;
  const paths = together.get(key) ?? pathsByMark(scene);
  together.set(key, paths);
  for (const [mark, path] of paths) {
    context.globalAlpha = opacity(scene, mark, faded, false);
    context.strokeStyle = mark ? palette.marks[mark] : palette.line;
    context.lineWidth = mark ? width * 1.5 : width;
    context.setLineDash(mark === "removed" ? REMOVED.map((dash) => dash * width) : []);
    context.stroke(path);
  }
}

function pathsByMark({ lines, layout }: Scene): Map<Mark | undefined, Path2D> {
  const paths = new Map<Mark | undefined, Path2D>();
  lines.forEach(({ from, to, mark }, at) => {
    const path = paths.get(mark) ?? new Path2D();
    paths.set(mark, path);
    addCurve(path, linePoints(layout.x, layout.y, layout.routes[at], from, to));
  });
  return paths;
}

/** What a line's dashes say: that it is no more, that it streams, that it only decides. */
export function dashOf({ style, mark }: Pick<Line, "style" | "mark">): readonly number[] {
  if (mark === "removed") return REMOVED;
  return style === "stream" ? [9, 5] : style === "indirect" ? [2, 5] : [];
}

/** The middle of a line's last part, where its label and its mark are. */
export function lineMiddle(points: readonly number[]): [number, number] {
  const [x0, y0, x1, y1] = points.slice(-4);
  return [(x0 + x1) / 2, (y0 + y1) / 2];
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
  const [x0, , x1] = points.slice(-4);
  context.font = `11px ${palette.font}`;
  const text = cut(context, label, Math.max(40, Math.abs(x1 - x0) - 34));
  const width = context.measureText(text).width + 10;
  const [x, y] = lineMiddle(points);
  context.fillStyle = palette.ground;
  context.beginPath();
  context.roundRect(x - width / 2, y - 9, width, 18, 9);
  context.fill();
  context.fillStyle = palette.faint;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, x, y + 0.5);
}
