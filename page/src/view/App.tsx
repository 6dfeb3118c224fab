// SPDX-License-Identifier: Apache-2.0
import { useEffect } from "preact/hooks";
import { asOf, go, graph, connection, load, problem, route, status } from "../state/store";
import type { View } from "../state/route";
import { CHOICES, darkness } from "../state/theme";
import { ChangesView } from "./ChangesView";
import { ColumnsView } from "./ColumnsView";
import { GraphView } from "./GraphView";
import { ImpactView } from "./ImpactView";
import { LabView } from "./LabView";
import { Link, Notice } from "./components";
import { SearchBox } from "./SearchBox";

const TABS: readonly [View, string][] = [
  ["graph", "Graph"],
  ["columns", "Columns"],
  ["impact", "Impact"],
  ["changes", "Changes"],
  ["lab", "Lab"],
];

export function App() {
  const { view, node } = route.value;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = (event.target as HTMLElement).closest("input, textarea, select");
      if (event.key === "Escape" && !typing && route.value.view === "graph") go({ node: "", only: false });
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    const name = node.split(":").at(-1) ?? "";
    document.title = `${name === "" ? "" : `${name} · `}${TABS.find(([known]) => known === view)?.[1]} · Lineage Lab`;
  }, [view, node]);
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <header class="top">
        <Link to={{ view: "graph", node: "", field: "", only: false, at: "", since: "" }} class="brand">
          <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
            <path d="M6 6h5a3 3 0 0 1 3 3v6a3 3 0 0 0 3 3h1M6 18h3a5 5 0 0 0 5-5" />
            <circle cx="5" cy="6" r="2.4" />
            <circle cx="5" cy="18" r="2.4" />
            <circle cx="19.5" cy="18" r="2.4" />
          </svg>
          <span>Lineage Lab</span>
        </Link>
        <nav aria-label="Views">
          {TABS.map(([name, title]) => (
            <Link key={name} to={{ view: name }} current={name === view}>
              {title}
            </Link>
          ))}
        </nav>
        <SearchBox />
        <Live />
        <Darkness />
      </header>
      <main id="main" tabIndex={view === "lab" ? 0 : -1}>
        <Content view={view} />
      </main>
    </>
  );
}

function Content({ view }: { readonly view: View }) {
  if (view === "lab") return <LabView />;
  if (status.value === "failed" && problem.value) return <Failed />;
  if (status.value === "loading") return <p class="loading">Reading the graph …</p>;
  if (graph.value.nodes.length === 0 && route.value.at === "") return <Empty />;
  switch (view) {
    case "columns":
      return <ColumnsView />;
    case "impact":
      return <ImpactView />;
    case "changes":
      return <ChangesView />;
    default:
      return <GraphView />;
  }
}

function Empty() {
  return (
    <Notice title="No lineage yet">
      <p>
        The service is up and no event has arrived. Start the pipeline with <code>make up</code> (or{" "}
        <code>bin/lab up</code>), or send an OpenLineage event of your own:
      </p>
      <pre tabIndex={0}>
        curl -H 'Content-Type: application/json' --data @event.json {location.origin}/api/v1/lineage
      </pre>
      <p>This page shows it the moment it arrives.</p>
    </Notice>
  );
}

function Failed() {
  const { message, status: code } = problem.value!;
  return (
    <Notice title={code === 410 ? "That moment is no longer known" : "The graph cannot be read"}>
      <p class="error">{message}</p>
      <p>
        {code === 0
          ? "Is the service running? Look with `bin/lab status` and `bin/lab logs lineage`; this page tries again by itself."
          : code === 410
            ? "Retention has compacted the events before it."
            : "The service's log says more: `bin/lab logs lineage`."}
      </p>
      <p>
        <button type="button" onClick={() => void load()}>
          Try again
        </button>{" "}
        {(route.value.at !== "" || route.value.since !== "") && (
          <button type="button" onClick={() => go({ at: "", since: "" })}>
            To the present
          </button>
        )}
      </p>
    </Notice>
  );
}

const LINES = { live: "live", connecting: "connecting", down: "not connected" } as const;

function Live() {
  const past = asOf.value !== "";
  const text = past ? "the past" : LINES[connection.value];
  return (
    <span class={`live line-${past ? "past" : connection.value}`} role="status">
      {text}
    </span>
  );
}

function Darkness() {
  return (
    <label class="darkness">
      <span class="hidden">Colours</span>
      <select
        value={darkness.value}
        onChange={(event) => (darkness.value = CHOICES.find((one) => one === event.currentTarget.value) ?? "auto")}
      >
        {CHOICES.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    </label>
  );
}
