// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { MAX_EXPORTED_NODES } from "../model/graph";
import { displayText } from "../model/names";
import type { SearchHit } from "../model/search";
import { suggestNodes } from "../model/suggestions";
import { favorites, recentNodes } from "../state/bookmarks";
import { focusOn, graphWorker, navigate, graph, nodeIndexById, currentState } from "../state/store";
import { Icon, StateBadge } from "./components";
import { formatNumber } from "./format";

const MAX_HITS = 30;
const MAX_SUGGESTIONS = 12;

/** Note on the search of a large graph. */
export const COLUMNS_NOT_SEARCHED = `Columns are not searched: the graph has more than ${formatNumber(MAX_EXPORTED_NODES)} nodes.`;

/**
 * Incremental search, as an ARIA combobox: arrow keys select, Enter opens, Escape closes. Without a text it suggests
 * favorites, recently viewed nodes and failed jobs.
 *
 * Enter before the hits of the text are there opens the first of them as soon as they are. A graph that changes meanwhile
 * neither empties the list nor moves the selection.
 */
export function SearchBox() {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [hits, setHits] = useState<readonly SearchHit[]>([]);
  const [namesOnly, setNamesOnly] = useState(false);
  const [chosen, choose] = useState(0);
  const [open, setOpen] = useState(false);
  const textOfHits = useRef("");
  const followsFirst = useRef(false);

  useEffect(() => {
    let current = true;
    const runSearch = async () => {
      const { hits: found, partial, namesOnly: withoutColumns } = await graphWorker.call("search", text, MAX_HITS);
      if (!current) return;
      setNamesOnly(withoutColumns);
      const known = found.filter(({ node }) => nodeIndexById.value.has(node));
      if (textOfHits.current !== text) {
        textOfHits.current = text;
        setHits(known);
        choose(0);
      } else if (!partial) {
        setHits(known);
        choose((before) => Math.min(before, Math.max(0, known.length - 1)));
      }
      if (!partial && followsFirst.current) {
        followsFirst.current = false;
        if (known[0]) follow(known[0]);
      }
      if (!partial) return;
      await graphWorker.call("loadColumns");
      if (current) await runSearch();
    };
    // Ignore errors: the graph view reports them, and the results so far stay valid.
    if (text.trim() !== "") runSearch().catch(() => undefined);
    else if (open) {
      textOfHits.current = text;
      setHits(suggestedHits());
      choose(0);
    }
    return () => {
      current = false;
    };
  }, [text, graph.value, open]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = (event.target as HTMLElement).closest("input, textarea, select");
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);

  const follow = (hit: SearchHit) => {
    setOpen(false);
    input.current?.blur();
    navigate(
      hit.field === undefined
        ? focusOn(hit.node)
        : { view: "columns", node: hit.node, field: hit.field },
    );
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && hits.length > 0) {
      event.preventDefault();
      choose((chosen + step + hits.length) % hits.length);
    } else if (event.key === "Enter" && textOfHits.current === text && hits[chosen]) follow(hits[chosen]);
    else if (event.key === "Enter") followsFirst.current = text.trim() !== "";
    else if (event.key === "Escape") input.current?.blur();
  };
  const expanded = open && (text.trim() !== "" || hits.length > 0);
  return (
    <div class="search">
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search by name, column, tag, owner or state"
        aria-expanded={expanded}
        aria-controls="hits"
        aria-autocomplete="list"
        aria-activedescendant={expanded && hits[chosen] ? `hit-${chosen}` : undefined}
        placeholder="Search: name, column, tag:pii, owner:…, state:failed   ( / )"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          followsFirst.current = false;
          setText(event.currentTarget.value);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      {expanded && (
        <ul id="hits" role="listbox" aria-label="Results">
          {hits.length === 0 && text.trim() !== "" && (
            <li class="none" role="option" aria-selected="false">
              No match in names, {namesOnly ? "" : "columns, "}tags, owners or states.
            </li>
          )}
          {hits.map((hit, at) => (
            <li
              key={`${hit.node}#${hit.field ?? ""}`}
              id={`hit-${at}`}
              role="option"
              aria-selected={at === chosen}
              onMouseDown={(event) => {
                event.preventDefault();
                follow(hit);
              }}
              onMouseMove={() => choose(at)}
            >
              <SearchHitItem hit={hit} />
            </li>
          ))}
          {namesOnly && text.trim() !== "" && (
            <li class="none" role="option" aria-selected="false">
              {COLUMNS_NOT_SEARCHED}
            </li>
          )}
        </ul>
      )}
    </div>
  );
}

function suggestedHits(): SearchHit[] {
  const sources = { favorites: favorites.value, recent: recentNodes.value, stateOf: currentState };
  return suggestNodes(graph.value, sources, MAX_SUGGESTIONS).map(({ node, reason }) => ({
    node: node.id,
    matchedBy: reason,
  }));
}

function SearchHitItem({ hit }: { readonly hit: SearchHit }) {
  const at = nodeIndexById.value.get(hit.node);
  const node = at === undefined ? undefined : graph.value.nodes[at];
  if (!node) return null;
  return (
    <>
      <Icon name={hit.field === undefined ? node.engine : "column"} size={17} />
      <span class="what">
        <bdi>{displayText(hit.field ?? node.name)}</bdi>
        <small>
          <bdi>{hit.field === undefined ? displayText(node.namespace) : `${displayText(node.namespace)}/${displayText(node.name)}`}</bdi>
          {hit.matchedBy && ` · ${displayText(hit.matchedBy)}`}
        </small>
      </span>
      {node.kind === "job" && <StateBadge state={currentState(node)} />}
    </>
  );
}
