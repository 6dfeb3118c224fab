// SPDX-License-Identifier: Apache-2.0
import "../../src/styles.css";
import type { Card, Line } from "../../src/view/scene";
import { Stage } from "../../src/view/stage";
import { type Mount, title } from "./view";

/** The page's own canvas. */
export const mount: Mount = (host, { graph, layout }) => {
  const canvas = document.createElement("canvas");
  canvas.style.cssText = "width: 100%; height: 100%";
  host.append(canvas);
  const cards = Array.from({ length: graph.count }, (_, node): Card => {
    const about = { engine: "spark", streaming: false, state: "completed", masked: false } as const;
    return { id: String(node), shape: "job", title: title(node), subtitle: "Spark", label: title(node), ...about };
  });
  const lines = Array.from(graph.from, (from, edge): Line => ({ from, to: graph.to[edge], style: "plain", label: "" }));
  const nothing = () => undefined;
  const stage = new Stage(canvas, null, { onHover: nothing, onMove: nothing, onPick: nothing });
  stage.show({ cards, lines, layout }, null);
  let shown = 1;
  return {
    zoom: (factor) => {
      stage.zoom(factor / shown);
      shown = factor;
    },
  };
};
