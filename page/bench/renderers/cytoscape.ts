// SPDX-License-Identifier: Apache-2.0
import cytoscape from "cytoscape";
import { SIZES } from "../../src/layout/sizes";
import { type Mount, title } from "./view";

/** Cytoscape: a canvas, boxes and curves with arrows. */
export const mount: Mount = (host, { graph, layout }) => {
  const cy = cytoscape({
    container: host,
    elements: {
      nodes: Array.from({ length: graph.count }, (_, node) => ({
        data: { id: `n${node}`, label: title(node) },
        position: { x: layout.x[node], y: layout.y[node] },
      })),
      edges: Array.from(graph.from, (from, edge) => ({
        data: { id: `e${edge}`, source: `n${from}`, target: `n${graph.to[edge]}` },
      })),
    },
    style: [
      {
        selector: "node",
        style: { shape: "round-rectangle", width: SIZES.width, height: SIZES.height, label: "data(label)" },
      },
      { selector: "edge", style: { "curve-style": "bezier", "target-arrow-shape": "triangle" } },
    ],
    layout: { name: "preset" },
  });
  const fitted = cy.zoom();
  const middle = { x: host.clientWidth / 2, y: host.clientHeight / 2 };
  return { zoom: (factor) => void cy.zoom({ level: fitted * factor, renderedPosition: middle }) };
};
