// SPDX-License-Identifier: Apache-2.0
import { useState } from "preact/hooks";
import { ENGINE_NAMES } from "../model/engines";
import type { GraphNode } from "../model/graph";
import { displayLines, displayText } from "../model/names";
import { favorites, toggleFavorite } from "../state/bookmarks";
import { FOCUS_HOPS } from "../state/route";
import { navigate, graph, diffStatuses, nodeIndexById, route, currentState } from "../state/store";
import { NodeChanges } from "./DiffControls";
import { DatasetDetails } from "./DatasetDetails";
import { formatAge } from "./format";
import { JobDetails } from "./JobDetails";
import { MetadataEditor } from "./MetadataEditor";
import { Icon, Link, StateBadge } from "./components";

/** Side panel with the details of the selected node. */
export function Details() {
  const at = nodeIndexById.value.get(route.value.node);
  if (route.value.node === "") return null;
  return (
    <aside class="details" aria-label="Details">
      <button type="button" class="close" aria-label="Close details" onClick={() => navigate({ node: "", only: false, hops: 0 })}>
        ✕
      </button>
      {at === undefined ? <MissingNode /> : <NodeDetails key={route.value.node} node={graph.value.nodes[at]} />}
    </aside>
  );
}

function MissingNode() {
  const name = route.value.node.split(":").slice(1).join(":");
  return (
    <>
      <h2>Not in this graph</h2>
      <p>
        No event up to the shown time mentions <bdi>{displayText(name)}</bdi>.
      </p>
      {route.value.at !== "" && <Link to={{ at: "" }}>Back to now</Link>}
    </>
  );
}

function FavoriteButton({ id }: { readonly id: string }) {
  return (
    <button type="button" aria-pressed={favorites.value.includes(id)} onClick={() => toggleFavorite(id)}>
      ★ Favorite
    </button>
  );
}

function NodeDetails({ node }: { readonly node: GraphNode }) {
  const [editing, setEditing] = useState(false);
  const live = route.value.at === "";
  const removed = diffStatuses.value?.nodes[nodeIndexById.value.get(node.id) ?? -1] === "removed";
  return (
    <>
      <header>
        <h2>
          <Icon name={node.engine} size={22} /> <bdi>{displayText(node.name)}</bdi>
        </h2>
        <p class="faint">
          {ENGINE_NAMES[node.engine]}{" "}
          {node.kind === "job" ? (node.streaming ? "· streaming job" : "· batch job") : "· dataset"} ·{" "}
          <bdi>{displayText(node.namespace)}</bdi>
        </p>
        {node.kind === "job" && !removed && <StateBadge state={currentState(node)} />}
        {node.aliases.length > 0 && (
          <p class="faint">
            Also known as <bdi>{node.aliases.map(displayText).join(", ")}</bdi>
          </p>
        )}
        {node.description && <p class="lines">{displayLines(node.description)}</p>}
        <p>
          {node.tags.map((tag) => (
            <span class="tag" key={tag}>
              {displayText(tag)}
            </span>
          ))}
          {node.owners.length > 0 && <small>owned by {node.owners.map(displayText).join(", ")} </small>}
          {live && !removed && <small>last event {formatAge(node.updatedAt, Date.now())}</small>}
        </p>
        <p class="actions">
          <button
            type="button"
            aria-pressed={route.value.only}
            onClick={() => navigate({ only: !route.value.only, hops: 0 })}
          >
            Only its lineage
          </button>
          <button
            type="button"
            aria-pressed={route.value.hops > 0}
            onClick={() => navigate({ hops: route.value.hops > 0 ? 0 : FOCUS_HOPS, only: false })}
          >
            Neighborhood
          </button>
          <FavoriteButton id={node.id} />
          {live && !removed && (
            <button type="button" aria-expanded={editing} onClick={() => setEditing(!editing)}>
              Edit
            </button>
          )}
          <Link class="button" to={{ view: "cause", node: node.id, field: "", from: "" }}>
            Cause
          </Link>
          {node.kind === "dataset" && (
            <>
              <Link class="button" to={{ view: "impact", node: node.id, field: "", direction: "down" }}>
                Impact
              </Link>
              <Link class="button" to={{ view: "impact", node: node.id, field: "", direction: "up" }}>
                Origin
              </Link>
            </>
          )}
        </p>
      </header>
      {editing && <MetadataEditor node={node} close={() => setEditing(false)} />}
      <NodeChanges id={node.id} />
      {removed ? (
        <p class="faint">Removed: this node exists only in the earlier graph.</p>
      ) : (
        <>
          {!live && <p class="faint">The graph shows a past state; these details show the current state.</p>}
          {node.kind === "dataset" ? <DatasetDetails node={node} /> : <JobDetails node={node} />}
        </>
      )}
    </>
  );
}
