// SPDX-License-Identifier: Apache-2.0

/** What part of a picture is seen: point (x, y) of the picture is at the view's upper left corner. */
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

export const LEAST_SCALE = 0.02;
export const MOST_SCALE = 2.5;

/** The whole picture in the middle of the view, never magnified. */
export function fit(picture: Size, view: Size, margin = 32): Viewport {
  const [width, height] = [Math.max(1, view.width - 2 * margin), Math.max(1, view.height - 2 * margin)];
  const scale = Math.max(
    LEAST_SCALE,
    Math.min(1, width / Math.max(1, picture.width), height / Math.max(1, picture.height)),
  );
  return {
    scale,
    x: (picture.width - view.width / scale) / 2,
    y: (picture.height - view.height / scale) / 2,
  };
}

/** Another scale; what is under `at` (a point of the view) stays there. */
export function zoomed(viewport: Viewport, factor: number, at: Point): Viewport {
  const scale = Math.max(LEAST_SCALE, Math.min(MOST_SCALE, viewport.scale * factor));
  return {
    scale,
    x: viewport.x + at.x / viewport.scale - at.x / scale,
    y: viewport.y + at.y / viewport.scale - at.y / scale,
  };
}

export function toPicture({ x, y, scale }: Viewport, at: Point): Point {
  return { x: x + at.x / scale, y: y + at.y / scale };
}

export function toView({ x, y, scale }: Viewport, at: Point): Point {
  return { x: (at.x - x) * scale, y: (at.y - y) * scale };
}

/** Moved so that a point of the picture is at a point of the view. */
export function placed({ scale }: Viewport, point: Point, at: Point): Viewport {
  return { scale, x: point.x - at.x / scale, y: point.y - at.y / scale };
}

/** Moved as little as needed for a point of the picture to be seen, `margin` pixels within the view. */
export function revealed(viewport: Viewport, point: Point, view: Size, margin: Point): Viewport {
  const at = toView(viewport, point);
  const within = (value: number, least: number, most: number) =>
    most < least ? (least + most) / 2 : Math.min(most, Math.max(least, value));
  const goal = { x: within(at.x, margin.x, view.width - margin.x), y: within(at.y, margin.y, view.height - margin.y) };
  return goal.x === at.x && goal.y === at.y ? viewport : placed(viewport, point, goal);
}
