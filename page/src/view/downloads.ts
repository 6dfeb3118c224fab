// SPDX-License-Identifier: Apache-2.0
import { type Mark, SIGN } from "../model/diff";
import { svg, type SvgMark } from "../model/svg";
import { PLAIN } from "./highlight";
import { ICONS } from "./icons";
import { paint } from "./paintDiagram";
import { dashOf, linePoints } from "./paintEdges";
import { REMOVED } from "./paintDiffBadge";
import { type Palette, readPalette } from "./palette";
import type { Scene } from "./diagram";
import { fit } from "./viewport";

const MOST_PIXELS = 8_000;
const MARGIN = 24;

/** Hand a file to the user. */
export function download(name: string, type: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** A name that every file system takes. */
export function fileName(title: string, ending: string): string {
  const plain = title
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 80);
  return `${plain || "lineage"}.${ending}`;
}

export function exportSvg(scene: Scene, title: string): void {
  const palette = readPalette();
  const { layout } = scene;
  const cards = scene.cards.map((card, at) => ({
    title: card.title,
    subtitle: card.subtitle,
    round: card.shape === "job",
    color: palette.engines[card.engine],
    icon: ICONS[card.shape === "column" ? "column" : card.engine],
    x: layout.x[at],
    y: layout.y[at],
    mark: svgMark(card.mark, palette),
  }));
  const lines = scene.lines.map(({ from, to, style, label, mark }, at) => ({
    points: linePoints(layout.x, layout.y, layout.routes[at], from, to),
    dash: dashOf({ style, mark }).join(" "),
    label,
    mark: svgMark(mark, palette),
  }));
  download(fileName(title, "svg"), "image/svg+xml", svg(cards, lines, layout.width, layout.height, palette));
}

function svgMark(mark: Mark | undefined, palette: Palette): SvgMark | undefined {
  if (!mark) return undefined;
  return { sign: SIGN[mark], color: palette.marks[mark], dash: mark === "removed" ? REMOVED.join(" ") : "" };
}

export function exportPng(scene: Scene, title: string): void {
  const [width, height] = [scene.layout.width + 2 * MARGIN, scene.layout.height + 2 * MARGIN];
  const ratio = Math.min(2, MOST_PIXELS / width, MOST_PIXELS / height);
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(width * ratio);
  canvas.height = Math.ceil(height * ratio);
  const context = canvas.getContext("2d");
  if (!context) return;
  const viewport = { ...fit(scene.layout, { width, height }, MARGIN), scale: 1, x: -MARGIN, y: -MARGIN };
  paint(context, scene, viewport, { width, height }, ratio, readPalette(), PLAIN);
  canvas.toBlob((blob) => blob && download(fileName(title, "png"), "image/png", blob), "image/png");
}
