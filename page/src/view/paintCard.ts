// SPDX-License-Identifier: Apache-2.0
import { CARD_SIZES } from "../layout/sizes";
import { truncateMiddle } from "../model/names";
import { ICONS } from "./icons";
import { paintDiffBadge, REMOVED_DASH } from "./paintDiffBadge";
import type { Palette } from "./palette";
import type { Card } from "./diagram";

const { width: WIDTH, height: HEIGHT } = CARD_SIZES;

const iconPaths = new Map<string, Path2D>();
const truncatedTexts = new Map<string, string>();

/** Draw a card with its upper left corner at (left, top). */
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
  const color = card.diffStatus ? palette.diffStatuses[card.diffStatus] : palette.border;
  context.strokeStyle = selected || hovered ? palette.accent : color;
  context.lineWidth = selected ? 2.5 : card.diffStatus ? 2 : 1;
  if (card.diffStatus === "removed") context.setLineDash(REMOVED_DASH);
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
  const badgesWidth = paintBadges(context, card, left, top, palette);
  paintText(context, card, left + 44, top, WIDTH - 44 - badgesWidth - 10, palette);
  if (card.diffStatus) paintDiffBadge(context, card.diffStatus, left + (card.shape === "job" ? 12 : 3), top + 3, palette);
}

/** Outline of a card: jobs have round ends, datasets are boxes. */
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
  let path = iconPaths.get(icon);
  if (!path) iconPaths.set(icon, (path = new Path2D(ICONS[icon])));
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

/** Draw the badges at the right end: state, suspicion, masking, streaming. Returns their width. */
function paintBadges(
  context: CanvasRenderingContext2D,
  card: Card,
  left: number,
  top: number,
  palette: Palette,
): number {
  let width = 0;
  if (card.state !== "none") {
    width += 22;
    paintState(context, card.state, left + WIDTH - width + 4, top + HEIGHT / 2, palette);
  }
  if (card.suspect) {
    width += 20;
    paintIcon(context, "suspect", left + WIDTH - width - 4, top + HEIGHT / 2 - 9, 18, palette.states.stale);
  }
  if (card.masked) {
    width += 18;
    paintIcon(context, "lock", left + WIDTH - width - 4, top + HEIGHT / 2 - 8, 16, palette.masked);
  }
  if (card.streaming && card.shape === "job") {
    width += 18;
    paintIcon(context, "stream", left + WIDTH - width - 4, top + HEIGHT / 2 - 8, 16, palette.faint);
  }
  return width;
}

/** Draw a state. States differ in shape and not only in color. */
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
  width: number,
  palette: Palette,
): void {
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  context.direction = "ltr";
  context.font = `600 14px ${palette.font}`;
  context.fillStyle = palette.text;
  context.fillText(truncateText(context, card.title, width), left, top + 21);
  context.font = `11px ${palette.font}`;
  context.fillStyle = palette.faint;
  context.fillText(truncateText(context, card.subtitle, width), left, top + 37);
}

/** Truncate text to a width. Results are cached, because measuring text is slow. */
export function truncateText(context: CanvasRenderingContext2D, text: string, width: number): string {
  const key = `${context.font}|${width}|${text}`;
  let found = truncatedTexts.get(key);
  if (found === undefined) {
    if (truncatedTexts.size > 20_000) truncatedTexts.clear();
    found = truncateMiddle(text, width, (part) => context.measureText(part).width);
    truncatedTexts.set(key, found);
  }
  return found;
}
