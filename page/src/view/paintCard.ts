// SPDX-License-Identifier: Apache-2.0
import { SIZES } from "../layout/sizes";
import { fitted } from "../model/names";
import { ICONS } from "./icons";
import { paintMark, REMOVED } from "./paintDiffBadge";
import type { Palette } from "./palette";
import type { Card } from "./diagram";

const { width: WIDTH, height: HEIGHT } = SIZES;

const icons = new Map<string, Path2D>();
const cuts = new Map<string, string>();

/** Draw one card, its upper left corner at a point. */
export function paintCard(
  context: CanvasRenderingContext2D,
  card: Card,
  left: number,
  top: number,
  palette: Palette,
  selected: boolean,
  hovered: boolean,
): void {
  if (card.shape === "group") {
    context.fillStyle = palette.card;
    context.strokeStyle = palette.border;
    context.lineWidth = 1;
    outline(context, card, left + 6, top + 6);
    context.fill();
    context.stroke();
  }
  outline(context, card, left, top);
  context.fillStyle = card.shape === "group" ? palette.group : palette.card;
  context.fill();
  const usual = card.mark ? palette.marks[card.mark] : palette.border;
  context.strokeStyle = selected || hovered ? palette.accent : usual;
  context.lineWidth = selected ? 2.5 : card.mark ? 2 : 1;
  if (card.mark === "removed") context.setLineDash(REMOVED);
  context.stroke();
  context.setLineDash([]);
  paintIcon(
    context,
    card.shape === "column" ? "column" : card.engine,
    left + 12,
    top + 12,
    24,
    palette.engines[card.engine],
  );
  const marks = paintMarks(context, card, left, top, palette);
  paintText(context, card, left + 44, top, WIDTH - 44 - marks - 10, palette);
  if (card.mark) paintMark(context, card.mark, left + (card.shape === "job" ? 12 : 3), top + 3, palette);
}

/** Jobs are round at both ends, datasets are boxes. */
function outline(context: CanvasRenderingContext2D, card: Card, left: number, top: number): void {
  context.beginPath();
  context.roundRect(left, top, WIDTH, HEIGHT, card.shape === "job" ? HEIGHT / 2 : 7);
}

function paintIcon(
  context: CanvasRenderingContext2D,
  icon: keyof typeof ICONS,
  left: number,
  top: number,
  size: number,
  color: string,
): void {
  let path = icons.get(icon);
  if (!path) icons.set(icon, (path = new Path2D(ICONS[icon])));
  context.save();
  context.translate(left, top);
  context.scale(size / 24, size / 24);
  context.strokeStyle = color;
  context.lineWidth = 1.9;
  context.lineCap = "round";
  context.lineJoin = "round";
  context.stroke(path);
  context.restore();
}

/** Marks at the right end: the state, a lock, that it streams. Returns the room that they took. */
function paintMarks(
  context: CanvasRenderingContext2D,
  card: Card,
  left: number,
  top: number,
  palette: Palette,
): number {
  let room = 0;
  if (card.state !== "none") {
    room += 22;
    paintState(context, card.state, left + WIDTH - room + 4, top + HEIGHT / 2, palette);
  }
  if (card.masked) {
    room += 18;
    paintIcon(context, "lock", left + WIDTH - room - 4, top + HEIGHT / 2 - 8, 16, palette.masked);
  }
  if (card.streaming && card.shape === "job") {
    room += 18;
    paintIcon(context, "stream", left + WIDTH - room - 4, top + HEIGHT / 2 - 8, 16, palette.faint);
  }
  return room;
}

/** States differ in shape as well as in colour. */
function paintState(
  context: CanvasRenderingContext2D,
  state: Card["state"],
  x: number,
  y: number,
  palette: Palette,
): void {
  const radius = 6;
  context.fillStyle = context.strokeStyle = palette.states[state];
  context.lineWidth = 2.4;
  context.lineCap = "round";
  context.beginPath();
  switch (state) {
    case "running":
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
      break;
    case "completed":
      context.moveTo(x - 5, y);
      context.lineTo(x - 1.5, y + 4);
      context.lineTo(x + 5, y - 4);
      context.stroke();
      break;
    case "failed":
      context.moveTo(x - 4.5, y - 4.5);
      context.lineTo(x + 4.5, y + 4.5);
      context.moveTo(x + 4.5, y - 4.5);
      context.lineTo(x - 4.5, y + 4.5);
      context.stroke();
      break;
    case "aborted":
      context.fillRect(x - 5, y - 5, 10, 10);
      break;
    case "stale":
      context.arc(x, y, radius - 1, 0, 2 * Math.PI);
      context.moveTo(x, y - 3);
      context.lineTo(x, y + 0.5);
      context.lineTo(x + 2, y + 0.5);
      context.lineWidth = 1.8;
      context.stroke();
      break;
    default:
      context.arc(x, y, radius - 1.5, 0, 2 * Math.PI);
      context.stroke();
  }
}

function paintText(
  context: CanvasRenderingContext2D,
  card: Card,
  left: number,
  top: number,
  room: number,
  palette: Palette,
): void {
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  context.direction = "ltr";
  context.font = `600 13px ${palette.font}`;
  context.fillStyle = palette.text;
  context.fillText(cut(context, card.title, room), left, top + 21);
  context.font = `11px ${palette.font}`;
  context.fillStyle = palette.faint;
  context.fillText(cut(context, card.subtitle, room), left, top + 37);
}

/** A text cut to some room; remembered, because measuring is what costs. */
export function cut(context: CanvasRenderingContext2D, text: string, room: number): string {
  const key = `${context.font}|${room}|${text}`;
  let found = cuts.get(key);
  if (found === undefined) {
    if (cuts.size > 20_000) cuts.clear();
    found = fitted(text, room, (part) => context.measureText(part).width);
    cuts.set(key, found);
  }
  return found;
}
