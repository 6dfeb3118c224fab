// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useState } from "preact/hooks";
import { COLUMN_SIZES } from "../layout/sizes";
import type { ColumnPath } from "../model/columnPath";
import type { Field } from "../model/apiTypes";
import { apiPath, columnId, nodeId } from "../model/ids";
import { shown } from "../model/names";
import { mermaid } from "../model/tables";
import { engine, go, graph, nodeById, route } from "../state/store";
import { download, fileName } from "./downloads";
import { Link, NodeLink, Notice } from "./components";
import { PictureView } from "./DiagramView";
import { useResource } from "./useResource";
import { columnPicture, spoken } from "./diagram";

const NOTHING: ColumnPath = { nodes: [], edges: [], truncated: false };

/** The way of one column from its sources to all that is made of it. */
export function ColumnsView() {
  const { node, field } = route.value;
  const at = nodeById.value.get(node);
  const known = at === undefined ? undefined : graph.value.nodes[at];
  const [path, setPath] = useState(NOTHING);
  useEffect(() => {
    if (!known || known.kind !== "dataset" || field === "") return setPath(NOTHING);
    let wanted = true;
    void engine
      .ask("columnPath", { namespace: known.namespace, name: known.name, field })
      .then((found) => wanted && setPath(found));
    return () => {
      wanted = false;
    };
  }, [known, field]);
  const masked = useMemo(
    () => new Set(path.edges.filter(({ masking }) => masking).map(({ to }) => path.nodes[to].id)),
    [path],
  );
  const picture = useMemo(() => {
    const engineOf = (id: string) => graph.value.nodes[nodeById.value.get(id) ?? -1]?.engine;
    return columnPicture(path, masked, engineOf);
  }, [path, masked, graph.value]);
  if (!known || known.kind !== "dataset") {
    return (
      <Notice title="Which column?">
        <p>Search for a column by its name, or choose a dataset in the graph and then one of its columns.</p>
        <Link to={{ view: "graph", node: "", field: "" }}>To the graph</Link>
      </Notice>
    );
  }
  const pick = (id: string | null) => {
    const found = path.nodes.find((one) => one.id === id);
    if (found?.field !== undefined) go({ node: nodeId("dataset", found), field: found.field });
  };
  return (
    <div class="columns">
      <div class="bar">
        <NodeLink kind="dataset" node={known} engine={known.engine} />
        <FieldChoice dataset={known} field={field} />
        <Link class="button" to={{ view: "impact", node, field, direction: "down" }}>
          What breaks if it changes
        </Link>
        <Link class="button" to={{ view: "impact", node, field, direction: "up" }}>
          What fed it
        </Link>
        {path.edges.length > 0 && (
          <button
            type="button"
            onClick={() => download(fileName(`${known.name} ${field}`, "mmd"), "text/plain", asMermaid(path))}
          >
            Mermaid
          </button>
        )}
        <Legend />
      </div>
      {path.truncated && (
        <p class="warning">More columns hang on this one than are drawn; the impact list has all of them.</p>
      )}
      {path.nodes.length > 1 ? (
        <PictureView
          key={node + field}
          picture={picture}
          title={`Lineage of ${shown(field)} of ${shown(known.name)}`}
          sizes={COLUMN_SIZES}
          selected={columnId(known, field)}
          onPick={pick}
        />
      ) : (
        <Notice title={field === "" ? "Choose a column" : "No lineage of this column"}>
          {field !== "" && <p>No job said what {shown(field)} is made of, and none makes anything of it.</p>}
        </Notice>
      )}
      {path.edges.length > 0 && <Hops path={path} />}
    </div>
  );
}

function FieldChoice({
  dataset,
  field,
}: {
  readonly dataset: { readonly namespace: string; readonly name: string };
  readonly field: string;
}) {
  const found = useResource<{ readonly fields: readonly Field[] }>(apiPath("dataset", dataset), graph.value);
  const names = found.value?.fields.map(({ name }) => name) ?? [];
  const choices = field === "" || names.includes(field) ? names : [field, ...names];
  return (
    <label>
      column{" "}
      <select value={field} onChange={(event) => go({ field: event.currentTarget.value })}>
        {field === "" && <option value="">choose …</option>}
        {choices.map((name) => (
          <option key={name} value={name}>
            {shown(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Legend() {
  return (
    <span class="legend">
      <span class="plain-line">direct</span>
      <span class="indirect-line">decides (filter, join, group)</span>
      <span class="masked-line">masked</span>
    </span>
  );
}

/** The same as a list: for screen readers, and for reading exact names. */
function Hops({ path }: { readonly path: ColumnPath }) {
  const name = (at: number) => {
    const { name, field } = path.nodes[at];
    return `${shown(name)}${field === undefined ? "" : `.${shown(field)}`}`;
  };
  const sorted = [...path.edges].sort((a, b) => path.nodes[a.to].distance - path.nodes[b.to].distance);
  return (
    <details class="hops">
      <summary>{path.edges.length} steps as a list</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">from</th>
            <th scope="col">how</th>
            <th scope="col">to</th>
            <th scope="col">by</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((edge, at) => (
            <tr key={at} data-masked={edge.masking}>
              <td>
                <bdi>{name(edge.from)}</bdi>
              </td>
              <td>
                {edge.kinds.map(spoken).join(", ")}
                {edge.masking && <span class="masked"> masked</span>}
              </td>
              <td>
                <bdi>{name(edge.to)}</bdi>
              </td>
              <td>
                <NodeLink kind="job" node={edge.job} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function asMermaid(path: ColumnPath): string {
  const name = (at: number) => {
    const { namespace, name, field } = path.nodes[at];
    return `${namespace}/${name}${field === undefined ? "" : ` ${field}`}`;
  };
  return mermaid(
    path.edges.map(({ from, to, kinds }) => ({ from: name(from), to: name(to), label: kinds.map(spoken).join(", ") })),
  );
}
