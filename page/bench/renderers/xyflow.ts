// SPDX-License-Identifier: Apache-2.0
import { type Edge, type Node, Position, ReactFlow, type ReactFlowInstance } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { SIZES } from "../../src/layout/sizes";
import { type Mount, title } from "./view";

/** React Flow: an element for each node, SVG for the edges. */
export const mount: Mount = async (host, { graph, layout }) => {
  const { width, height } = SIZES;
  const sides = { sourcePosition: Position.Right, targetPosition: Position.Left };
  const nodes = Array.from({ length: graph.count }, (_, node): Node => {
    const position = { x: layout.x[node] - width / 2, y: layout.y[node] - height / 2 };
    return { id: `n${node}`, position, data: { label: title(node) }, width, height, ...sides };
  });
  const edges = Array.from(
    graph.from,
    (from, edge): Edge => ({ id: `e${edge}`, source: `n${from}`, target: `n${graph.to[edge]}` }),
  );
  const flow = await new Promise<ReactFlowInstance>((resolve) => {
    const settings = { nodes, edges, fitView: true, minZoom: 0.001, onInit: resolve };
    createRoot(host).render(createElement(ReactFlow, settings));
  });
  const fitted = flow.getViewport();
  const [x, y] = [host.clientWidth / 2, host.clientHeight / 2];
  return {
    zoom: (factor) =>
      void flow.setViewport({
        x: x - (x - fitted.x) * factor,
        y: y - (y - fitted.y) * factor,
        zoom: fitted.zoom * factor,
      }),
  };
};
