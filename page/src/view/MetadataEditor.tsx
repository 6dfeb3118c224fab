// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { fetchJson, fetchVersioned, replace, RequestError, type Versioned } from "../api";
import type { Field } from "../model/apiTypes";
import type { GraphNode } from "../model/graph";
import { apiPath } from "../model/ids";
import {
  type ColumnMetadata,
  columnsOf,
  formatOwners,
  formatTags,
  isEditable,
  type Metadata,
  parseOwners,
  parseTags,
  withoutEmptyColumns,
} from "../model/metadata";
import { displayText } from "../model/names";
import { adminKey } from "../state/store";

interface Loaded extends Versioned<{ readonly entry: Metadata }> {
  readonly columns: readonly string[];
}

/** Form for description, owners and tags of a node and its columns: what a metadata file says of it. */
export function MetadataEditor({ node, close }: { readonly node: GraphNode; readonly close: () => void }) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [error, setError] = useState("");
  const load = () => {
    setError("");
    setLoaded(null);
    loadMetadata(node).then(setLoaded, (failure: Error) => setError(failure.message));
  };
  useEffect(load, [node.id]);
  if (error !== "") return <p class="error">{error}</p>;
  if (loaded === null) return <p class="faint">Loading …</p>;
  if (!isEditable(loaded.value.entry)) {
    return (
      <p class="error">
        Owners or tags of this node have characters that this form cannot show. Edit them in a metadata file:{" "}
        <code>bin/lab lineage describe FILE</code>.
      </p>
    );
  }
  return <Form key={loaded.version} node={node} loaded={loaded} close={close} reload={load} />;
}

function metadataPath(node: GraphNode): string {
  return `/api/v1/metadata?nodeId=${encodeURIComponent(node.id)}`;
}

async function loadMetadata(node: GraphNode): Promise<Loaded> {
  const dataset = node.kind === "dataset" ? fetchJson(apiPath("dataset", node)) : Promise.resolve({ fields: [] });
  const [found, schema] = await Promise.all([fetchVersioned<{ readonly entry: Metadata }>(metadataPath(node)), dataset]);
  const fields = (schema as { readonly fields: readonly Field[] }).fields.map(({ name }) => name);
  return { ...found, columns: columnsOf(found.value.entry, fields) };
}

function Form(props: {
  readonly node: GraphNode;
  readonly loaded: Loaded;
  readonly close: () => void;
  readonly reload: () => void;
}) {
  const { node, loaded, close, reload } = props;
  const { entry } = loaded.value;
  const [failure, setFailure] = useState<RequestError | null>(null);
  const [saving, setSaving] = useState(false);
  const save = async (form: HTMLFormElement) => {
    const texts = new FormData(form);
    const key = String(texts.get("key") ?? adminKey.value).trim();
    setSaving(true);
    try {
      await replace(metadataPath(node), entryOf(texts, loaded.columns), key, loaded.version);
      adminKey.value = key;
      close();
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      if (error.status === 401 || error.status === 403) adminKey.value = "";
      setFailure(error);
      setSaving(false);
    }
  };
  return (
    <form
      class="metadata"
      aria-label="Metadata"
      onSubmit={(event) => {
        event.preventDefault();
        void save(event.currentTarget);
      }}
    >
      <label>
        Description
        <textarea name="description" aria-label="Description" rows={3} maxLength={10_000} defaultValue={entry.description} />
      </label>
      <label>
        Owners, one a line: <code>team-data</code>, <code>ann (STEWARD)</code>
        <textarea name="owners" aria-label="Owners" rows={2} defaultValue={formatOwners(entry.owners)} />
      </label>
      <label>
        Tags, one a line: <code>gold</code>, <code>retention=30d</code>
        <textarea name="tags" aria-label="Tags" rows={2} defaultValue={formatTags(entry.tags)} />
      </label>
      {loaded.columns.length > 0 && <ColumnInputs columns={loaded.columns} said={entry.columns} />}
      {adminKey.value === "" && (
        <label>
          Admin key: <code>LINEAGE_ADMIN_KEY</code> in the credentials of the lab
          <input type="password" name="key" autocomplete="off" required />
        </label>
      )}
      {failure !== null && (
        <p class="error" role="alert">
          {failure.message}{" "}
          {failure.status === 412 && (
            <button type="button" onClick={reload}>
              Read it again
            </button>
          )}
        </p>
      )}
      <p class="actions">
        <button type="submit" disabled={saving}>
          Save
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </p>
      <p class="faint">What other producers say about this node stays.</p>
    </form>
  );
}

function ColumnInputs({ columns, said }: { readonly columns: readonly string[]; readonly said: Metadata["columns"] }) {
  return (
    <details open={Object.keys(said).length > 0}>
      <summary>Columns ({columns.length})</summary>
      {columns.map((name, at) => {
        const { description, tags } = Object.hasOwn(said, name) ? said[name] : { description: "", tags: [] };
        return (
          <fieldset key={name}>
            <legend>
              <bdi>{displayText(name)}</bdi>
            </legend>
            <input
              name={`description${at}`}
              aria-label={`Description of ${name}`}
              placeholder="description"
              maxLength={10_000}
              defaultValue={description}
            />
            <textarea
              name={`tags${at}`}
              aria-label={`Tags of ${name}`}
              placeholder="tags"
              rows={Math.max(1, tags.length)}
              defaultValue={formatTags(tags)}
            />
          </fieldset>
        );
      })}
    </details>
  );
}

/** The metadata of a filled form. */
function entryOf(texts: FormData, columns: readonly string[]): Metadata {
  const text = (name: string) => String(texts.get(name) ?? "").trim();
  const entries = columns.map((name, at): [string, ColumnMetadata] => [
    name,
    { description: text(`description${at}`), tags: parseTags(text(`tags${at}`)) },
  ]);
  return withoutEmptyColumns({
    description: text("description"),
    owners: parseOwners(text("owners")),
    tags: parseTags(text("tags")),
    columns: Object.fromEntries(entries),
  });
}
