// SPDX-License-Identifier: Apache-2.0
import { SIZES } from "../layout/sizes";
import { type Emphasis, opacity, PLAIN } from "./highlight";
import { paint } from "./paintDiagram";
import { spotColor } from "./paintOverview";
import { type Palette, readPalette } from "./palette";
import type { Scene } from "./diagram";
import { fit, placed, type Point, revealed, type Size, toPicture, toView, type Viewport, zoomed } from "./viewport";

/** What a stage tells its owner. */
export interface StageEvents {
  /** The viewport is other than it was; called at most once a frame. */
  readonly onMove: (viewport: Viewport) => void;
  readonly onHover: (card: number) => void;
  readonly onPick: (card: number) => void;
}

const CLICK = 4;
const REVEAL_MARGIN: Point = { x: SIZES.width * 0.7, y: 70 };

/** A canvas with a scene on it that can be moved and zoomed by mouse, touch and wheel. */
export class Stage {
  private scene: Scene | null = null;
  private emphasis: Emphasis = PLAIN;
  private palette: Palette = readPalette();
  private size: Size = { width: 1, height: 1 };
  private frame = 0;
  private moved = false;
  /** Whether the moment of the first picture was noted, which the benchmark reads. */
  private told = false;
  private readonly pointers = new Map<number, Point>();
  private travelled = 0;
  private readonly observer: ResizeObserver;
  viewport: Viewport = { x: 0, y: 0, scale: 1 };

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly minimap: HTMLCanvasElement | null,
    private readonly events: StageEvents,
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

  close(): void {
    this.observer.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** Show a scene. With `anchor` (a place in the old scene, one in the new) that card stays where it is seen. */
  show(scene: Scene, anchor: { readonly before: Point; readonly now: number } | null): void {
    const first = this.scene === null;
    this.scene = scene;
    if (anchor) {
      const at = toView(this.viewport, anchor.before);
      this.viewport = placed(this.viewport, this.middle(anchor.now), at);
      this.moved = true;
    } else if (first) this.fit();
    this.draw();
  }

  emphasize(emphasis: Emphasis): void {
    this.emphasis = emphasis;
    this.draw();
  }

  /** The whole picture, or as much of its beginning as can be read. */
  fit(): void {
    if (!this.scene) return;
    this.move(fit(this.scene.layout, this.size));
  }

  zoom(factor: number, at: Point = { x: this.size.width / 2, y: this.size.height / 2 }): void {
    this.move(zoomed(this.viewport, factor, at));
  }

  /** Bring a card into view, large enough to be read. */
  reveal(card: number): void {
    if (this.viewport.scale < 0.5) {
      const middle = this.middle(card);
      const at = { x: this.size.width / 2, y: this.size.height / 2 };
      this.move(placed({ ...this.viewport, scale: 0.8 }, middle, at));
    } else this.move(revealed(this.viewport, this.middle(card), this.size, REVEAL_MARGIN));
  }

  middle(card: number): Point {
    return { x: this.scene?.layout.x[card] ?? 0, y: this.scene?.layout.y[card] ?? 0 };
  }

  /** The cards that are in view, in the order of the scene; no more than `limit` of them. */
  visible(limit: number): number[] {
    if (!this.scene) return [];
    const { x, y } = this.scene.layout;
    const found: number[] = [];
    for (let card = 0; card < x.length && found.length < limit; card++) {
      const at = toView(this.viewport, { x: x[card], y: y[card] });
      const [halfWidth, halfHeight] = [
        (SIZES.width / 2) * this.viewport.scale,
        (SIZES.height / 2) * this.viewport.scale,
      ];
      const inside = at.x > -halfWidth && at.x < this.size.width + halfWidth;
      if (inside && at.y > -halfHeight && at.y < this.size.height + halfHeight) found.push(card);
    }
    return found;
  }

  /** Read the colours again: it is light or dark now. */
  retheme(): void {
    this.palette = readPalette();
    this.draw();
  }

  private move(viewport: Viewport): void {
    this.viewport = viewport;
    this.moved = true;
    this.draw();
  }

  private draw(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    this.frame = 0;
    if (this.moved) this.events.onMove(this.viewport);
    this.moved = false;
    const context = this.canvas.getContext("2d", { alpha: false });
    if (!context || !this.scene) return;
    paint(context, this.scene, this.viewport, this.size, devicePixelRatio, this.palette, this.emphasis);
    this.paintMinimap();
    if (!this.told) performance.mark("interactive");
    this.told = true;
  }

  private paintMinimap(): void {
    const context = this.minimap?.getContext("2d");
    if (!this.minimap || !context || !this.scene) return;
    const { cards, layout } = this.scene;
    const view = this.minimapViewport();
    const ratio = devicePixelRatio;
    this.minimap.width = this.minimap.clientWidth * ratio;
    this.minimap.height = this.minimap.clientHeight * ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [width, height] = [Math.max(2, SIZES.width * view.scale), Math.max(1.5, SIZES.height * view.scale)];
    cards.forEach((card, at) => {
      const middle = toView(view, { x: layout.x[at], y: layout.y[at] });
      context.globalAlpha = opacity(this.scene!, card.mark, false, false);
      context.fillStyle = spotColor(card, this.palette);
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
    const { width, height } = this.scene!.layout;
    return fit({ width, height }, { width: this.minimap!.clientWidth, height: this.minimap!.clientHeight }, 6);
  }

  private readonly onMinimap = (event: PointerEvent): void => {
    if (event.buttons === 0 || !this.scene) return;
    const point = toPicture(this.minimapViewport(), { x: event.offsetX, y: event.offsetY });
    this.move(placed(this.viewport, point, { x: this.size.width / 2, y: this.size.height / 2 }));
  };

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    const hidden = this.size.width <= 1;
    this.size = { width, height };
    this.canvas.width = width * devicePixelRatio;
    this.canvas.height = height * devicePixelRatio;
    if (hidden) this.fit();
    else if (this.emphasis.selected >= 0) {
      this.viewport = revealed(this.viewport, this.middle(this.emphasis.selected), this.size, REVEAL_MARGIN);
    }
    this.moved = true;
    this.draw();
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
    } else if (this.travelled > CLICK) {
      const { x, y, scale } = this.viewport;
      this.move({ scale, x: x - (at.x - before.x) / scale, y: y - (at.y - before.y) / scale });
    }
    this.pointers.set(event.pointerId, at);
  };

  private readonly onUp = (event: PointerEvent): void => {
    const known = this.pointers.delete(event.pointerId);
    const clicked = known && event.type === "pointerup" && this.pointers.size === 0 && this.travelled <= CLICK;
    if (clicked) this.events.onPick(this.cardAt({ x: event.offsetX, y: event.offsetY }));
  };

  private cardAt(at: Point): number {
    if (!this.scene) return -1;
    const { x, y } = toPicture(this.viewport, at);
    const { layout } = this.scene;
    for (let card = layout.x.length - 1; card >= 0; card--) {
      if (Math.abs(layout.x[card] - x) <= SIZES.width / 2 && Math.abs(layout.y[card] - y) <= SIZES.height / 2)
        return card;
    }
    return -1;
  }
}
