// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from "preact/hooks";
import { displayText } from "../model/names";
import { suggestDatasets } from "../model/suggestions";
import { favorites, recentNodes } from "../state/bookmarks";
import type { Route } from "../state/route";
import { graph, graphWorker, nodeIndexById } from "../state/store";
import { Icon, Link, Notice } from "./components";
import { COLUMNS_NOT_SEARCHED } from "./SearchBox";

const MAX_CHOICES = 20;

interface Choice {
  readonly node: string;
  readonly field?: string;
  readonly reason: string;
}

/** Search for a dataset or column, in place of a view that requires one, with suggestions before any input. */
export function DatasetPicker(props: {
  readonly title: string;
  readonly linkTo: (node: string, field: string) => Partial<Route>;
}) {
  const [text, setText] = useState("");
  const [hits, setHits] = useState<readonly Choice[]>([]);
  const [namesOnly, setNamesOnly] = useState(false);
  useEffect(() => {
    let current = true;
    const runSearch = async () => {
      await graphWorker.call("loadColumns");
      const { hits: found, namesOnly: withoutColumns } = await graphWorker.call("search", text, 3 * MAX_CHOICES);
      if (!current) return;
      setNamesOnly(withoutColumns);
      setHits(found.filter(({ node }) => node.startsWith("dataset:")).map((hit) => ({ reason: "", ...hit })));
    };
    // Ignore errors: the graph view reports them, and the choices so far stay valid.
    if (text.trim() !== "") runSearch().catch(() => undefined);
    return () => {
      current = false;
    };
  }, [text, graph.value]);
  const sources = { favorites: favorites.value, recent: recentNodes.value };
  const suggested = (): Choice[] =>
    suggestDatasets(graph.value, sources, MAX_CHOICES).map(({ node, reason }) => ({ node: node.id, reason }));
  const choices = text.trim() === "" ? suggested() : hits.slice(0, MAX_CHOICES);
  return (
    <Notice title={props.title}>
      <input
        type="search"
        class="picker"
        aria-label="Search for a dataset or column"
        placeholder="Name of a dataset or column"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <ul class="plain choices" aria-label={text.trim() === "" ? "Suggestions" : "Results"}>
        {choices.map((choice) => (
          <li key={`${choice.node}#${choice.field ?? ""}`}>
            <ChoiceLink choice={choice} to={props.linkTo(choice.node, choice.field ?? "")} />
          </li>
        ))}
        {choices.length === 0 && <li class="faint">No dataset{namesOnly ? "" : " or column"} matches.</li>}
      </ul>
      {namesOnly && text.trim() !== "" && <p class="faint">{COLUMNS_NOT_SEARCHED}</p>}
    </Notice>
  );
}

function ChoiceLink({ choice, to }: { readonly choice: Choice; readonly to: Partial<Route> }) {
  const at = nodeIndexById.value.get(choice.node);
  if (at === undefined) return null;
  const node = graph.value.nodes[at];
  const name = choice.field === undefined ? node.name : `${choice.field} of ${node.name}`;
  return (
    <>
      <Link to={to} class="node">
        <Icon name={choice.field === undefined ? node.engine : "column"} size={16} />
        <bdi>{displayText(name)}</bdi>
      </Link>{" "}
      <small>
        <bdi>{displayText(node.namespace)}</bdi>
        {choice.reason !== "" && ` · ${choice.reason}`}
      </small>
    </>
  );
}
