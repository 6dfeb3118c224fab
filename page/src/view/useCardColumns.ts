// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { asOf, graph, graphWorker, nodeIndexById } from "../state/store";
import type { CardColumn } from "./cardColumns";

/** Time after which the columns of a dataset in view are loaded again. */
const FRESH_MS = 15_000;

/** Datasets whose columns are loaded at once: as many enlarged cards as a screen has. */
const MAX_LOADED = 60;

type Columns = ReadonlyMap<string, readonly CardColumn[]>;

/** Columns of datasets by node id, and a function that loads those of more datasets. */
export function useCardColumns(): { readonly known: Columns; readonly load: (ids: readonly string[]) => void } {
  const [known, setKnown] = useState<Columns>(new Map());
  const loadedAt = useRef(new Map<string, number>());
  useEffect(() => {
    // Another time of the graph has other columns.
    loadedAt.current.clear();
    setKnown(new Map());
  }, [asOf.value]);
  const load = (ids: readonly string[]) => {
    const now = performance.now();
    const wanted = ids
      .filter((id) => id.startsWith("dataset:") && nodeIndexById.value.has(id))
      .filter((id) => now - (loadedAt.current.get(id) ?? -FRESH_MS) >= FRESH_MS)
      .slice(0, MAX_LOADED);
    if (wanted.length === 0) return;
    for (const id of wanted) loadedAt.current.set(id, now);
    const masked = (id: string) => graph.value.nodes[nodeIndexById.value.get(id) ?? -1]?.masked ?? [];
    graphWorker.call("columnsOf", wanted).then(
      (found) =>
        setKnown((before) => {
          const added = found.map(({ id, names }): [string, CardColumn[]] => [
            id,
            names.map((name) => ({ name, masked: masked(id).includes(name) })),
          ]);
          return new Map([...before, ...added]);
        }),
      // The graph view reports errors of the service; the cards stay as they are, and are asked for again.
      () => wanted.forEach((id) => loadedAt.current.delete(id)),
    );
  };
  return { known, load };
}
