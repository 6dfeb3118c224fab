// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Layout, Sizes } from "../layout/layout";
import { SIZES } from "../layout/sizes";
import { trace } from "../model/trace";
import { engine } from "../state/store";
import { theme } from "../state/theme";
import { exportPng, exportSvg } from "./downloads";
import { digraphOf, type Picture, sameOutline, type Scene } from "./diagram";
import { Stage } from "./graphCanvas";

interface Props {
  readonly picture: Picture;
  /** What the picture is of, for screen readers and for names of files. */
  readonly title: string;
  readonly sizes?: Sizes;
  readonly selected: string;
  readonly onPick: (id: string | null) => void;
  readonly tools?: ComponentChildren;
}

/** Cards that get a button of their own for keyboard and screen reader; more are not to be told apart anyway. */
const MOST_BUTTONS = 250;
/** Where cards are too small to be read, some are enough to begin with: the arrow keys lead to the others. */
const FEW_BUTTONS = 30;
const READABLE = 0.3;

const buttonsOf = (stage: Stage): number[] =>
  stage.visible(stage.viewport.scale < READABLE ? FEW_BUTTONS : MOST_BUTTONS);

/** A picture on a canvas, with a button over each card in view: mouse, touch, keyboard and screen reader alike. */
export function PictureView({ picture, title, sizes = SIZES, selected, onPick, tools }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const minimap = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLDivElement>(null);
  const stage = useRef<Stage | null>(null);
  /** What was last picked on the canvas: it is where the eye is, so that the view must not move for it. */
  const picked = useRef<string | null>(null);
  const [hovered, setHovered] = useState(-1);
  const [visible, setVisible] = useState<readonly number[]>([]);
  const scene = useScene(picture, sizes);
  const current = useRef({ scene, onPick });
  current.current = { scene, onPick };
  const at = scene ? scene.cards.findIndex(({ id }) => id === selected) : -1;
  const traced = useMemo(
    () => (scene && at >= 0 ? trace(scene.cards.length, digraphOf(scene), at) : null),
    [scene, at],
  );

  useEffect(() => {
    const pick = (card: number) => {
      const id = current.current.scene?.cards[card]?.id ?? null;
      picked.current = id;
      current.current.onPick(id);
    };
    const layer = overlay.current!;
    const onMove = ({ x, y, scale }: { x: number; y: number; scale: number }) => {
      layer.style.transform = `translate(${-x * scale}px, ${-y * scale}px) scale(${scale})`;
      clearTimeout(settled);
      settled = window.setTimeout(() => setVisible(buttonsOf(made)), 80);
    };
    let settled = 0;
    const made = new Stage(canvas.current!, minimap.current, { onHover: setHovered, onPick: pick, onMove });
    stage.current = made;
    return () => {
      clearTimeout(settled);
      made.close();
    };
  }, []);

  const shownBefore = useRef<Scene | null>(null);
  useEffect(() => {
    if (!scene || !stage.current) return;
    const before = shownBefore.current;
    shownBefore.current = scene;
    stage.current.show(scene, before && before.layout !== scene.layout ? anchorOf(before, scene, selected) : null);
    if (!before && at >= 0) stage.current.reveal(at);
    setVisible(buttonsOf(stage.current));
  }, [scene]);

  useEffect(() => {
    stage.current?.emphasize({ selected: at, hovered, traced });
  }, [at, hovered, traced, scene]);
  useEffect(() => stage.current?.retheme(), [theme.value]);
  useEffect(() => {
    if (at >= 0 && picked.current !== selected) stage.current?.reveal(at);
    picked.current = null;
  }, [selected, at >= 0]);

  const move = (event: KeyboardEvent, card: number) => {
    const next = scene && neighbour(scene, card, event.key);
    if (next === null || next === undefined) return;
    event.preventDefault();
    stage.current?.reveal(next);
    setVisible((known) => (known.includes(next) ? known : [...known, next]));
    requestAnimationFrame(() => overlay.current?.querySelector<HTMLElement>(`[data-card="${next}"]`)?.focus());
  };

  return (
    <div class="picture" aria-busy={scene === null}>
      <canvas
        ref={canvas}
        class={hovered >= 0 ? "stage over" : "stage"}
        role="img"
        aria-label={`${title}: ${picture.cards.length} cards`}
        title={scene?.cards[hovered]?.label ?? ""}
      />
      <div class="cards" ref={overlay} role="group" aria-label={title}>
        {scene &&
          visible.map((card) => {
            const known = scene.cards[card];
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
                  left: `${scene.layout.x[card] - SIZES.width / 2}px`,
                  top: `${scene.layout.y[card] - SIZES.height / 2}px`,
                }}
                onClick={(event) => event.detail === 0 && onPick(known.id)}
                onKeyDown={(event) => move(event, card)}
              />
            );
          })}
      </div>
      <div class="tools" role="toolbar" aria-label="Picture">
        <button type="button" onClick={() => stage.current?.zoom(1.3)} aria-label="Zoom in">
          +
        </button>
        <button type="button" onClick={() => stage.current?.zoom(1 / 1.3)} aria-label="Zoom out">
          −
        </button>
        <button type="button" onClick={() => stage.current?.fit()}>
          Fit
        </button>
        <button type="button" disabled={!scene} onClick={() => scene && exportSvg(scene, title)}>
          SVG
        </button>
        <button type="button" disabled={!scene} onClick={() => scene && exportPng(scene, title)}>
          PNG
        </button>
        {tools}
      </div>
      <canvas ref={minimap} class="minimap" aria-hidden="true" />
    </div>
  );
}

/** The picture with its layout; the scene before it for as long as the layout is made. */
function useScene(picture: Picture, sizes: Sizes): Scene | null {
  const [laid, setLaid] = useState<{ readonly picture: Picture; readonly layout: Layout } | null>(null);
  const fits = laid !== null && sameOutline(laid.picture, picture);
  useEffect(() => {
    if (fits) return;
    let wanted = true;
    void engine.ask("layOut", digraphOf(picture), sizes).then((layout) => wanted && setLaid({ picture, layout }));
    return () => {
      wanted = false;
    };
  }, [picture, sizes]);
  const shown = fits ? picture : laid?.picture;
  const layout = laid?.layout;
  return useMemo(() => (shown && layout ? { ...shown, layout } : null), [shown, layout]);
}

/** The card that is to stay in its place: the selected one, else the first that both scenes have. */
function anchorOf(before: Scene, scene: Scene, selected: string) {
  const places = new Map(scene.cards.map(({ id }, at) => [id, at]));
  const known = before.cards.findIndex(({ id }) => id === selected && places.has(id));
  const old = known >= 0 ? known : before.cards.findIndex(({ id }) => places.has(id));
  if (old < 0) return null;
  const point = { x: before.layout.x[old], y: before.layout.y[old] };
  return { before: point, now: places.get(before.cards[old].id)! };
}

/** Where an arrow key leads: along the lines to the left and right, to the next card of the column up and down. */
function neighbour(scene: Scene, card: number, key: string): number | null {
  const { x, y } = scene.layout;
  const near = (cards: readonly number[]) =>
    cards.reduce<number | null>((best, other) => (best === null || gap(other) < gap(best) ? other : best), null);
  const gap = (other: number) => Math.abs(y[other] - y[card]);
  switch (key) {
    case "ArrowRight":
      return near(scene.lines.filter(({ from }) => from === card).map(({ to }) => to));
    case "ArrowLeft":
      return near(scene.lines.filter(({ to }) => to === card).map(({ from }) => from));
    case "ArrowUp":
    case "ArrowDown": {
      const above = key === "ArrowUp";
      return near(
        scene.cards
          .map((_, other) => other)
          .filter((other) => Math.abs(x[other] - x[card]) < 1 && (above ? y[other] < y[card] : y[other] > y[card])),
      );
    }
    default:
      return null;
  }
}
