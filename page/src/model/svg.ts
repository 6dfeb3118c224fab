// SPDX-License-Identifier: Apache-2.0
import { CARD_SIZES } from "../layout/sizes";
import { truncateMiddle } from "./names";

export interface SvgCard {
  readonly title: string;
  readonly subtitle: string;
  readonly round: boolean;
  readonly color: string;
  readonly icon: string;
  readonly x: number;
  readonly y: number;
  readonly diffBadge?: SvgDiffBadge | undefined;
}

/** Diff status of a card or edge: its sign, color and dash pattern. */
export interface SvgDiffBadge {
  readonly sign: string;
  readonly color: string;
  readonly dash: string;
}

export interface SvgEdge {
  readonly points: readonly number[];
  readonly dash: string;
  readonly label: string;
  readonly diffBadge?: SvgDiffBadge | undefined;
}

export interface SvgColors {
  readonly background: string;
  readonly card: string;
  readonly border: string;
  readonly text: string;
  readonly faint: string;
  readonly edge: string;
  readonly font: string;
}

const MARGIN = 24;
/** Estimated mean letter width as a fraction of the font size. Text cannot be measured outside a browser. */
const MEAN_LETTER_WIDTH = 0.56;

/** A self-contained SVG document: no scripts, no fonts, no external references. */
export function svgDocument(
  cards: readonly SvgCard[],
  edges: readonly SvgEdge[],
  width: number,
  height: number,
  colors: SvgColors,
): string {
  const box = [-MARGIN, -MARGIN, width + 2 * MARGIN, height + 2 * MARGIN].map(Math.round);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box.join(" ")}" width="${box[2]}" height="${box[3]}" font-family="${escapeXml(colors.font)}">`,
    `<rect x="${box[0]}" y="${box[1]}" width="${box[2]}" height="${box[3]}" fill="${colors.background}"/>`,
    `<g fill="none" stroke="${colors.edge}" stroke-width="1.5">`,
    ...edges.map(
      ({ points, dash, diffBadge }) =>
        `<path d="${path(points)}"${attribute("stroke-dasharray", dash)}${attribute("stroke", diffBadge?.color)}/>`,
    ),
    "</g>",
    ...edges.flatMap(({ points, diffBadge }) => {
      const [x0, y0, x1, y1] = points.slice(-4);
      return diffBadge ? [badgeElement(diffBadge, (x0 + x1) / 2, (y0 + y1) / 2, colors)] : [];
    }),
    ...edges.filter(({ label }) => label !== "").map((edge) => edgeLabel(edge, colors)),
    ...cards.map((card) => cardElement(card, colors)),
    "</svg>",
    "",
  ].join("\n");
}

/** Text escaped for XML. Characters that XML does not allow become U+FFFD. */
export function escapeXml(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
  return text
    .replace(/[&<>"']/g, (one) => entities[one])
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

function badgeElement({ sign: text, color }: SvgDiffBadge, x: number, y: number, colors: SvgColors): string {
  const [left, top] = [Math.round(x), Math.round(y)];
  return (
    `<circle cx="${left}" cy="${top}" r="9" fill="${color}"/>` +
    `<text x="${left}" y="${top + 5}" font-size="14" font-weight="700" text-anchor="middle" ` +
    `fill="${colors.card}">${text}</text>`
  );
}

function edgeLabel({ points, label }: SvgEdge, colors: SvgColors): string {
  const [x0, y0, x1, y1] = points.slice(-4);
  return `<text x="${(x0 + x1) / 2}" y="${(y0 + y1) / 2 - 4}" font-size="11" text-anchor="middle" fill="${colors.faint}">${escapeXml(label)}</text>`;
}

function cardElement({ title, subtitle, round, color, icon, x, y, diffBadge }: SvgCard, colors: SvgColors): string {
  const [left, top] = [x - CARD_SIZES.width / 2, y - CARD_SIZES.height / 2];
  const textWidth = CARD_SIZES.width - 56;
  const outline = attribute("stroke", diffBadge?.color ?? colors.border) + attribute("stroke-dasharray", diffBadge?.dash);
  const text = (value: string, size: number) =>
    escapeXml(truncateMiddle(value, textWidth, (part) => [...part].length * size * MEAN_LETTER_WIDTH));
  return (
    `<g transform="translate(${Math.round(left)} ${Math.round(top)})">` +
    `<rect width="${CARD_SIZES.width}" height="${CARD_SIZES.height}" rx="${round ? CARD_SIZES.height / 2 : 7}" fill="${colors.card}"${outline}/>` +
    `<path transform="translate(12 12)" d="${icon}" fill="none" stroke="${color}" stroke-width="1.9" stroke-linecap="round" stroke-linejoin="round"/>` +
    `<text x="44" y="21" font-size="13" font-weight="600" fill="${colors.text}">${text(title, 13)}</text>` +
    `<text x="44" y="37" font-size="11" fill="${colors.faint}">${text(subtitle, 11)}</text>` +
    `${diffBadge ? badgeElement(diffBadge, round ? 12 : 3, 3, colors) : ""}</g>`
  );
}
