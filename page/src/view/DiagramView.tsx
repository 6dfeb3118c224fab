// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Layout } from "../layout/layout";
import { CARD_SIZES, type LayoutSizes } from "../layout/sizes";
import { traceLineage } from "../model/trace";
import { graphWorker } from "../state/store";
import { theme } from "../state/theme";
import { type CardColumn, DETAIL_SCALE } from "./cardColumns";
import { downloadPng, downloadSvg } from "./downloads";
import { digraphOf, type Diagram, sameStructure, type DiagramWithLayout } from "./diagram";
import { GraphCanvas, READABLE_SCALE } from "./graphCanvas";

interface DiagramViewProps {
  readonly diagram: Diagram;
  /** Title for screen readers and file names. */
  readonly title: string;
  readonly sizes?: LayoutSizes;
  readonly selected: string;
  /** Subject of the diagram. A diagram of another subject is shown as a whole. */
  readonly subject?: string;
  readonly onPick: (id: string | null) => void;
  /** Known columns by card id, for enlarged cards. */
  readonly columns?: ReadonlyMap<string, readonly CardColumn[]>;
  /** Enlarged cards are in view: their columns may be loaded. */
  readonly onDetail?: (ids: readonly string[]) => void;
  readonly onPickColumn?: (id: string, column: string) => void;
  readonly tools?: ComponentChildren;
}

const NO_COLUMNS: ReadonlyMap<string, readonly CardColumn[]> = new Map();

/** Maximum number of cards with a button for keyboard and screen reader. */
const MAX_BUTTONS = 250;
/** The same for unreadably small cards. The arrow keys lead to the others. */
const MAX_BUTTONS_OVERVIEW = 30;
/** Scale below which cards count as unreadably small. */
const MIN_BUTTON_SCALE = 0.3;

const buttonsOf = (graphCanvas: GraphCanvas): number[] =>
  graphCanvas.visible(graphCanvas.viewport.scale < MIN_BUTTON_SCALE ? MAX_BUTTONS_OVERVIEW : MAX_BUTTONS);

/** A diagram on a canvas, with an invisible button over each card in view for keyboard and screen reader. */
export function DiagramView(props: DiagramViewProps) {
  const { diagram, title, sizes = CARD_SIZES, selected, subject = "", onPick, columns = NO_COLUMNS, tools } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const minimap = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLDivElement>(null);
  const graphCanvas = useRef<GraphCanvas | null>(null);
  /** Id of the card last picked on the canvas. It is in view already, so that the view must not move. */
  const picked = useRef<string | null>(null);
  const [hovered, setHovered] = useState(-1);
  const [visible, setVisible] = useState<readonly number[]>([]);
  const aspect = useAspect(canvas);
  const laidOut = useLayout(diagram, sizes, aspect);
  const current = useRef({ ...props, laidOut, columns });
  current.current = { ...props, laidOut, columns };
  const at = laidOut ? laidOut.cards.findIndex(({ id }) => id === selected) : -1;
  const traced = useMemo(
    () => (laidOut && at >= 0 ? traceLineage(laidOut.cards.length, digraphOf(laidOut), at) : null),
    [laidOut, at],
  );

  const requestDetail = () => {
    const { laidOut: drawn, onDetail } = current.current;
    const shown = graphCanvas.current;
    if (!shown || !drawn || shown.viewport.scale < DETAIL_SCALE) return;
    onDetail?.(shown.visible(MAX_BUTTONS).map((card) => drawn.cards[card].id));
  };

  useEffect(() => {
    const pick = (card: number, column: number) => {
      const id = current.current.laidOut?.cards[card]?.id ?? null;
      const name = current.current.columns.get(id ?? "")?.[column]?.name;
      if (id !== null && name !== undefined && current.current.onPickColumn) return current.current.onPickColumn(id, name);
      picked.current = id;
      current.current.onPick(id);
    };
    const layer = overlay.current!;
    const onMove = ({ x, y, scale }: { x: number; y: number; scale: number }) => {
      layer.style.transform = `translate(${-x * scale}px, ${-y * scale}px) scale(${scale})`;
      clearTimeout(settled);
      settled = window.setTimeout(() => {
        setVisible(buttonsOf(created));
        requestDetail();
      }, 80);
    };
    let settled = 0;
    const created = new GraphCanvas(canvas.current!, minimap.current, { onHover: setHovered, onPick: pick, onMove });
    graphCanvas.current = created;
    return () => {
      clearTimeout(settled);
      created.dispose();
    };
  }, []);

  const previous = useRef<{ readonly laidOut: DiagramWithLayout; readonly subject: string } | null>(null);
  useEffect(() => {
    if (!laidOut || !graphCanvas.current) return;
    const before = previous.current;
    const moved = before !== null && before.laidOut.layout !== laidOut.layout;
    // The subject changes before the layout of its diagram arrives.
    previous.current = { laidOut, subject: before && !moved ? before.subject : subject };
    const anchor = moved && before.subject === subject ? anchorOf(before.laidOut, laidOut, selected) : null;
    // A view of the whole stays one: an anchor would push a part of an expanded map out of view.
    const fits = moved && (anchor === null || (selected === "" && graphCanvas.current.showsAll));
    graphCanvas.current.show(laidOut, anchor);
    if (fits) graphCanvas.current.fit();
    // The neighborhood of a hub does not fit at a readable scale: then the selected card is in the middle.
    if (at >= 0 && (!before || fits)) graphCanvas.current.reveal(at, READABLE_SCALE);
    setVisible(buttonsOf(graphCanvas.current));
    requestDetail();
  }, [laidOut]);

  useEffect(() => {
    graphCanvas.current?.highlightCards({ selected: at, hovered, traced });
  }, [at, hovered, traced, laidOut]);
  useEffect(() => graphCanvas.current?.showColumns(columns), [columns]);
  useEffect(() => graphCanvas.current?.updateTheme(), [theme.value]);
  useEffect(() => {
    if (at >= 0 && picked.current !== selected) graphCanvas.current?.reveal(at);
    picked.current = null;
  }, [selected, at >= 0]);

  const move = (event: KeyboardEvent, card: number) => {
    const next = laidOut && nextCard(laidOut, card, event.key);
    if (next === null || next === undefined) return;
    event.preventDefault();
    graphCanvas.current?.reveal(next);
    setVisible((known) => (known.includes(next) ? known : [...known, next]));
    requestAnimationFrame(() => overlay.current?.querySelector<HTMLElement>(`[data-card="${next}"]`)?.focus());
  };

  return (
    <div class="diagram" aria-busy={laidOut === null}>
      <canvas
        ref={canvas}
        class={hovered >= 0 ? "over" : undefined}
        role="img"
        aria-label={`${title}: ${diagram.cards.length} cards`}
        title={laidOut?.cards[hovered]?.label ?? ""}
      />
      <div class="cards" ref={overlay} role="group" aria-label={title}>
        {laidOut &&
          visible.map((card) => {
            const known = laidOut.cards[card];
            if (!known) return null;
            return (
              <button
                key={known.id}
                type="button"
                data-card={card}
                data-node={known.id}
                data-state={known.state}
                aria-label={known.label}
                aria-pressed={known.id === selected}
                style={{
                  left: `${laidOut.layout.x[card] - CARD_SIZES.width / 2}px`,
                  top: `${laidOut.layout.y[card] - CARD_SIZES.height / 2}px`,
                }}
                onClick={(event) => event.detail === 0 && onPick(known.id)}
                onKeyDown={(event) => move(event, card)}
              />
            );
          })}
      </div>
      <div class="tools" role="toolbar" aria-label="Graph tools">
        <button type="button" onClick={() => graphCanvas.current?.zoom(1.3)} aria-label="Zoom in">
          +
        </button>
        <button type="button" onClick={() => graphCanvas.current?.zoom(1 / 1.3)} aria-label="Zoom out">
          −
        </button>
        <button type="button" onClick={() => graphCanvas.current?.fit()}>
          Fit
        </button>
        <button type="button" disabled={!laidOut} onClick={() => laidOut && downloadSvg(laidOut, title)}>
          SVG
        </button>
        <button type="button" disabled={!laidOut} onClick={() => laidOut && downloadPng(laidOut, title)}>
          PNG
        </button>
        {tools}
      </div>
      <canvas ref={minimap} class="minimap" aria-hidden="true" />
    </div>
  );
}

/** Aspect ratios (width by height) that diagrams are laid out for: a resize within a step moves nothing. */
const ASPECTS = [0.5, 0.75, 1, 1.4, 1.8, 2.4];

/** Aspect ratio of an element, rounded to one of `ASPECTS`; 0 until it is known. */
function useAspect(element: RefObject<HTMLElement | null>): number {
  const [aspect, setAspect] = useState(0);
  useEffect(() => {
    const observed = element.current!;
    const update = () => {
      const { clientWidth: width, clientHeight: height } = observed;
      if (width === 0 || height === 0) return;
      const distance = (one: number) => Math.abs(Math.log((one * height) / width));
      setAspect(ASPECTS.reduce((best, one) => (distance(one) < distance(best) ? one : best)));
    };
    const observer = new ResizeObserver(update);
    observer.observe(observed);
    update();
    return () => observer.disconnect();
  }, []);
  return aspect;
}

/** A diagram with its layout; the previous one while the layout is computed. */
function useLayout(diagram: Diagram, sizes: LayoutSizes, aspect: number): DiagramWithLayout | null {
  const [result, setResult] = useState<{ readonly diagram: Diagram; readonly layout: Layout; readonly aspect: number } | null>(null);
  const upToDate = result !== null && result.aspect === aspect && sameStructure(result.diagram, diagram);
  useEffect(() => {
    if (upToDate || aspect === 0) return;
    let current = true;
    void graphWorker
      .call("layoutGraph", digraphOf(diagram), { ...sizes, aspect })
      .then((layout) => current && setResult({ diagram, layout, aspect }));
    return () => {
      current = false;
    };
  }, [diagram, sizes, aspect]);
  const shown = upToDate ? diagram : result?.diagram;
  const layout = result?.layout;
  return useMemo(() => (shown && layout ? { ...shown, layout } : null), [shown, layout]);
}

/** The card that keeps its position: the selected one, else the first that both diagrams contain. */
function anchorOf(before: DiagramWithLayout, laidOut: DiagramWithLayout, selected: string) {
  const indexes = new Map(laidOut.cards.map(({ id }, at) => [id, at]));
  const known = before.cards.findIndex(({ id }) => id === selected && indexes.has(id));
  const old = known >= 0 ? known : before.cards.findIndex(({ id }) => indexes.has(id));
  if (old < 0) return null;
  const point = { x: before.layout.x[old], y: before.layout.y[old] };
  return { center: point, card: indexes.get(before.cards[old].id)! };
}

/** Target of an arrow key: left and right along the edges, up and down to the next card of the column. */
function nextCard(laidOut: DiagramWithLayout, card: number, key: string): number | null {
  const { x, y } = laidOut.layout;
  const nearest = (cards: readonly number[]) =>
    cards.reduce<number | null>((best, other) => (best === null || gap(other) < gap(best) ? other : best), null);
  const gap = (other: number) => Math.abs(y[other] - y[card]);
  switch (key) {
    case "ArrowRight":
      return nearest(laidOut.edges.filter(({ from }) => from === card).map(({ to }) => to));
    case "ArrowLeft":
      return nearest(laidOut.edges.filter(({ to }) => to === card).map(({ from }) => from));
    case "ArrowUp":
    case "ArrowDown": {
      const above = key === "ArrowUp";
      return nearest(
        laidOut.cards
          .map((_, other) => other)
          .filter((other) => Math.abs(x[other] - x[card]) < 1 && (above ? y[other] < y[card] : y[other] > y[card])),
      );
    }
    default:
      return null;
  }
}
