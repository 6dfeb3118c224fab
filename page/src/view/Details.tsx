// SPDX-License-Identifier: Apache-2.0
import { ENGINE_NAMES } from "../model/engines";
import type { GraphNode } from "../model/graph";
import { shown } from "../model/names";
import { go, graph, marks, nodeById, route, stateNow } from "../state/store";
import { ChangesOfNode } from "./DiffControls";
import { DatasetDetails } from "./DatasetDetails";
import { ago } from "./format";
import { JobDetails } from "./JobDetails";
import { Icon, Link, StateBadge } from "./components";

/** The panel beside the graph: everything about the node in focus. */
export function Details() {
  const at = nodeById.value.get(route.value.node);
  if (route.value.node === "") return null;
  return (
    <aside class="details" aria-label="Details">
      <button type="button" class="close" aria-label="Close the details" onClick={() => go({ node: "", only: false })}>
        ✕
      </button>
      {at === undefined ? <Unknown /> : <Known key={route.value.node} node={graph.value.nodes[at]} />}
    </aside>
  );
}

function Unknown() {
  const name = route.value.node.split(":").slice(1).join(":");
  return (
    <>
      <h2>Not in this graph</h2>
      <p>
        No event up to the moment that is shown speaks of <bdi>{shown(name)}</bdi>.
      </p>
      {route.value.at !== "" && <Link to={{ at: "" }}>Look at the present</Link>}
    </>
  );
}

function Known({ node }: { readonly node: GraphNode }) {
  const live = route.value.at === "";
  const removed = marks.value?.nodes[nodeById.value.get(node.id) ?? -1] === "removed";
  return (
    <>
      <header>
        <h2>
          <Icon name={node.engine} size={22} /> <bdi>{shown(node.name)}</bdi>
        </h2>
        <p class="faint">
          {ENGINE_NAMES[node.engine]}{" "}
          {node.kind === "job" ? (node.streaming ? "· streaming job" : "· batch job") : "· dataset"} ·{" "}
          <bdi>{shown(node.namespace)}</bdi>
        </p>
        {node.kind === "job" && !removed && <StateBadge state={stateNow(node)} />}
        {node.aliases.length > 0 && (
          <p class="faint">
            also <bdi>{node.aliases.map(shown).join(", ")}</bdi>
          </p>
        )}
        {node.description && <p>{shown(node.description)}</p>}
        <p>
          {node.tags.map((tag) => (
            <span class="tag" key={tag}>
              {shown(tag)}
            </span>
          ))}
          {node.owners.length > 0 && <small>owned by {node.owners.map(shown).join(", ")} </small>}
          {live && !removed && <small>last event {ago(node.updatedAt, Date.now())}</small>}
        </p>
        <p class="actions">
          <button type="button" aria-pressed={route.value.only} onClick={() => go({ only: !route.value.only })}>
            Only its path
          </button>
          {node.kind === "dataset" && (
            <>
              <Link class="button" to={{ view: "impact", node: node.id, field: "", direction: "down" }}>
                Impact
              </Link>
              <Link class="button" to={{ view: "impact", node: node.id, field: "", direction: "up" }}>
                Cause
              </Link>
            </>
          )}
        </p>
      </header>
      <ChangesOfNode id={node.id} />
      {removed ? (
        <p class="faint">It is in the earlier graph and no longer in the later one.</p>
      ) : (
        <>
          {!live && <p class="faint">Details are those of the present; the graph is of the past.</p>}
          {node.kind === "dataset" ? <DatasetDetails node={node} /> : <JobDetails node={node} />}
        </>
      )}
    </>
  );
}
