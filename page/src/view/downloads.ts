// SPDX-License-Identifier: Apache-2.0
import { type DiffStatus, DIFF_SIGN } from "../model/diff";
import { svgDocument, type SvgDiffBadge } from "../model/svg";
import { NO_HIGHLIGHT } from "./highlight";
import { ICONS } from "./icons";
import { paintDiagram } from "./paintDiagram";
import { edgeDash, edgePoints } from "./paintEdges";
import { REMOVED_DASH } from "./paintDiffBadge";
import { type Palette, readPalette } from "./palette";
import type { DiagramWithLayout } from "./diagram";
import { fitToView } from "./viewport";

/** Maximum width and height of a PNG. */
const MAX_PIXELS = 8_000;
const MARGIN = 24;

/** Offer a file to the user as a download. */
export function download(name: string, type: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** A file name that is valid on every file system. */
export function fileName(title: string, ending: string): string {
  const plain = title
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 80);
  return `${plain || "lineage"}.${ending}`;
}

export function downloadSvg(diagram: DiagramWithLayout, title: string): void {
  const palette = readPalette();
  const { layout } = diagram;
  const cards = diagram.cards.map((card, at) => ({
    title: card.title,
    subtitle: card.subtitle,
    round: card.shape === "job",
    color: palette.engines[card.engine],
    icon: ICONS[card.shape === "column" ? "column" : card.engine],
    x: layout.x[at],
    y: layout.y[at],
    diffBadge: svgDiffBadge(card.diffStatus, palette),
  }));
  const edges = diagram.edges.map(({ from, to, style, label, diffStatus }, at) => ({
    points: edgePoints(layout.x, layout.y, layout.routes[at], from, to),
    dash: edgeDash({ style, diffStatus }).join(" "),
    label,
    diffBadge: svgDiffBadge(diffStatus, palette),
  }));
  download(fileName(title, "svg"), "image/svg+xml", svgDocument(cards, edges, layout.width, layout.height, palette));
}

function svgDiffBadge(status: DiffStatus | undefined, palette: Palette): SvgDiffBadge | undefined {
  if (!status) return undefined;
  const dash = status === "removed" ? REMOVED_DASH.join(" ") : "";
  return { sign: DIFF_SIGN[status], color: palette.diffStatuses[status], dash };
}

export function downloadPng(diagram: DiagramWithLayout, title: string): void {
  const [width, height] = [diagram.layout.width + 2 * MARGIN, diagram.layout.height + 2 * MARGIN];
  const ratio = Math.min(2, MAX_PIXELS / width, MAX_PIXELS / height);
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(width * ratio);
  canvas.height = Math.ceil(height * ratio);
  const context = canvas.getContext("2d");
  if (!context) return;
  const viewport = { ...fitToView(diagram.layout, { width, height }, MARGIN), scale: 1, x: -MARGIN, y: -MARGIN };
  paintDiagram(context, diagram, viewport, { width, height }, ratio, readPalette(), NO_HIGHLIGHT, new Map());
  canvas.toBlob((blob) => blob && download(fileName(title, "png"), "image/png", blob), "image/png");
}
