// SPDX-License-Identifier: Apache-2.0
import { SIGN } from "../model/diff";
import type { Field, Pair } from "../model/apiTypes";
import type { GraphNode } from "../model/graph";
import { apiPath } from "../model/ids";
import { shown } from "../model/names";
import { type SchemaChange, schemaChanges } from "../model/schemaChanges";
import { graph } from "../state/store";
import { ago, bytes, moment, number } from "./format";
import { Icon, Link, NodeLink, Section, Table } from "./components";
import { useResource } from "./useResource";

interface DatasetAnswer extends Pair {
  readonly fields: readonly (Field & { readonly tags: readonly string[]; readonly description: string | null })[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly facets: Readonly<Record<string, unknown>>;
}

interface VersionsAnswer {
  readonly versions: readonly {
    readonly version: string;
    readonly createdAt: string;
    readonly fields: readonly Field[];
    readonly createdByRun: { readonly id: string; readonly jobVersion: Pair } | null;
  }[];
  readonly totalCount: number;
}

interface ActivityAnswer {
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

const SHOWN_VERSIONS = 20;

/** Schema, versions, writes and checks of a dataset. */
export function DatasetDetails({ node }: { readonly node: GraphNode }) {
  const path = apiPath("dataset", node);
  const dataset = useResource<DatasetAnswer>(path, graph.value);
  const versions = useResource<VersionsAnswer>(`${path}/versions?limit=${SHOWN_VERSIONS}`, graph.value);
  const activity = useResource<ActivityAnswer>(`${path}/activity?limit=20`, graph.value);
  if (dataset.error) return <p class="error">{dataset.error}</p>;
  if (!dataset.value) return <p class="faint">Reading …</p>;
  return (
    <>
      <Section title={`Columns (${dataset.value.fields.length})`}>
        <Columns node={node} fields={dataset.value.fields} />
      </Section>
      <Section title="Last writes">
        <Writes found={activity.value} />
      </Section>
      <Section title={`Versions (${versions.value?.totalCount ?? "…"})`}>
        <Versions found={versions.value} />
      </Section>
      {activity.value && activity.value.quality.length > 0 && (
        <Section title="Quality">
          <Quality found={activity.value} />
        </Section>
      )}
      <Section title="Facets as they stand" open={false}>
        <pre tabIndex={0}>{JSON.stringify(dataset.value.facets, null, 2)}</pre>
      </Section>
    </>
  );
}

function Columns({ node, fields }: { readonly node: GraphNode; readonly fields: DatasetAnswer["fields"] }) {
  if (fields.length === 0) return <p class="faint">No event has told its schema.</p>;
  const rows = fields.map((field) => ({
    key: field.name,
    cells: [
      <Column node={node} field={field} />,
      <span class="faint">{shown(field.type ?? "–")}</span>,
    ],
  }));
  return <Table headings={[{ title: "column" }, { title: "type" }]} rows={rows} />;
}

function Column({ node, field }: { readonly node: GraphNode; readonly field: DatasetAnswer["fields"][number] }) {
  return (
    <>
      <Link to={{ view: "columns", node: node.id, field: field.name }}>
        <bdi>{shown(field.name)}</bdi>
      </Link>
      {node.masked.includes(field.name) && (
        <span class="masked">
          <Icon name="lock" size={13} /> masked
        </span>
      )}
      {field.tags.map((tag) => (
        <span class="tag" key={tag}>
          {shown(tag)}
        </span>
      ))}
      {field.description && <small>{shown(field.description)}</small>}
    </>
  );
}

function Writes({ found }: { readonly found: ActivityAnswer | null }) {
  if (!found) return <p class="faint">Reading …</p>;
  if (found.writes.length === 0) return <p class="faint">None of the latest events counts rows written here.</p>;
  const rows = found.writes.map((write) => ({
    key: `${write.run}${write.eventTime}`,
    cells: [
      <span title={moment(write.eventTime)}>{ago(write.eventTime, Date.now())}</span>,
      <bdi>{shown(write.job)}</bdi>,
      write.rowCount === null ? "–" : number(write.rowCount),
      bytes(write.size),
    ],
  }));
  return (
    <Table
      headings={[{ title: "when" }, { title: "job" }, { title: "rows", right: true }, { title: "size", right: true }]}
      rows={rows}
    />
  );
}

function Versions({ found }: { readonly found: VersionsAnswer | null }) {
  if (!found) return <p class="faint">Reading …</p>;
  if (found.versions.length === 0) return <p class="faint">No event has told a state of it.</p>;
  return (
    <ol class="versions">
      {found.versions.map((version, at) => (
        <li key={version.version}>
          <strong>{moment(version.createdAt)}</strong>
          {version.createdByRun && (
            <>
              {" by "}
              <NodeLink kind="job" node={version.createdByRun.jobVersion} />
            </>
          )}
          <Change
            changes={
              at + 1 < found.versions.length ? schemaChanges(found.versions[at + 1].fields, version.fields) : null
            }
          />
        </li>
      ))}
    </ol>
  );
}

function Change({ changes }: { readonly changes: readonly SchemaChange[] | null }) {
  if (changes === null) return <p class="faint">the first that is known</p>;
  if (changes.length === 0) return <p class="faint">the same columns</p>;
  return (
    <ul class="diff">
      {changes.map(({ kind, column, text }) => (
        <li class={kind} key={`${kind}${column}`}>
          <span aria-hidden="true">{SIGN[kind]}</span> <span class="hidden">{kind}</span> <bdi>{shown(column)}</bdi>{" "}
          {shown(text)}
        </li>
      ))}
    </ul>
  );
}

function Quality({ found }: { readonly found: ActivityAnswer }) {
  return (
    <ul class="plain">
      {found.quality.map((row, at) => (
        <li key={at}>
          <span class={`state ${row.success === false ? "failed" : "completed"}`}>
            {row.success === false ? "✕ failed" : "✓ passed"}
          </span>{" "}
          <bdi>{shown(row.assertion ?? "a check")}</bdi>
          {row.column && (
            <>
              {" of "}
              <bdi>{shown(row.column)}</bdi>
            </>
          )}{" "}
          <small>{ago(row.eventTime, Date.now())}</small>
        </li>
      ))}
    </ul>
  );
}
