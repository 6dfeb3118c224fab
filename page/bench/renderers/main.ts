// SPDX-License-Identifier: Apache-2.0
/**
 * One renderer over one graph: `?renderer=own&nodes=1000`. tests/bench/page_renderers.py calls `bench.show()` and
 * `bench.zoom()` and looks at the browser's CPU time around them.
 */
import { layOut } from "../../src/layout/layout";
import { SIZES } from "../../src/layout/sizes";
import { pipeline } from "../graphs";
import type { Mount, View } from "./view";

const RENDERERS: Readonly<Record<string, () => Promise<{ readonly mount: Mount }>>> = {
  own: () => import("./own"),
  sigma: () => import("./sigma"),
  xyflow: () => import("./xyflow"),
  cytoscape: () => import("./cytoscape"),
};
const FRAMES = 40;

const query = new URLSearchParams(location.search);
const count = Number(query.get("nodes"));
const graph = pipeline(count, 1.5);
const layout = layOut(graph, SIZES);
const host = document.querySelector<HTMLElement>("#host")!;
host.style.cssText = "position: fixed; inset: 0";
// Code and layout are there before the clock starts: drawing alone is measured.
const { mount } = await RENDERERS[query.get("renderer") ?? "own"]();
let view: View;

const frame = () => new Promise(requestAnimationFrame);

/** Seconds until the picture has been handed to the screen. */
async function show(): Promise<number> {
  const began = performance.now();
  view = await mount(host, { graph, layout });
  await frame();
  await frame();
  return (performance.now() - began) / 1000;
}

/** Milliseconds of each frame of a way from the whole picture to cards that can be read, and back. */
async function zoom(): Promise<number[]> {
  const readable = Math.max(2, layout.width / host.clientWidth, layout.height / host.clientHeight);
  const times: number[] = [];
  let last = performance.now();
  for (let step = 1; step <= FRAMES; step++) {
    const way = 1 - Math.abs(1 - (2 * step) / FRAMES);
    view.zoom(readable ** way);
    await frame();
    times.push(performance.now() - last);
    last = performance.now();
  }
  return times;
}

Object.assign(window, { bench: { show, zoom } });
