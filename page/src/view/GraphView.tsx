// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import { keptMarks, type Marks } from "../model/diff";
import { type Graph, subgraph } from "../model/graph";
import { collapse, type Collapsed } from "../model/groups";
import { trace } from "../model/trace";
import { go, graph, marks, nodeById, presumed, route, stateNow } from "../state/store";
import { Comparison } from "./DiffControls";
import { Details } from "./Details";
import { PictureView } from "./DiagramView";
import { graphPicture } from "./diagram";
import { TimeBar } from "./TimeBar";

const BUDGETS = [100, 300, 1000, 3000];

/** Jobs and datasets, grouped where there are too many. */
export function GraphView() {
  const { node, only, open, closed, budget } = route.value;
  const { graph: seen, marks: seenMarks } = useMemo(
    () => part(graph.value, marks.value, only ? node : ""),
    [graph.value, marks.value, only, node],
  );
  const collapsed = useMemo(() => {
    const choice = { budget, open: new Set([...open, ...groupsAround(seen, node)]), closed: new Set(closed) };
    return collapse(seen.nodes, choice);
  }, [seen, node, open, closed, budget]);
  const picture = useMemo(
    () => graphPicture(seen, collapsed, stateNow, seenMarks),
    [seen, collapsed, seenMarks, presumed.value],
  );

  const pick = (id: string | null) => {
    if (id === null) go({ node: "", only: false });
    else if (nodeById.value.has(id)) go({ node: id });
    else go({ open: [...open, id], closed: closed.filter((known) => known !== id) });
  };
  return (
    <div class="graph">
      <div class="left">
        <PictureView
          picture={picture}
          title="Lineage graph"
          selected={node}
          onPick={pick}
          tools={
            <>
              <Groups collapsed={collapsed} count={seen.nodes.length} />
              <Comparison />
            </>
          }
        />
        <TimeBar />
      </div>
      <Details />
    </div>
  );
}

/** The graph, or what feeds a node and what it feeds. */
function part(whole: Graph, wholeMarks: Marks | null, node: string): { graph: Graph; marks: Marks | null } {
  const at = nodeById.value.get(node);
  if (at === undefined) return { graph: whole, marks: wholeMarks };
  const path = trace(whole.nodes.length, whole, at);
  const kept = whole.nodes.map((_, index) => path.has(index));
  return { graph: subgraph(whole, kept), marks: wholeMarks && keptMarks(wholeMarks, whole, kept) };
}

/** The groups that must be open for a node to be seen: a link to it must lead to it. */
function groupsAround(seen: Graph, node: string): string[] {
  const at = seen.nodes.findIndex(({ id }) => id === node);
  if (at < 0) return [];
  const opened: string[] = [];
  for (;;) {
    const { items, itemOf } = collapse(seen.nodes, { budget: 0, open: new Set(opened), closed: new Set() });
    const { group } = items[itemOf[at]];
    if (!group) return opened;
    opened.push(group.id);
  }
}

function Groups({ collapsed, count }: { readonly collapsed: Collapsed; readonly count: number }) {
  const { open, closed, budget } = route.value;
  const grouped = collapsed.items.length < count || collapsed.opened.length > 0;
  const close = (id: string) =>
    go({ open: open.filter((known) => known !== id && !known.startsWith(`${id}/`)), closed: [...closed, id] });
  return (
    <>
      <label>
        up to{" "}
        <select value={budget} onChange={(event) => go({ budget: Number(event.currentTarget.value), closed: [] })}>
          {[...new Set([...BUDGETS, budget])]
            .sort((a, b) => a - b)
            .map((value) => (
              <option key={value} value={value}>
                {value}
              </option>
            ))}
        </select>{" "}
        cards
      </label>
      {grouped && (
        <details class="groups">
          <summary>
            {collapsed.items.length} cards of {count}
          </summary>
          <ul>
            {collapsed.opened.map((group) => (
              <li key={group.id}>
                <button type="button" onClick={() => close(group.id)}>
                  close {group.title} ({group.members.length})
                </button>
              </li>
            ))}
            {(open.length > 0 || closed.length > 0) && (
              <li>
                <button type="button" onClick={() => go({ open: [], closed: [] })}>
                  as it was
                </button>
              </li>
            )}
          </ul>
        </details>
      )}
    </>
  );
}
