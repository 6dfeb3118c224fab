// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from "preact/hooks";
import { ENGINE_NAMES } from "../model/engines";
import { columnId, nodeId } from "../model/ids";
import { shown } from "../model/names";
import { exportRows, type Reach, reachEdges, reachRows, type ReachRow } from "../model/impact";
import { csv, mermaid } from "../model/tables";
import { graph, nodeById, route } from "../state/store";
import { download, fileName } from "./downloads";
import { Icon, Link, NodeLink, Notice } from "./components";
import { useResource } from "./useResource";

const SHOWN = 500;

/** What breaks if a dataset or column changes, and what fed it, as a list. */
export function ImpactView() {
  const { node, field, direction } = route.value;
  const at = nodeById.value.get(node);
  const known = at === undefined ? undefined : graph.value.nodes[at];
  const isDataset = known?.kind === "dataset";
  const id = isDataset ? (field === "" ? node : columnId(known, field)) : "";
  const call = direction === "down" ? "impact" : "origin";
  const found = useResource<Reach>(isDataset ? `/api/v1/${call}?nodeId=${encodeURIComponent(id)}` : null, graph.value);
  if (!isDataset) {
    return (
      <Notice title="Impact of what?">
        <p>Search for a dataset or a column, or choose one in the graph.</p>
        <Link to={{ view: "graph", node: "", field: "" }}>To the graph</Link>
      </Notice>
    );
  }
  const what = field === "" ? shown(known.name) : `${shown(field)} of ${shown(known.name)}`;
  return (
    <div class="list">
      <div class="bar">
        <NodeLink kind="dataset" node={known} engine={known.engine} />
        {field !== "" && (
          <Link to={{ view: "columns" }} class="node">
            <Icon name="column" size={16} />
            <bdi>{shown(field)}</bdi>
          </Link>
        )}
        <nav aria-label="Direction">
          <Link class="button" to={{ direction: "down" }} current={direction === "down"}>
            What breaks
          </Link>
          <Link class="button" to={{ direction: "up" }} current={direction === "up"}>
            What fed it
          </Link>
        </nav>
      </div>
      <h2>{direction === "down" ? `What breaks if ${what} changes` : `What fed ${what}`}</h2>
      {found.error && <p class="error">{found.error}</p>}
      {found.value ? (
        <Rows reach={found.value} title={`${call} ${what}`} />
      ) : (
        !found.error && <p class="faint">Reading …</p>
      )}
    </div>
  );
}

function Rows({ reach, title }: { readonly reach: Reach; readonly title: string }) {
  const rows = useMemo(() => reachRows(reach), [reach]);
  const [all, setAll] = useState(false);
  if (rows.length === 0) return <Notice title="Nothing, as far as the lineage tells" />;
  const count = (kind: ReachRow["kind"]) => rows.filter((row) => row.kind === kind).length;
  return (
    <>
      <p>
        {count("column")} columns, {count("dataset")} datasets, {count("job")} jobs. Take them along:{" "}
        <button type="button" onClick={() => download(fileName(title, "csv"), "text/csv", csv(exportRows(rows)))}>
          CSV
        </button>{" "}
        <button
          type="button"
          onClick={() => download(fileName(title, "json"), "application/json", `${JSON.stringify(reach, null, 2)}\n`)}
        >
          JSON
        </button>{" "}
        <button
          type="button"
          onClick={() => download(fileName(title, "mmd"), "text/plain", mermaid(reachEdges(reach)))}
        >
          Mermaid
        </button>
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col" class="right">
                jobs away
              </th>
              <th scope="col">what</th>
              <th scope="col">column</th>
              <th scope="col">how</th>
              <th scope="col">where</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, all ? rows.length : SHOWN).map((row) => (
              <Line key={`${row.kind}${row.pair.namespace}${row.pair.name}${row.field}`} row={row} />
            ))}
          </tbody>
        </table>
      </div>
      {!all && rows.length > SHOWN && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {rows.length}
        </button>
      )}
    </>
  );
}

function Line({ row }: { readonly row: ReachRow }) {
  const kind = row.kind === "job" ? "job" : "dataset";
  const at = nodeById.value.get(nodeId(kind, row.pair));
  const engine = at === undefined ? undefined : graph.value.nodes[at].engine;
  return (
    <tr>
      <td class="right">{row.jobs}</td>
      <td>
        <NodeLink kind={kind} node={row.pair} {...(engine ? { engine } : {})} />
      </td>
      <td>
        {row.field !== "" && (
          <Link to={{ view: "columns", node: nodeId("dataset", row.pair), field: row.field }}>
            <bdi>{shown(row.field)}</bdi>
          </Link>
        )}
      </td>
      <td>
        {row.how}
        {!row.certain && <small> (possibly: a job does not tell its columns)</small>}
      </td>
      <td class="faint">
        {engine ? `${ENGINE_NAMES[engine]} · ` : ""}
        <bdi>{shown(row.pair.namespace)}</bdi>
      </td>
    </tr>
  );
}
