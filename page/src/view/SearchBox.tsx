// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import { shown } from "../model/names";
import type { Hit } from "../model/search";
import { engine, go, graph, nodeById, stateNow } from "../state/store";
import { Icon, StateBadge } from "./components";

const MOST = 30;

/** Search as you type, after the pattern of a combobox: arrows choose, Enter goes there, Escape leaves. */
export function SearchBox() {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [hits, setHits] = useState<readonly Hit[]>([]);
  const [chosen, choose] = useState(0);
  const [open, setOpen] = useState(false);

  useEffect(() => {
    let wanted = true;
    const ask = async () => {
      const { hits: found, partial } = await engine.ask("search", text, MOST);
      if (!wanted) return;
      setHits(found.filter(({ node }) => nodeById.value.has(node)));
      choose(0);
      if (!partial) return;
      await engine.ask("readColumns");
      if (wanted) await ask();
    };
    // What cannot be read is said where the graph is; the search goes on with what it has.
    if (text.trim() !== "") ask().catch(() => undefined);
    return () => {
      wanted = false;
    };
  }, [text, graph.value]);

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

  const follow = (hit: Hit) => {
    setOpen(false);
    input.current?.blur();
    go(
      hit.field === undefined
        ? { view: "graph", node: hit.node, field: "" }
        : { view: "columns", node: hit.node, field: hit.field },
    );
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && hits.length > 0) {
      event.preventDefault();
      choose((chosen + step + hits.length) % hits.length);
    } else if (event.key === "Enter" && hits[chosen]) follow(hits[chosen]);
    else if (event.key === "Escape") input.current?.blur();
  };
  const shows = open && text.trim() !== "";
  return (
    <div class="search">
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search names, columns, tags, owners, states"
        aria-expanded={shows}
        aria-controls="hits"
        aria-autocomplete="list"
        aria-activedescendant={shows && hits[chosen] ? `hit-${chosen}` : undefined}
        placeholder="Search: name, column, tag:pii, owner:…, state:failed   ( / )"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      {shows && (
        <ul id="hits" role="listbox" aria-label="Results">
          {hits.length === 0 && (
            <li class="none" role="option" aria-selected="false">
              Nothing has that in its name, columns, tags, owners or state.
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
              <Found hit={hit} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Found({ hit }: { readonly hit: Hit }) {
  const at = nodeById.value.get(hit.node);
  const node = at === undefined ? undefined : graph.value.nodes[at];
  if (!node) return null;
  return (
    <>
      <Icon name={hit.field === undefined ? node.engine : "column"} size={17} />
      <span class="what">
        <bdi>{shown(hit.field ?? node.name)}</bdi>
        <small>
          <bdi>{hit.field === undefined ? shown(node.namespace) : `${shown(node.namespace)}/${shown(node.name)}`}</bdi>
          {hit.because && ` · ${shown(hit.because)}`}
        </small>
      </span>
      {node.kind === "job" && <StateBadge state={stateNow(node)} />}
    </>
  );
}
