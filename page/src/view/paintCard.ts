// SPDX-License-Identifier: Apache-2.0
import { CARD_SIZES } from "../layout/sizes";
import { truncateMiddle } from "../model/names";
import { type CardColumn, COLUMN_FONT, columnCells, DETAIL_SCALE, TITLE_FONT } from "./cardColumns";
import { ICONS } from "./icons";
import { paintDiffBadge, REMOVED_DASH } from "./paintDiffBadge";
import type { Palette } from "./palette";
import type { Card } from "./diagram";

const { width: WIDTH, height: HEIGHT } = CARD_SIZES;

const iconPaths = new Map<string, Path2D>();
const truncatedTexts = new Map<string, string>();

/** Distance of the text of a card from its left border. */
const TEXT_LEFT = 44;

/** Left border and width of the text of a card, in diagram units relative to the card. */
export function textSpan(card: Card): { readonly left: number; readonly width: number } {
  return { left: TEXT_LEFT, width: WIDTH - TEXT_LEFT - badges(card).width - 10 };
}

/** Draw a card with its upper left corner at (left, top). From `DETAIL_SCALE` on it lists columns, if they are known. */
export function paintCard(
  context: CanvasRenderingContext2D,
  card: Card,
  left: number,
  top: number,
  palette: Palette,
  selected: boolean,
  hovered: boolean,
  scale: number,
  columns: readonly CardColumn[] = [],
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
  paintBadges(context, card, left, top, palette);
  const span = textSpan(card);
  if (scale >= DETAIL_SCALE && (columns.length > 0 || card.facts.length > 0)) {
    paintDetails(context, card, left + span.left, top, span.width, palette, scale, columns);
  } else paintText(context, card, left + span.left, top, span.width, palette);
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

/** Badges at the right end of a card, from the right: state, suspicion, masking, streaming; `width` is that of all. */
function badges(card: Card) {
  const state = card.state === "none" ? 0 : 22;
  const suspect = state + (card.suspect ? 20 : 0);
  const lock = suspect + (card.masked ? 18 : 0);
  const width = lock + (card.streaming && card.shape === "job" ? 18 : 0);
  return { state, suspect, lock, width };
}

function paintBadges(
  context: CanvasRenderingContext2D,
  card: Card,
  left: number,
  top: number,
  palette: Palette,
): void {
  const { state, suspect, lock, width } = badges(card);
  const [right, middle] = [left + WIDTH, top + HEIGHT / 2];
  if (state > 0) paintState(context, card.state, right - state + 4, middle, palette);
  if (suspect > state) paintIcon(context, "suspect", right - suspect - 4, middle - 9, 18, palette.states.stale);
  if (lock > suspect) paintIcon(context, "lock", right - lock - 4, middle - 8, 16, palette.masked);
  if (width > lock) paintIcon(context, "stream", right - width - 4, middle - 8, 16, palette.faint);
}

/** Draw the title of a card and below it its columns, or facts about a job, in text of a fixed size on the screen. */
function paintDetails(
  context: CanvasRenderingContext2D,
  card: Card,
  left: number,
  top: number,
  width: number,
  palette: Palette,
  scale: number,
  columns: readonly CardColumn[],
): void {
  alignText(context);
  context.font = `600 ${TITLE_FONT / scale}px ${palette.font}`;
  context.fillStyle = palette.text;
  context.fillText(truncateText(context, card.title, width), left, top + 17 / scale);
  context.font = `${COLUMN_FONT / scale}px ${palette.font}`;
  const texts = columns.length > 0 ? columns.map(({ name }) => name) : card.facts;
  const cells = columnCells(texts.length, width, scale);
  for (const { column, left: x, top: y, width: wide } of cells) {
    context.fillStyle = columns[column]?.masked ? palette.masked : column < 0 ? palette.faint : palette.text;
    const text = column < 0 ? `${texts.length - cells.length + 1} more` : texts[column];
    context.fillText(truncateText(context, text, wide - 6 / scale), left + x, top + y + COLUMN_FONT / scale);
  }
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
  alignText(context);
  context.font = `600 14px ${palette.font}`;
  context.fillStyle = palette.text;
  context.fillText(truncateText(context, card.title, width), left, top + 21);
  context.font = `11px ${palette.font}`;
  context.fillStyle = palette.faint;
  context.fillText(truncateText(context, card.subtitle, width), left, top + 37);
}

function alignText(context: CanvasRenderingContext2D): void {
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  context.direction = "ltr";
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
