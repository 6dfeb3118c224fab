// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from "preact/hooks";
import { ENGINE_NAMES } from "../model/engines";
import { columnId, nodeId } from "../model/ids";
import { displayText } from "../model/names";
import { impactCsvRows, type ImpactResponse, impactEdges, impactRows, type ImpactRow } from "../model/impact";
import { csv } from "../model/csv";
import { mermaid } from "../model/mermaid";
import { graph, nodeIndexById, route } from "../state/store";
import { download, fileName } from "./downloads";
import { Icon, Link, NodeLink, Notice } from "./components";
import { DatasetPicker } from "./DatasetPicker";
import { DistanceSelect, useDistance } from "./DistanceSelect";
import { useResource } from "./useResource";

const MAX_ROWS = 500;

/** Impact (downstream) or origin (upstream) of a dataset or column, as a table. */
export function ImpactView() {
  const { node, field, direction } = route.value;
  const at = nodeIndexById.value.get(node);
  const known = at === undefined ? undefined : graph.value.nodes[at];
  const isDataset = known?.kind === "dataset";
  const id = isDataset ? (field === "" ? node : columnId(known, field)) : "";
  const call = direction === "down" ? "impact" : "origin";
  const distance = useDistance(`${call} ${id}`);
  const path = isDataset ? `/api/v1/${call}?nodeId=${encodeURIComponent(id)}${distance.parameter}` : null;
  const found = useResource<ImpactResponse>(path, graph.value);
  if (!isDataset) {
    return (
      <DatasetPicker
        title={direction === "down" ? "Impact of what?" : "Origin of what?"}
        linkTo={(id, column) => ({ node: id, field: column })}
      />
    );
  }
  const subject = field === "" ? displayText(known.name) : `${displayText(field)} of ${displayText(known.name)}`;
  return (
    <div class="list">
      <div class="toolbar">
        <NodeLink kind="dataset" node={known} engine={known.engine} />
        {field !== "" && (
          <Link to={{ view: "columns" }} class="node">
            <Icon name="column" size={16} />
            <bdi>{displayText(field)}</bdi>
          </Link>
        )}
        <nav aria-label="Direction">
          <Link class="button" to={{ direction: "down" }} current={direction === "down"}>
            Impact
          </Link>
          <Link class="button" to={{ direction: "up" }} current={direction === "up"}>
            Origin
          </Link>
        </nav>
        <DistanceSelect distance={distance} status={found.status} />
      </div>
      <h2>{direction === "down" ? `Impact of a change to ${subject}` : `Origin of ${subject}`}</h2>
      {found.error && <p class="error">{found.error}</p>}
      {found.value ? (
        <ImpactTable impact={found.value} title={`${call} ${subject}`} />
      ) : (
        !found.error && <p class="faint">Loading …</p>
      )}
    </div>
  );
}

function ImpactTable({ impact, title }: { readonly impact: ImpactResponse; readonly title: string }) {
  const rows = useMemo(() => impactRows(impact), [impact]);
  const [all, setAll] = useState(false);
  if (rows.length === 0) return <Notice title="No lineage in this direction" />;
  const count = (kind: ImpactRow["kind"]) => rows.filter((row) => row.kind === kind).length;
  return (
    <>
      <p>
        {count("column")} columns, {count("dataset")} datasets, {count("job")} jobs. Export:{" "}
        <button type="button" onClick={() => download(fileName(title, "csv"), "text/csv", csv(impactCsvRows(rows)))}>
          CSV
        </button>{" "}
        <button
          type="button"
          onClick={() => download(fileName(title, "json"), "application/json", `${JSON.stringify(impact, null, 2)}\n`)}
        >
          JSON
        </button>{" "}
        <button
          type="button"
          onClick={() => download(fileName(title, "mmd"), "text/plain", mermaid(impactEdges(impact)))}
        >
          Mermaid
        </button>
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col" class="right">
                distance in jobs
              </th>
              <th scope="col">name</th>
              <th scope="col">column</th>
              <th scope="col">transformation</th>
              <th scope="col">namespace</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, all ? rows.length : MAX_ROWS).map((row) => (
              <ImpactTableRow key={`${row.kind}${row.entity.namespace}${row.entity.name}${row.field}`} row={row} />
            ))}
          </tbody>
        </table>
      </div>
      {!all && rows.length > MAX_ROWS && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {rows.length}
        </button>
      )}
    </>
  );
}

function ImpactTableRow({ row }: { readonly row: ImpactRow }) {
  const kind = row.kind === "job" ? "job" : "dataset";
  const at = nodeIndexById.value.get(nodeId(kind, row.entity));
  const engine = at === undefined ? undefined : graph.value.nodes[at].engine;
  return (
    <tr>
      <td class="right">{row.distance}</td>
      <td>
        <NodeLink kind={kind} node={row.entity} {...(engine ? { engine } : {})} />
      </td>
      <td>
        {row.field !== "" && (
          <Link to={{ view: "columns", node: nodeId("dataset", row.entity), field: row.field }}>
            <bdi>{displayText(row.field)}</bdi>
          </Link>
        )}
      </td>
      <td>
        {row.transformation}
        {!row.certain && <small> (possible: a job on the path reports no column lineage)</small>}
      </td>
      <td class="faint">
        {engine ? `${ENGINE_NAMES[engine]} · ` : ""}
        <bdi>{displayText(row.entity.namespace)}</bdi>
      </td>
    </tr>
  );
}
