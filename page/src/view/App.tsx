// SPDX-License-Identifier: Apache-2.0
import { useEffect } from "preact/hooks";
import { TOO_LARGE } from "../api";
import { asOf, navigate, graph, connection, loadGraph, loadError, route, status } from "../state/store";
import type { View } from "../state/route";
import { THEME_CHOICES, themeChoice } from "../state/theme";
import { CauseView } from "./CauseView";
import { ChangesView } from "./ChangesView";
import { ColumnsView } from "./ColumnsView";
import { GraphView } from "./GraphView";
import { ImpactView } from "./ImpactView";
import { KeyHelp } from "./KeyHelp";
import { LabView } from "./LabView";
import { LoginForm } from "./LoginForm";
import { Link, Notice } from "./components";
import { RunsView } from "./RunsView";
import { SearchBox } from "./SearchBox";

const TABS: readonly [View, string][] = [
  ["graph", "Graph"],
  ["columns", "Columns"],
  ["impact", "Impact"],
  ["cause", "Cause"],
  ["runs", "Runs"],
  ["changes", "Changes"],
  ["lab", "Lab"],
];

export function App() {
  const { view, node } = route.value;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = (event.target as HTMLElement).closest("input, textarea, select");
      const inDialog = document.querySelector("dialog[open]") !== null;
      if (event.key === "Escape" && !typing && !inDialog && route.value.view === "graph") navigate({ node: "", only: false, hops: 0 });
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
        Skip to content
      </a>
      <header class="top">
        <Link to={{ view: "graph", node: "", field: "", only: false, hops: 0, at: "", since: "" }} class="brand">
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
        <ConnectionStatus />
        <ThemeSelect />
        <KeyHelp />
      </header>
      <main id="main" tabIndex={view === "lab" ? 0 : -1}>
        <Content view={view} />
      </main>
    </>
  );
}

function Content({ view }: { readonly view: View }) {
  if (status.value === "failed" && isLoginRequired(loadError.value?.status)) return <LoginForm />;
  if (view === "lab") return <LabView />;
  if (status.value === "failed" && loadError.value) return <LoadFailed />;
  if (status.value === "loading") return <p class="loading">Loading graph …</p>;
  if (graph.value.nodes.length === 0 && route.value.at === "") return <NoLineage />;
  switch (view) {
    case "columns":
      return <ColumnsView />;
    case "impact":
      return <ImpactView />;
    case "cause":
      return <CauseView />;
    case "runs":
      return <RunsView />;
    case "changes":
      return <ChangesView />;
    default:
      return <GraphView />;
  }
}

/** A key is missing, unknown, or may not read. */
function isLoginRequired(code: number | undefined): boolean {
  return code === 401 || code === 403;
}

function NoLineage() {
  return (
    <Notice title="No lineage yet">
      <p>
        The lineage service is running but has received no events. Start the pipeline with <code>make up</code> (or{" "}
        <code>bin/lab up</code>), or send an OpenLineage event:
      </p>
      <pre tabIndex={0}>
        curl -H 'Content-Type: application/json' --data @event.json {location.origin}/api/v1/lineage
      </pre>
      <p>This page updates when the first event arrives.</p>
    </Notice>
  );
}

/** Titles by the status of the request. */
const FAILURES: Readonly<Record<number, string>> = {
  410: "The graph at this time is no longer available",
  [TOO_LARGE]: "Select a job or dataset first",
};

function LoadFailed() {
  const { message, status: code } = loadError.value!;
  return (
    <Notice title={FAILURES[code] ?? "Cannot load the graph"}>
      <p class={code === TOO_LARGE ? "" : "error"}>{message}</p>
      <p>
        {code === 0
          ? "Is the service running? Check `bin/lab status` and `bin/lab logs lineage`. This page retries automatically."
          : code === 410
            ? "Retention has compacted the earlier events."
            : code !== TOO_LARGE && "See the log of the service: `bin/lab logs lineage`."}
      </p>
      <p>
        {code !== TOO_LARGE && (
          <button type="button" onClick={() => void loadGraph()}>
            Retry
          </button>
        )}{" "}
        {(route.value.at !== "" || route.value.since !== "") && (
          <button type="button" onClick={() => navigate({ at: "", since: "" })}>
            Back to now
          </button>
        )}
      </p>
    </Notice>
  );
}

const CONNECTION_LABELS = { live: "live", connecting: "connecting", down: "disconnected" } as const;

function ConnectionStatus() {
  const past = asOf.value !== "";
  const text = past ? "past" : CONNECTION_LABELS[connection.value];
  return (
    <span class={`connection ${past ? "past" : connection.value}`} role="status">
      {text}
    </span>
  );
}

function ThemeSelect() {
  return (
    <label class="theme-select">
      <span class="hidden">Theme</span>
      <select
        value={themeChoice.value}
        onChange={({ currentTarget }) =>
          (themeChoice.value = THEME_CHOICES.find((choice) => choice === currentTarget.value) ?? "auto")
        }
      >
        {THEME_CHOICES.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    </label>
  );
}
