// SPDX-License-Identifier: Apache-2.0
import { CARD_SIZES } from "../layout/sizes";
import type { DiffStatus } from "../model/diff";
import { type Box, type Highlight, opacity, MIN_READABLE_SCALE } from "./highlight";
import type { Palette } from "./palette";
import { truncateText } from "./paintCard";
import { paintDiffBadge, REMOVED_DASH } from "./paintDiffBadge";
import type { DiagramEdge, DiagramWithLayout } from "./diagram";

const { width: WIDTH } = CARD_SIZES;

/** Draw the visible edges of a diagram. */
export function paintEdges(
  context: CanvasRenderingContext2D,
  diagram: DiagramWithLayout,
  visible: Box,
  scale: number,
  palette: Palette,
  { traced, hovered }: Highlight,
): void {
  const width = Math.max(1.4, 0.9 / scale);
  const overview = scale < MIN_READABLE_SCALE;
  if (overview) paintAllEdges(context, diagram, width, palette, traced !== null);
  const { edges, layout } = diagram;
  edges.forEach(({ from, to, style, label, diffStatus }, at) => {
    const onPath = traced !== null && traced.has(from) && traced.has(to);
    const atHovered = from === hovered || to === hovered;
    if (overview && !onPath && !atHovered) return;
    const points = edgePoints(layout.x, layout.y, layout.routes[at], from, to);
    if (!intersects(points, visible)) return;
    const upstream = onPath && traced.get(to)! <= 0 && traced.get(from)! < 0;
    const downstream = onPath && traced.get(from)! >= 0;
    context.globalAlpha = atHovered ? 1 : edgeOpacity(diagram, diffStatus, traced !== null, onPath);
    const pathColor = upstream ? palette.upstream : downstream ? palette.downstream : palette.edge;
    const color = diffStatus ? palette.diffStatuses[diffStatus] : style === "masked" ? palette.masked : pathColor;
    context.strokeStyle = atHovered ? palette.accent : color;
    context.lineWidth = onPath || atHovered || diffStatus ? width * 1.5 : width;
    context.setLineDash([...edgeDash({ style, diffStatus })]);
    context.stroke(curve(points));
    if (scale >= MIN_READABLE_SCALE) paintArrow(context, points[points.length - 2], points[points.length - 1]);
    if (label !== "" && scale >= 0.55) paintLabel(context, label, points, palette);
    if (diffStatus && !overview) paintDiffBadge(context, diffStatus, ...edgeMiddle(points), palette);
  });
  context.setLineDash([]);
  context.globalAlpha = 1;
}

/** Opacity of the edges of a diagram with far more edges than cards, such as a map of groups. */
const CROWDED_OPACITY = 0.45;

function edgeOpacity(diagram: DiagramWithLayout, diffStatus: DiffStatus | undefined, traced: boolean, onPath: boolean): number {
  const crowded = !onPath && diffStatus === undefined && diagram.edges.length > 2 * diagram.cards.length;
  return Math.min(opacity(diagram, { diffStatus }, traced, onPath), crowded ? CROWDED_OPACITY : 1);
}

const pathCache = new WeakMap<object, ReadonlyMap<DiffStatus | undefined, Path2D>>();

/** Draw all edges of a status as one cached path. Thousands of single strokes would take longer than a frame. */
function paintAllEdges(
  context: CanvasRenderingContext2D,
  diagram: DiagramWithLayout,
  width: number,
  palette: Palette,
  faded: boolean,
): void {
  // In a comparison, statuses may change while the layout stays.
  const key = diagram.isDiff ? diagram.edges : diagram.layout;
  const paths = pathCache.get(key) ?? pathsByStatus(diagram);
  pathCache.set(key, paths);
  for (const [diffStatus, path] of paths) {
    context.globalAlpha = edgeOpacity(diagram, diffStatus, faded, false);
    context.strokeStyle = diffStatus ? palette.diffStatuses[diffStatus] : palette.edge;
    context.lineWidth = diffStatus ? width * 1.5 : width;
    context.setLineDash(diffStatus === "removed" ? REMOVED_DASH.map((dash) => dash * width) : []);
    context.stroke(path);
  }
}

function pathsByStatus({ edges, layout }: DiagramWithLayout): Map<DiffStatus | undefined, Path2D> {
  const paths = new Map<DiffStatus | undefined, Path2D>();
  edges.forEach(({ from, to, diffStatus }, at) => {
    const path = paths.get(diffStatus) ?? new Path2D();
    paths.set(diffStatus, path);
    addCurve(path, edgePoints(layout.x, layout.y, layout.routes[at], from, to));
  });
  return paths;
}

/** Dash pattern of an edge: removed, streaming, indirect or solid. */
export function edgeDash({ style, diffStatus }: Pick<DiagramEdge, "style" | "diffStatus">): readonly number[] {
  if (diffStatus === "removed") return REMOVED_DASH;
  return style === "stream" ? [9, 5] : style === "indirect" ? [2, 5] : [];
}

/** The middle of an edge's last section, where its label and diff badge are drawn. */
export function edgeMiddle(points: readonly number[]): [number, number] {
  const [x0, y0, x1, y1] = points.slice(-4);
  return [(x0 + x1) / 2, (y0 + y1) / 2];
}

/** Points of an edge, from the right side of one card through its bends to the left side of the other. */
export function edgePoints(x: Float32Array, y: Float32Array, bends: Float32Array, from: number, to: number): number[] {
  return [x[from] + WIDTH / 2, y[from], ...bends, x[to] - WIDTH / 2, y[to]];
}

/** A smooth curve through the points of an edge, horizontal at the cards. */
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

function intersects(points: readonly number[], visible: Box): boolean {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let at = 0; at < points.length; at += 2) {
    left = Math.min(left, points[at]);
    right = Math.max(right, points[at]);
    top = Math.min(top, points[at + 1]);
    bottom = Math.max(bottom, points[at + 1]);
  }
  return right >= visible.left && left <= visible.right && bottom >= visible.top && top <= visible.bottom;
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
  const text = truncateText(context, label, Math.max(40, Math.abs(x1 - x0) - 34));
  const width = context.measureText(text).width + 10;
  const [x, y] = edgeMiddle(points);
  context.fillStyle = palette.background;
  context.beginPath();
  context.roundRect(x - width / 2, y - 9, width, 18, 9);
  context.fill();
  context.fillStyle = palette.faint;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, x, y + 0.5);
}
