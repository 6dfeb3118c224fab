// SPDX-License-Identifier: Apache-2.0

/** The visible part of a diagram: point (x, y) of the diagram is at the upper left corner of the view. */
export interface Viewport {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export const MIN_SCALE = 0.02;
export const MAX_SCALE = 3;

/** Show the entire diagram in the middle of the view, below the uppermost `top` pixels, at scale 1 at most. */
export function fitToView(diagram: Size, view: Size, margin = 32, top = 0): Viewport {
  const [width, height] = [Math.max(1, view.width - 2 * margin), Math.max(1, view.height - 2 * margin - top)];
  const scale = Math.max(
    MIN_SCALE,
    Math.min(1, width / Math.max(1, diagram.width), height / Math.max(1, diagram.height)),
  );
  return {
    scale,
    x: (diagram.width - view.width / scale) / 2,
    y: (diagram.height - (view.height + top) / scale) / 2,
  };
}

/** Zoom by a factor; the point at `at` (view coordinates) stays in place. */
export function zoomAt(viewport: Viewport, factor: number, at: Point): Viewport {
  const scale = Math.max(MIN_SCALE, Math.min(MAX_SCALE, viewport.scale * factor));
  return {
    scale,
    x: viewport.x + at.x / viewport.scale - at.x / scale,
    y: viewport.y + at.y / viewport.scale - at.y / scale,
  };
}

/** True if the view contains the entire diagram. */
export function showsAll({ x, y, scale }: Viewport, diagram: Size, view: Size): boolean {
  const right = x + view.width / scale;
  const bottom = y + view.height / scale;
  return x <= 0 && y <= 0 && right >= diagram.width && bottom >= diagram.height;
}

export function toDiagram({ x, y, scale }: Viewport, at: Point): Point {
  return { x: x + at.x / scale, y: y + at.y / scale };
}

export function toView({ x, y, scale }: Viewport, at: Point): Point {
  return { x: (at.x - x) * scale, y: (at.y - y) * scale };
}

/** Move the viewport so that a point of the diagram is at a point of the view. */
export function alignPoint({ scale }: Viewport, point: Point, at: Point): Viewport {
  return { scale, x: point.x - at.x / scale, y: point.y - at.y / scale };
}

/** Move the viewport by the least distance that shows a point at least `margin` pixels inside the view. */
export function scrollIntoView(viewport: Viewport, point: Point, view: Size, margin: Point): Viewport {
  const at = toView(viewport, point);
  const clamp = (value: number, min: number, max: number) =>
    max < min ? (min + max) / 2 : Math.min(max, Math.max(min, value));
  const target = { x: clamp(at.x, margin.x, view.width - margin.x), y: clamp(at.y, margin.y, view.height - margin.y) };
  return target.x === at.x && target.y === at.y ? viewport : alignPoint(viewport, point, target);
}
