// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { DIFF_SIGN } from "../model/diff";
import type { Field, QualifiedName } from "../model/apiTypes";
import type { GraphNode } from "../model/graph";
import type { CarriedTag } from "../model/carriedTags";
import { apiPath, columnId, nodeId } from "../model/ids";
import { displayText } from "../model/names";
import { type SchemaChange, schemaChanges } from "../model/schemaChanges";
import { graph, graphWorker, nodeIndexById, suspects } from "../state/store";
import { formatAge, formatBytes, formatTime, formatNumber } from "./format";
import { Icon, Link, NodeLink, Section, Table, Unavailable } from "./components";
import { useResource } from "./useResource";

interface DatasetResponse extends QualifiedName {
  readonly fields: readonly (Field & { readonly tags: readonly string[]; readonly description: string | null })[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly facets: Readonly<Record<string, unknown>>;
}

interface VersionsResponse {
  readonly versions: readonly {
    readonly version: string;
    readonly createdAt: string;
    readonly fields: readonly Field[];
    readonly createdByRun: { readonly id: string; readonly jobVersion: QualifiedName } | null;
  }[];
  readonly totalCount: number;
}

interface ActivityResponse {
  readonly writes: readonly {
    readonly job: string;
    readonly run: string;
    readonly eventTime: string;
    readonly rowCount: number | null;
    readonly size: number | null;
  }[];
  readonly quality: readonly {
    readonly assertion: string | null;
    readonly column: string | null;
    readonly success: boolean | null;
    readonly eventTime: string;
  }[];
}

const MAX_VERSIONS = 20;

/** Columns, recent writes, versions and data quality assertions of a dataset. */
export function DatasetDetails({ node }: { readonly node: GraphNode }) {
  const path = apiPath("dataset", node);
  const dataset = useResource<DatasetResponse>(path, graph.value);
  const versions = useResource<VersionsResponse>(`${path}/versions?limit=${MAX_VERSIONS}`, graph.value);
  const activity = useResource<ActivityResponse>(`${path}/activity?limit=20`, graph.value);
  if (!dataset.value) return <Unavailable error={dataset.error} />;
  const cause = suspects.value.get(node.id);
  return (
    <>
      {cause !== undefined && <Suspicion node={node} cause={cause} />}
      <Section title={`Columns (${dataset.value.fields.length})`}>
        <Columns node={node} fields={dataset.value.fields} />
      </Section>
      <Section title="Recent writes">
        {activity.value ? <Writes found={activity.value} /> : <Unavailable error={activity.error} />}
      </Section>
      <Section title={`Versions (${versions.value?.totalCount ?? "…"})`}>
        {versions.value ? <Versions found={versions.value} /> : <Unavailable error={versions.error} />}
      </Section>
      {activity.value && activity.value.quality.length > 0 && (
        <Section title="Data quality">
          <Quality found={activity.value} />
        </Section>
      )}
      <Section title="Raw facets" open={false}>
        <pre tabIndex={0}>{JSON.stringify(dataset.value.facets, null, 2)}</pre>
      </Section>
    </>
  );
}

/** Says that a dataset is suspect, and links to the one whose checks failed. */
function Suspicion({ node, cause }: { readonly node: GraphNode; readonly cause: string }) {
  const at = nodeIndexById.value.get(cause);
  return (
    <p class="suspicion" role="status">
      <Icon name="suspect" size={16} /> Suspect:{" "}
      {cause === node.id || at === undefined ? (
        "its data quality checks failed"
      ) : (
        <>
          data quality checks of <Link to={{ node: cause }}>{displayText(graph.value.nodes[at].name)}</Link> failed
        </>
      )}
    </p>
  );
}

/** Tags that columns get from others, by column; empty until they are computed, and for a past graph. */
function useCarriedTags(node: GraphNode, fields: DatasetResponse["fields"]): ReadonlyMap<string, readonly CarriedTag[]> {
  const [found, setFound] = useState<ReadonlyMap<string, readonly CarriedTag[]>>(new Map());
  const names = fields.map(({ name }) => name).join("\n");
  useEffect(() => {
    let current = true;
    const group = (tags: readonly CarriedTag[]) => {
      const byColumn = new Map<string, CarriedTag[]>();
      for (const tag of tags) byColumn.set(tag.column, [...(byColumn.get(tag.column) ?? []), tag]);
      if (current) setFound(byColumn);
    };
    // An error of the service is shown by the graph view; the columns are shown without these tags then.
    graphWorker.call("carriedTags", { namespace: node.namespace, name: node.name }, names.split("\n")).then(group, () => undefined);
    return () => {
      current = false;
    };
  }, [node.id, names, graph.value.from]);
  return found;
}

function Columns({ node, fields }: { readonly node: GraphNode; readonly fields: DatasetResponse["fields"] }) {
  const carried = useCarriedTags(node, fields);
  if (fields.length === 0) return <p class="faint">No event contains its schema.</p>;
  const rows = fields.map((field) => ({
    key: field.name,
    cells: [
      <Column node={node} field={field} carried={carried.get(field.name) ?? []} />,
      <span class="faint">{displayText(field.type ?? "–")}</span>,
    ],
  }));
  return <Table headings={[{ title: "column" }, { title: "type" }]} rows={rows} />;
}

function Column(props: {
  readonly node: GraphNode;
  readonly field: DatasetResponse["fields"][number];
  readonly carried: readonly CarriedTag[];
}) {
  const { node, field, carried } = props;
  return (
    <>
      <Link to={{ view: "columns", node: node.id, field: field.name }}>
        <bdi>{displayText(field.name)}</bdi>
      </Link>
      {node.masked.includes(field.name) && (
        <span class="masked">
          <Icon name="lock" size={13} /> masked
        </span>
      )}
      {field.tags.map((tag) => (
        <span class="tag" key={tag}>
          {displayText(tag)}
        </span>
      ))}
      {carried.map(({ tag, origin, aggregated }) => (
        <small class="carried" key={`${tag}${columnId(origin, origin.field ?? "")}`}>
          {displayText(tag)}
          {aggregated ? ", aggregated," : ""} from{" "}
          <Link to={{ view: "columns", node: nodeId("dataset", origin), field: origin.field ?? "" }}>
            {displayText(`${origin.name}#${origin.field}`)}
          </Link>
        </small>
      ))}
      {field.description && <small>{displayText(field.description)}</small>}
    </>
  );
}

function Writes({ found }: { readonly found: ActivityResponse }) {
  if (found.writes.length === 0) return <p class="faint">No recent event reports rows written to this dataset.</p>;
  const rows = found.writes.map((write) => ({
    key: `${write.run}${write.eventTime}`,
    cells: [
      <span title={formatTime(write.eventTime)}>{formatAge(write.eventTime, Date.now())}</span>,
      <bdi>{displayText(write.job)}</bdi>,
      write.rowCount === null ? "–" : formatNumber(write.rowCount),
      formatBytes(write.size),
    ],
  }));
  return (
    <Table
      headings={[{ title: "when" }, { title: "job" }, { title: "rows", right: true }, { title: "size", right: true }]}
      rows={rows}
    />
  );
}

function Versions({ found }: { readonly found: VersionsResponse }) {
  if (found.versions.length === 0) return <p class="faint">No version recorded.</p>;
  return (
    <ol class="versions">
      {found.versions.map((version, at) => (
        <li key={version.version}>
          <strong>{formatTime(version.createdAt)}</strong>
          {version.createdByRun && (
            <>
              {" by "}
              <NodeLink kind="job" node={version.createdByRun.jobVersion} />
            </>
          )}
          <VersionChanges
            changes={
              at + 1 < found.versions.length ? schemaChanges(found.versions[at + 1].fields, version.fields) : null
            }
          />
        </li>
      ))}
    </ol>
  );
}

function VersionChanges({ changes }: { readonly changes: readonly SchemaChange[] | null }) {
  if (changes === null) return <p class="faint">first known version</p>;
  if (changes.length === 0) return <p class="faint">no column changes</p>;
  return (
    <ul class="diff">
      {changes.map(({ kind, column, text }) => (
        <li class={kind} key={`${kind}${column}`}>
          <span aria-hidden="true">{DIFF_SIGN[kind]}</span> <span class="hidden">{kind}</span> <bdi>{displayText(column)}</bdi>{" "}
          {displayText(text)}
        </li>
      ))}
    </ul>
  );
}

function Quality({ found }: { readonly found: ActivityResponse }) {
  return (
    <ul class="plain">
      {found.quality.map((row, at) => (
        <li key={at}>
          <span class={`state ${row.success === false ? "failed" : "completed"}`}>
            {row.success === false ? "✕ failed" : "✓ passed"}
          </span>{" "}
          <bdi>{displayText(row.assertion ?? "unnamed assertion")}</bdi>
          {row.column && (
            <>
              {" of "}
              <bdi>{displayText(row.column)}</bdi>
            </>
          )}{" "}
          <small>{formatAge(row.eventTime, Date.now())}</small>
        </li>
      ))}
    </ul>
  );
}
