// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import { filterStatuses, type DiffStatuses } from "../model/diff";
import { type Graph, subgraph } from "../model/graph";
import { collapse, type CollapsedGraph } from "../model/groups";
import { traceLineage } from "../model/trace";
import { navigate, graph, diffStatuses, nodeIndexById, provisionalStates, route, currentState } from "../state/store";
import { DiffControls } from "./DiffControls";
import { Details } from "./Details";
import { DiagramView } from "./DiagramView";
import { graphDiagram } from "./diagram";
import { TimeBar } from "./TimeBar";

const CARD_BUDGETS = [100, 300, 1000, 3000];

/** The graph of jobs and datasets, grouped if it exceeds the card budget. */
export function GraphView() {
  const { node, only, open, closed, budget } = route.value;
  const { graph: selected, statuses } = useMemo(
    () => selectSubgraph(graph.value, diffStatuses.value, only ? node : ""),
    [graph.value, diffStatuses.value, only, node],
  );
  const collapsed = useMemo(() => {
    const options = { budget, open: new Set([...open, ...enclosingGroups(selected, node)]), closed: new Set(closed) };
    return collapse(selected.nodes, options);
  }, [selected, node, open, closed, budget]);
  const diagram = useMemo(
    () => graphDiagram(selected, collapsed, currentState, statuses),
    [selected, collapsed, statuses, provisionalStates.value],
  );

  const pick = (id: string | null) => {
    if (id === null) navigate({ node: "", only: false });
    else if (nodeIndexById.value.has(id)) navigate({ node: id });
    else navigate({ open: [...open, id], closed: closed.filter((known) => known !== id) });
  };
  return (
    <div class="graph">
      <div class="left">
        <DiagramView
          diagram={diagram}
          title="Lineage graph"
          selected={node}
          onPick={pick}
          tools={
            <>
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

/** The graph, or only the lineage of a node. */
function selectSubgraph(all: Graph, statuses: DiffStatuses | null, node: string) {
  const at = nodeIndexById.value.get(node);
  if (at === undefined) return { graph: all, statuses };
  const path = traceLineage(all.nodes.length, all, at);
  const kept = all.nodes.map((_, index) => path.has(index));
  return { graph: subgraph(all, kept), statuses: statuses && filterStatuses(statuses, all, kept) };
}

/** Ids of the groups that must be expanded to show a node, so that a link to it works. */
function enclosingGroups(selected: Graph, node: string): string[] {
  const at = selected.nodes.findIndex(({ id }) => id === node);
  if (at < 0) return [];
  const opened: string[] = [];
  for (;;) {
    const options = { budget: 0, open: new Set(opened), closed: new Set<string>() };
    const { items, itemByNode } = collapse(selected.nodes, options);
    const { group } = items[itemByNode[at]];
    if (!group) return opened;
    opened.push(group.id);
  }
}

function GroupControls({ collapsed, count }: { readonly collapsed: CollapsedGraph; readonly count: number }) {
  const { open, closed, budget } = route.value;
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
      {grouped && (
        <details class="groups">
          <summary>
            {collapsed.items.length} cards for {count} nodes
          </summary>
          <ul>
            {collapsed.opened.map((group) => (
              <li key={group.id}>
                <button type="button" onClick={() => close(group.id)}>
                  Collapse {group.title} ({group.members.length})
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
