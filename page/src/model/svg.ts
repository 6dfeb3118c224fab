// SPDX-License-Identifier: Apache-2.0
import { SIZES } from "../layout/sizes";
import { fitted } from "./names";

export interface SvgCard {
  readonly title: string;
  readonly subtitle: string;
  readonly round: boolean;
  readonly color: string;
  readonly icon: string;
  readonly x: number;
  readonly y: number;
  readonly mark?: SvgMark | undefined;
}

/** What became of a card or line, where the picture is of a difference. */
export interface SvgMark {
  readonly sign: string;
  readonly color: string;
  readonly dash: string;
}

export interface SvgLine {
  readonly points: readonly number[];
  readonly dash: string;
  readonly label: string;
  readonly mark?: SvgMark | undefined;
}

export interface SvgColors {
  readonly ground: string;
  readonly card: string;
  readonly border: string;
  readonly text: string;
  readonly faint: string;
  readonly line: string;
  readonly font: string;
}

const MARGIN = 24;
/** Mean width of a letter, as a part of the font's size: there is nothing to measure with here. */
const LETTER = 0.56;

/** A picture as an SVG file of its own, without scripts, fonts or anything else from elsewhere. */
export function svg(
  cards: readonly SvgCard[],
  lines: readonly SvgLine[],
  width: number,
  height: number,
  colors: SvgColors,
): string {
  const box = [-MARGIN, -MARGIN, width + 2 * MARGIN, height + 2 * MARGIN].map(Math.round);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box.join(" ")}" width="${box[2]}" height="${box[3]}" font-family="${escaped(colors.font)}">`,
    `<rect x="${box[0]}" y="${box[1]}" width="${box[2]}" height="${box[3]}" fill="${colors.ground}"/>`,
    `<g fill="none" stroke="${colors.line}" stroke-width="1.5">`,
    ...lines.map(
      ({ points, dash, mark }) =>
        `<path d="${path(points)}"${attribute("stroke-dasharray", dash)}${attribute("stroke", mark?.color)}/>`,
    ),
    "</g>",
    ...lines.flatMap(({ points, mark }) => {
      const [x0, y0, x1, y1] = points.slice(-4);
      return mark ? [sign(mark, (x0 + x1) / 2, (y0 + y1) / 2, colors)] : [];
    }),
    ...lines.filter(({ label }) => label !== "").map((line) => lineLabel(line, colors)),
    ...cards.map((card) => cardText(card, colors)),
    "</svg>",
    "",
  ].join("\n");
}

/** Text for XML: the five characters that mean something there, and no others that it must not hold. */
export function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
  return text
    .replace(/[&<>"']/g, (one) => names[one])
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}

function path(points: readonly number[]): string {
  const rounded = points.map((value) => Math.round(value * 10) / 10);
  const parts = [`M${rounded[0]} ${rounded[1]}`];
  for (let at = 2; at < rounded.length; at += 2) {
    const [x0, y0, x1, y1] = rounded.slice(at - 2, at + 2);
    const pull = Math.max(24, Math.abs(x1 - x0) / 2);
    parts.push(`C${x0 + pull} ${y0} ${x1 - pull} ${y1} ${x1} ${y1}`);
  }
  return parts.join("");
}

function attribute(name: string, value: string | undefined): string {
  return value ? ` ${name}="${value}"` : "";
}

function sign({ sign: text, color }: SvgMark, x: number, y: number, colors: SvgColors): string {
  const [left, top] = [Math.round(x), Math.round(y)];
  return (
    `<circle cx="${left}" cy="${top}" r="9" fill="${color}"/>` +
    `<text x="${left}" y="${top + 5}" font-size="14" font-weight="700" text-anchor="middle" ` +
    `fill="${colors.card}">${text}</text>`
  );
}

function lineLabel({ points, label }: SvgLine, colors: SvgColors): string {
  const [x0, y0, x1, y1] = points.slice(-4);
  return `<text x="${(x0 + x1) / 2}" y="${(y0 + y1) / 2 - 4}" font-size="11" text-anchor="middle" fill="${colors.faint}">${escaped(label)}</text>`;
}

function cardText({ title, subtitle, round, color, icon, x, y, mark }: SvgCard, colors: SvgColors): string {
  const [left, top] = [x - SIZES.width / 2, y - SIZES.height / 2];
  const room = SIZES.width - 56;
  const edge = attribute("stroke", mark?.color ?? colors.border) + attribute("stroke-dasharray", mark?.dash);
  const text = (value: string, size: number) =>
    escaped(fitted(value, room, (part) => [...part].length * size * LETTER));
  return (
    `<g transform="translate(${Math.round(left)} ${Math.round(top)})">` +
    `<rect width="${SIZES.width}" height="${SIZES.height}" rx="${round ? SIZES.height / 2 : 7}" fill="${colors.card}"${edge}/>` +
    `<path transform="translate(12 12)" d="${icon}" fill="none" stroke="${color}" stroke-width="1.9" stroke-linecap="round" stroke-linejoin="round"/>` +
    `<text x="44" y="21" font-size="13" font-weight="600" fill="${colors.text}">${text(title, 13)}</text>` +
    `<text x="44" y="37" font-size="11" fill="${colors.faint}">${text(subtitle, 11)}</text>` +
    `${mark ? sign(mark, round ? 12 : 3, 3, colors) : ""}</g>`
  );
}
