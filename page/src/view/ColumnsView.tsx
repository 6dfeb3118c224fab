// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useState } from "preact/hooks";
import { COLUMN_CARD_SIZES } from "../layout/sizes";
import type { ColumnPath } from "../model/columnPath";
import type { Field } from "../model/apiTypes";
import { foldIndirect, type FoldedPath } from "../model/foldIndirect";
import { apiPath, columnId, nodeId } from "../model/ids";
import { displayText } from "../model/names";
import { mermaid } from "../model/mermaid";
import { graphWorker, navigate, graph, nodeIndexById, route } from "../state/store";
import { download, fileName } from "./downloads";
import { Link, NodeLink, Notice } from "./components";
import { DatasetPicker } from "./DatasetPicker";
import { DiagramView } from "./DiagramView";
import { useResource } from "./useResource";
import { columnDiagram, readableKind } from "./diagram";

const EMPTY_PATH: ColumnPath = { nodes: [], edges: [], truncated: false };

/** The lineage of one column, upstream and downstream. */
export function ColumnsView() {
  const { node, field, open } = route.value;
  const at = nodeIndexById.value.get(node);
  const known = at === undefined ? undefined : graph.value.nodes[at];
  const [path, setPath] = useState(EMPTY_PATH);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    setError(null);
    if (!known || known.kind !== "dataset" || field === "") return setPath(EMPTY_PATH);
    let current = true;
    void graphWorker
      .call("columnPath", { namespace: known.namespace, name: known.name, field })
      .then(
        (found) => current && setPath(found),
        (failure: Error) => current && setError(failure.message),
      );
    return () => {
      current = false;
    };
  }, [known, field]);
  const folded = useMemo(() => foldIndirect(path, new Set(open)), [path, open]);
  const diagram = useMemo(() => {
    const engineOf = (id: string) => graph.value.nodes[nodeIndexById.value.get(id) ?? -1]?.engine;
    const masked = new Set(folded.edges.filter(({ masking }) => masking).map(({ to }) => folded.nodes[to].id));
    return columnDiagram(folded, masked, engineOf);
  }, [folded, graph.value]);
  if (!known || known.kind !== "dataset") {
    return <DatasetPicker title="Lineage of which column?" linkTo={(id, column) => ({ node: id, field: column })} />;
  }
  const pick = (id: string | null) => {
    const found = folded.nodes.find((one) => one.id === id);
    if (found?.columns !== undefined) return navigate({ open: [...open, found.id] });
    if (found?.field !== undefined) navigate({ node: nodeId("dataset", found), field: found.field });
  };
  return (
    <div class="columns">
      <div class="toolbar">
        <NodeLink kind="dataset" node={known} engine={known.engine} />
        <ColumnSelect dataset={known} field={field} />
        <Link class="button" to={{ view: "impact", node, field, direction: "down" }}>
          Impact
        </Link>
        <Link class="button" to={{ view: "impact", node, field, direction: "up" }}>
          Origin
        </Link>
        <Link class="button" to={{ view: "cause", node, field, from: "" }}>
          Cause
        </Link>
        {path.edges.length > 0 && (
          <button
            type="button"
            onClick={() => download(fileName(`${known.name} ${field}`, "mmd"), "text/plain", columnPathMermaid(path))}
          >
            Mermaid
          </button>
        )}
        {folded.nodes.some(({ columns }) => columns !== undefined) && (
          <button type="button" onClick={() => navigate({ open: [...open, ...foldIds(folded)] })}>
            Expand indirect
          </button>
        )}
        {open.some(isFold) && (
          <button type="button" onClick={() => navigate({ open: open.filter((id) => !isFold(id)) })}>
            Fold indirect
          </button>
        )}
        <Legend />
      </div>
      {error !== null && <p class="error">{displayText(error)}</p>}
      {path.truncated && (
        <p class="warning">Not all related columns are drawn. The impact and origin tables contain all of them.</p>
      )}
      {path.nodes.length > 1 ? (
        <DiagramView
          key={node + field}
          diagram={diagram}
          title={`Lineage of ${displayText(field)} of ${displayText(known.name)}`}
          sizes={COLUMN_CARD_SIZES}
          selected={columnId(known, field)}
          onPick={pick}
        />
      ) : (
        error === null && <Notice title={field === "" ? "Select a column" : "No lineage for this column"}>
          {field !== "" && <p>No job reports inputs or outputs of {displayText(field)}.</p>}
        </Notice>
      )}
      {path.edges.length > 0 && <EdgeTable path={path} />}
    </div>
  );
}

function isFold(id: string): boolean {
  return id.startsWith("fold:");
}

function foldIds({ nodes }: FoldedPath): string[] {
  return nodes.filter(({ columns }) => columns !== undefined).map(({ id }) => id);
}

function ColumnSelect({
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
      <select value={field} onChange={(event) => navigate({ field: event.currentTarget.value })}>
        {field === "" && <option value="">select …</option>}
        {choices.map((name) => (
          <option key={name} value={name}>
            {displayText(name)}
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
      <span class="indirect-line">indirect (filter, join, group by)</span>
      <span class="masked-line">masked</span>
    </span>
  );
}

/** The edges as a table, for screen readers and for exact names. */
function EdgeTable({ path }: { readonly path: ColumnPath }) {
  const name = (at: number) => {
    const { name, field } = path.nodes[at];
    return `${displayText(name)}${field === undefined ? "" : `.${displayText(field)}`}`;
  };
  const sorted = [...path.edges].sort((a, b) => path.nodes[a.to].distance - path.nodes[b.to].distance);
  return (
    <details class="edges">
      <summary>{path.edges.length} column edges as a table</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">source</th>
            <th scope="col">transformation</th>
            <th scope="col">target</th>
            <th scope="col">job</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((edge, at) => (
            <tr key={at} data-masked={edge.masking}>
              <td>
                <bdi>{name(edge.from)}</bdi>
              </td>
              <td>
                {edge.kinds.map(readableKind).join(", ")}
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

function columnPathMermaid(path: ColumnPath): string {
  const name = (at: number) => {
    const { namespace, name, field } = path.nodes[at];
    return `${namespace}/${name}${field === undefined ? "" : ` ${field}`}`;
  };
  return mermaid(
    path.edges.map(({ from, to, kinds }) => ({ from: name(from), to: name(to), label: kinds.map(readableKind).join(", ") })),
  );
}
