// SPDX-License-Identifier: Apache-2.0
import type { Digraph } from "../../src/layout/graph";
import type { Layout } from "../../src/layout/layout";

/** A graph with its places: every renderer draws the same boxes at the same places. */
export interface Drawing {
  readonly graph: Digraph;
  readonly layout: Layout;
}

/** What a renderer made of it. */
export interface View {
  /** Magnify about the middle of what is seen: 1 is the whole picture, as it was first shown. */
  readonly zoom: (factor: number) => void;
}

/** Draw into an element; resolves when the renderer says that it is there. */
export type Mount = (host: HTMLElement, drawing: Drawing) => Promise<View> | View;

/** Words on the cards, as long as real ones. */
export function title(node: number): string {
  return `sales/table_${String(node).padStart(5, "0")}`;
}
