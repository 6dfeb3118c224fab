// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import type { Graph } from "../model/graph";
import { collapse, type CollapsedGraph, fullTitle, type Grouping, GROUPINGS } from "../model/groups";
import { selectGraph } from "../model/selection";
import { navigate, graph, diffStatuses, inactive, nodeIndexById, provisionalStates, suspects, route, currentState } from "../state/store";
import { DiffControls } from "./DiffControls";
import { Details } from "./Details";
import { DiagramView } from "./DiagramView";
import { graphDiagram } from "./diagram";
import { TimeBar } from "./TimeBar";
import { useCardColumns } from "./useCardColumns";

const CARD_BUDGETS = [40, 80, 300, 1000, 3000];

/** The graph of jobs and datasets, grouped if it exceeds the card budget. */
export function GraphView() {
  const { node, only, hops, inactive: showsInactive, by, open, closed, budget } = route.value;
  const allInactive = inactive.value;
  const at = nodeIndexById.value.get(node) ?? -1;
  // Another node selects another part of the graph only if it is the center of that part, or would be hidden.
  const center = only || hops > 0 || allInactive[at] === 1 ? at : -1;
  const { graph: selected, statuses, inactive: selectedInactive, hidden } = useMemo(
    () => selectGraph(graph.value, diffStatuses.value, allInactive, { node: center, only, hops, inactive: showsInactive }),
    [graph.value, diffStatuses.value, allInactive, center, only, hops, showsInactive],
  );
  const collapsed = useMemo(() => {
    const enclosing = enclosingGroups(selected, node, by);
    return collapse(selected.nodes, { budget, by, open: new Set([...open, ...enclosing]), closed: new Set(closed) });
  }, [selected, node, by, open, closed, budget]);
  const diagram = useMemo(
    () => graphDiagram(selected, collapsed, currentState, statuses, selectedInactive, suspects.value),
    [selected, collapsed, statuses, selectedInactive, provisionalStates.value, suspects.value],
  );

  const pick = (id: string | null) => {
    if (id === null) navigate({ node: "", only: false, hops: 0 });
    else if (nodeIndexById.value.has(id)) navigate({ node: id });
    else navigate({ open: [...open, id], closed: closed.filter((known) => known !== id) });
  };
  const columns = useCardColumns();
  return (
    <div class="graph">
      <div class="left">
        <DiagramView
          diagram={diagram}
          title="Lineage graph"
          selected={node}
          subject={`${only} ${hops} ${center}`}
          onPick={pick}
          columns={columns.known}
          onDetail={columns.load}
          onPickColumn={(id, field) => navigate({ view: "columns", node: id, field })}
          tools={
            <>
              <InactiveToggle hidden={hidden} />
              <GroupControls collapsed={collapsed} count={selected.nodes.length} />
              <DiffControls />
            </>
          }
        />
        <TimeBar />
      </div>
      <Details />
    </div>
  );
}

/** Switch that shows jobs and datasets that are over. */
function InactiveToggle({ hidden }: { readonly hidden: number }) {
  const shown = route.value.inactive;
  if (hidden === 0 && !shown) return null;
  return (
    <button type="button" aria-pressed={shown} onClick={() => navigate({ inactive: !shown })}>
      {shown ? "Hide inactive" : `Show ${hidden} inactive`}
    </button>
  );
}

/** Ids of the groups that must be expanded to show a node, so that a link to it works. */
function enclosingGroups(selected: Graph, node: string, by: Grouping): string[] {
  const at = selected.nodes.findIndex(({ id }) => id === node);
  if (at < 0) return [];
  const opened: string[] = [];
  for (;;) {
    const options = { budget: 0, by, open: new Set(opened), closed: new Set<string>() };
    const { items, itemByNode } = collapse(selected.nodes, options);
    const { group } = items[itemByNode[at]];
    if (!group) return opened;
    opened.push(group.id);
  }
}

function GroupControls({ collapsed, count }: { readonly collapsed: CollapsedGraph; readonly count: number }) {
  const { open, closed, budget, by } = route.value;
  const grouped = collapsed.items.length < count || collapsed.opened.length > 0;
  const close = (id: string) =>
    navigate({ open: open.filter((known) => known !== id && !known.startsWith(`${id}/`)), closed: [...closed, id] });
  return (
    <>
      <label>
        Show up to{" "}
        <select value={budget} onChange={(event) => navigate({ budget: Number(event.currentTarget.value), closed: [] })}>
          {[...new Set([...CARD_BUDGETS, budget])]
            .sort((a, b) => a - b)
            .map((value) => (
              <option key={value} value={value}>
                {value}
              </option>
            ))}
        </select>{" "}
        cards
      </label>
      {count > budget && (
        <label>
          Group by{" "}
          <select
            value={by}
            onChange={({ currentTarget }) =>
              navigate({ by: GROUPINGS.find((known) => known === currentTarget.value) ?? by, open: [], closed: [] })
            }
          >
            {GROUPINGS.map((known) => (
              <option key={known} value={known}>
                {known}
              </option>
            ))}
          </select>
        </label>
      )}
      {grouped && (
        <details class="groups">
          <summary>
            {collapsed.items.length} cards for {count} nodes
          </summary>
          <ul>
            {collapsed.opened.map((group) => (
              <li key={group.id}>
                <button type="button" onClick={() => close(group.id)}>
                  Collapse {fullTitle(group)} ({group.members.length})
                </button>
              </li>
            ))}
            {(open.length > 0 || closed.length > 0) && (
              <li>
                <button type="button" onClick={() => navigate({ open: [], closed: [] })}>
                  Reset groups
                </button>
              </li>
            )}
          </ul>
        </details>
      )}
    </>
  );
}
