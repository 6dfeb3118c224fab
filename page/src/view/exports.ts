// SPDX-License-Identifier: Apache-2.0
import { svg } from "../model/svg";
import { ICONS } from "./icons";
import { linePoints, paint, PLAIN } from "./paint";
import { readPalette } from "./palette";
import type { Scene } from "./scene";
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
  }));
  const lines = scene.lines.map(({ from, to, style, label }, at) => ({
    points: linePoints(layout.x, layout.y, layout.routes[at], from, to),
    dash: style === "stream" ? "9 5" : style === "indirect" ? "2 5" : "",
    label,
  }));
  download(fileName(title, "svg"), "image/svg+xml", svg(cards, lines, layout.width, layout.height, palette));
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
