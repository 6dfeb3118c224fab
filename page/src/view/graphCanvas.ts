// SPDX-License-Identifier: Apache-2.0
import { CARD_SIZES } from "../layout/sizes";
import { type CardColumn, columnAt, DETAIL_SCALE } from "./cardColumns";
import { type Highlight, opacity, NO_HIGHLIGHT } from "./highlight";
import { textSpan } from "./paintCard";
import { paintDiagram } from "./paintDiagram";
import { overviewColor } from "./paintOverview";
import { type Palette, readPalette } from "./palette";
import type { DiagramWithLayout } from "./diagram";
import {
  alignPoint,
  fitToView,
  type Point,
  scrollIntoView,
  showsAll,
  type Size,
  toDiagram,
  toView,
  type Viewport,
  zoomAt,
} from "./viewport";

export interface GraphCanvasEvents {
  /** The viewport changed. Called at most once per frame. */
  readonly onMove: (viewport: Viewport) => void;
  readonly onHover: (card: number) => void;
  /** A card was picked, or a column of it that is shown; -1 for none. */
  readonly onPick: (card: number, column: number) => void;
}

/** Pixels that the pointer may move between press and release of a click. */
const MAX_CLICK_TRAVEL = 4;
/** Distance that a revealed card keeps from the border of the view. */
const REVEAL_MARGIN: Point = { x: CARD_SIZES.width * 0.7, y: 70 };

/** Scale at which the titles of cards are 11 pixels high. */
export const READABLE_SCALE = 0.8;

/** Distance in pixels of a fitted diagram from the border of the view, and from its top, where the toolbar is. */
const FIT_MARGIN = 24;
const TOOLBAR_HEIGHT = 40;

/** A canvas that shows a diagram, with pan and zoom by mouse, wheel and touch, and an optional minimap. */
export class GraphCanvas {
  private diagram: DiagramWithLayout | null = null;
  private highlight: Highlight = NO_HIGHLIGHT;
  private columns: ReadonlyMap<string, readonly CardColumn[]> = new Map();
  private palette: Palette = readPalette();
  private size: Size = { width: 1, height: 1 };
  private frame = 0;
  private viewportChanged = false;
  /** True once the performance mark of the first paint is set; tests/bench/page.py reads it. */
  private markedInteractive = false;
  private readonly pointers = new Map<number, Point>();
  private travelled = 0;
  private readonly observer: ResizeObserver;
  viewport: Viewport = { x: 0, y: 0, scale: 1 };

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly minimap: HTMLCanvasElement | null,
    private readonly events: GraphCanvasEvents,
  ) {
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
    canvas.addEventListener("wheel", this.onWheel, { passive: false });
    canvas.addEventListener("pointerdown", this.onDown);
    canvas.addEventListener("pointermove", this.onPointerMove);
    canvas.addEventListener("pointerup", this.onUp);
    canvas.addEventListener("pointercancel", this.onUp);
    canvas.addEventListener("pointerleave", () => this.events.onHover(-1));
    minimap?.addEventListener("pointerdown", this.onMinimap);
    minimap?.addEventListener("pointermove", this.onMinimap);
    this.resize();
  }

  dispose(): void {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** True if the entire diagram is in view. */
  get showsAll(): boolean {
    return this.diagram !== null && showsAll(this.viewport, this.diagram.layout, this.size);
  }

  /** Show a diagram. `anchor` is a card that keeps its position in the view: its old center and its new index. */
  show(diagram: DiagramWithLayout, anchor: { readonly center: Point; readonly card: number } | null): void {
    const first = this.diagram === null;
    this.diagram = diagram;
    if (anchor) {
      const at = toView(this.viewport, anchor.center);
      this.viewport = alignPoint(this.viewport, this.cardCenter(anchor.card), at);
      this.viewportChanged = true;
    } else if (first) this.fit();
    this.scheduleDraw();
  }

  highlightCards(highlight: Highlight): void {
    this.highlight = highlight;
    this.scheduleDraw();
  }

  /** Show columns in enlarged cards, by card id. */
  showColumns(columns: ReadonlyMap<string, readonly CardColumn[]>): void {
    this.columns = columns;
    this.scheduleDraw();
  }

  /** Show the entire diagram. */
  fit(): void {
    if (!this.diagram) return;
    this.move(fitToView(this.diagram.layout, this.size, FIT_MARGIN, TOOLBAR_HEIGHT));
  }

  zoom(factor: number, at: Point = { x: this.size.width / 2, y: this.size.height / 2 }): void {
    this.move(zoomAt(this.viewport, factor, at));
  }

  /** Bring a card into view, enlarged if the scale is below `least`. */
  reveal(card: number, least = 0.5): void {
    if (this.viewport.scale < least) {
      const middle = this.cardCenter(card);
      const at = { x: this.size.width / 2, y: this.size.height / 2 };
      this.move(alignPoint({ ...this.viewport, scale: READABLE_SCALE }, middle, at));
    } else this.move(scrollIntoView(this.viewport, this.cardCenter(card), this.size, REVEAL_MARGIN));
  }

  cardCenter(card: number): Point {
    return { x: this.diagram?.layout.x[card] ?? 0, y: this.diagram?.layout.y[card] ?? 0 };
  }

  /** The first `limit` cards in view, in the order of the diagram. */
  visible(limit: number): number[] {
    if (!this.diagram) return [];
    const { x, y } = this.diagram.layout;
    const found: number[] = [];
    for (let card = 0; card < x.length && found.length < limit; card++) {
      const at = toView(this.viewport, { x: x[card], y: y[card] });
      const [halfWidth, halfHeight] = [
        (CARD_SIZES.width / 2) * this.viewport.scale,
        (CARD_SIZES.height / 2) * this.viewport.scale,
      ];
      const inside = at.x > -halfWidth && at.x < this.size.width + halfWidth;
      if (inside && at.y > -halfHeight && at.y < this.size.height + halfHeight) found.push(card);
    }
    return found;
  }

  /** Repaint with the colors of the current theme. */
  updateTheme(): void {
    this.palette = readPalette();
    this.scheduleDraw();
  }

  private move(viewport: Viewport): void {
    this.viewport = viewport;
    this.viewportChanged = true;
    this.scheduleDraw();
  }

  private scheduleDraw(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    this.frame = 0;
    if (this.viewportChanged) this.events.onMove(this.viewport);
    this.viewportChanged = false;
    const context = this.canvas.getContext("2d", { alpha: false });
    if (!context || !this.diagram) return;
    paintDiagram(context, this.diagram, this.viewport, this.size, devicePixelRatio, this.palette, this.highlight, this.columns);
    this.paintMinimap();
    if (!this.markedInteractive) performance.mark("interactive");
    this.markedInteractive = true;
  }

  private paintMinimap(): void {
    const context = this.minimap?.getContext("2d");
    if (!this.minimap || !context || !this.diagram) return;
    const { cards, layout } = this.diagram;
    const hidden = showsAll(this.viewport, layout, this.size);
    this.minimap.style.visibility = hidden ? "hidden" : "visible";
    if (hidden) return;
    const view = this.minimapViewport();
    const ratio = devicePixelRatio;
    this.minimap.width = this.minimap.clientWidth * ratio;
    this.minimap.height = this.minimap.clientHeight * ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [width, height] = [Math.max(2, CARD_SIZES.width * view.scale), Math.max(1.5, CARD_SIZES.height * view.scale)];
    cards.forEach((card, at) => {
      const middle = toView(view, { x: layout.x[at], y: layout.y[at] });
      context.globalAlpha = opacity(this.diagram!, card, false, false);
      context.fillStyle = overviewColor(card, this.palette);
      context.fillRect(middle.x - width / 2, middle.y - height / 2, width, height);
    });
    context.globalAlpha = 1;
    const corner = toView(view, this.viewport);
    const [seenWidth, seenHeight] = [this.size.width, this.size.height].map(
      (side) => (side / this.viewport.scale) * view.scale,
    );
    context.strokeStyle = this.palette.accent;
    context.lineWidth = 1.5;
    context.strokeRect(corner.x, corner.y, seenWidth, seenHeight);
  }

  private minimapViewport(): Viewport {
    const { width, height } = this.diagram!.layout;
    return fitToView({ width, height }, { width: this.minimap!.clientWidth, height: this.minimap!.clientHeight }, 6);
  }

  private readonly onMinimap = (event: PointerEvent): void => {
    if (event.buttons === 0 || !this.diagram) return;
    const point = toDiagram(this.minimapViewport(), { x: event.offsetX, y: event.offsetY });
    this.move(alignPoint(this.viewport, point, { x: this.size.width / 2, y: this.size.height / 2 }));
  };

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    const hidden = this.size.width <= 1;
    this.size = { width, height };
    this.canvas.width = width * devicePixelRatio;
    this.canvas.height = height * devicePixelRatio;
    if (hidden) this.fit();
    else if (this.highlight.selected >= 0) {
      this.viewport = scrollIntoView(this.viewport, this.cardCenter(this.highlight.selected), this.size, REVEAL_MARGIN);
    }
    this.viewportChanged = true;
    this.scheduleDraw();
  }

  private readonly onWheel = (event: WheelEvent): void => {
    event.preventDefault();
    const step = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
    this.zoom(Math.exp((-event.deltaY * step) / (event.ctrlKey ? 100 : 500)), { x: event.offsetX, y: event.offsetY });
  };

  private readonly onDown = (event: PointerEvent): void => {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    if (this.pointers.size === 1) this.travelled = 0;
  };

  private readonly onPointerMove = (event: PointerEvent): void => {
    const at = { x: event.offsetX, y: event.offsetY };
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.events.onHover(this.cardAt(at));
      return;
    }
    this.travelled += Math.hypot(at.x - before.x, at.y - before.y);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    if (others.length > 0) {
      const [other] = others;
      const distance = (point: Point) => Math.hypot(point.x - other.x, point.y - other.y);
      this.zoom(distance(at) / Math.max(1, distance(before)), { x: (at.x + other.x) / 2, y: (at.y + other.y) / 2 });
    } else if (this.travelled > MAX_CLICK_TRAVEL) {
      const { x, y, scale } = this.viewport;
      this.move({ scale, x: x - (at.x - before.x) / scale, y: y - (at.y - before.y) / scale });
    }
    this.pointers.set(event.pointerId, at);
  };

  private readonly onUp = (event: PointerEvent): void => {
    const known = this.pointers.delete(event.pointerId);
    const clicked = known && event.type === "pointerup" && this.pointers.size === 0 && this.travelled <= MAX_CLICK_TRAVEL;
    if (!clicked) return;
    const at = { x: event.offsetX, y: event.offsetY };
    const card = this.cardAt(at);
    this.events.onPick(card, card < 0 ? -1 : this.columnAt(card, at));
  };

  /** Index of the shown column of a card at a point of the view; -1 for none. */
  private columnAt(card: number, at: Point): number {
    const { scale } = this.viewport;
    const known = this.diagram!.cards[card];
    const columns = this.columns.get(known.id) ?? [];
    if (scale < DETAIL_SCALE || columns.length === 0) return -1;
    const point = toDiagram(this.viewport, at);
    const middle = this.cardCenter(card);
    const { left, width } = textSpan(known);
    const [x, y] = [point.x - middle.x + CARD_SIZES.width / 2 - left, point.y - middle.y + CARD_SIZES.height / 2];
    return columnAt(columns.length, width, scale, x, y);
  }

  private cardAt(at: Point): number {
    if (!this.diagram) return -1;
    const { x, y } = toDiagram(this.viewport, at);
    const { layout } = this.diagram;
    for (let card = layout.x.length - 1; card >= 0; card--) {
      if (Math.abs(layout.x[card] - x) <= CARD_SIZES.width / 2 && Math.abs(layout.y[card] - y) <= CARD_SIZES.height / 2)
        return card;
    }
    return -1;
  }
}
