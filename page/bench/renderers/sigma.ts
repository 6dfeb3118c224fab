// SPDX-License-Identifier: Apache-2.0
import Graphology from "graphology";
import Sigma from "sigma";
import { type Mount, title } from "./view";

/** Sigma: WebGL, discs and arrows. */
export const mount: Mount = (host, { graph, layout }) => {
  const made = new Graphology({ multi: true, type: "directed" });
  for (let node = 0; node < graph.count; node++) {
    const place = { x: layout.x[node], y: -layout.y[node] };
    made.addNode(node, { ...place, size: 3, label: title(node), color: "#d9480f" });
  }
  graph.from.forEach((from, edge) => made.addEdge(from, graph.to[edge], { color: "#8b99ab" }));
  const sigma = new Sigma(made, host, { defaultEdgeType: "arrow" });
  return { zoom: (factor) => void sigma.getCamera().setState({ ratio: 1 / factor }) };
};
