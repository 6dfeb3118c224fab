// SPDX-License-Identifier: Apache-2.0
import { batch, computed, signal } from "@preact/signals";
import type { Marks } from "../model/diff";
import { EMPTY_GRAPH, type Graph, type GraphNode, sameShape, type State } from "../model/graph";
import { EngineClient } from "../worker/client";
import { ReadError } from "../worker/errors";
import { type Change, presumedState, stillPresumed, Throttle } from "./liveEvents";
import { formatRoute, parseRoute, type Route } from "./route";

export const engine = new EngineClient();

export const route = signal<Route>(parseRoute(location.search));

/** The graph that is shown, with the nodes in the order of its export. */
export const graph = signal<Graph>(EMPTY_GRAPH);

/** What became of the nodes and edges of `graph` since the moment that it is compared with; null without one. */
export const marks = signal<Marks | null>(null);
export const status = signal<"loading" | "ready" | "failed">("loading");
export const problem = signal<{ readonly message: string; readonly status: number } | null>(null);

/** Whether the service tells of changes: `live`, or the line is down. */
export const connection = signal<"connecting" | "live" | "down">("connecting");

/** States that events told of since the graph was read. */
export const presumed = signal<ReadonlyMap<string, State>>(new Map());

/** Jobs whose events arrived lately, by the time (ms) of the last: they are shown to be alive. */
export const heard = signal<ReadonlyMap<string, number>>(new Map());

export const nodeById = computed(() => new Map(graph.value.nodes.map((node, at) => [node.id, at])));

export function stateNow(node: GraphNode): State {
  return presumed.value.get(node.id) ?? node.state;
}

/** Go to another view; a new entry of the history unless `replace`. */
export function go(change: Partial<Route>, replace = false): void {
  const next = { ...route.value, ...change };
  const url = `${location.pathname}${formatRoute(next)}`;
  if (replace) history.replaceState(null, "", url);
  else if (formatRoute(next) !== formatRoute(route.value)) history.pushState(null, "", url);
  route.value = next;
}

/** The link of a view, for anchors that can be copied and opened elsewhere. */
export function href(change: Partial<Route>): string {
  return `${location.pathname}${formatRoute({ ...route.value, ...change })}`;
}

/** The moment of the graph that is shown, empty for the present: a list of changes has moments of its own. */
export const asOf = computed(() => (["graph", "columns"].includes(route.value.view) ? route.value.at : ""));

/** The earlier moment that the graph is compared with, empty for none. */
export const comparedWith = computed(() => (route.value.view === "graph" ? route.value.since : ""));

/** Read the graph of the moments that the route names. */
export async function load(): Promise<void> {
  const asked = Date.now();
  try {
    const found = await read(asOf.value || null, comparedWith.value || null);
    if (found === null) return;
    batch(() => {
      // An equal shape keeps its arrays, so that what was derived from them stays.
      const { from, to } = sameShape(found, graph.value) ? graph.value : found;
      graph.value = { nodes: found.nodes, from, to };
      marks.value = found.marks;
      presumed.value = asOf.value === "" ? stillPresumed(presumed.value, heard.value, asked) : new Map();
      status.value = "ready";
      problem.value = null;
    });
  } catch (error) {
    if (!(error instanceof ReadError)) throw error;
    batch(() => {
      status.value = "failed";
      problem.value = { message: error.message, status: error.status };
    });
  }
}

const SLICE = 1_000;

/** A graph, fetched from the worker slice by slice; null where another one was asked for meanwhile. */
async function read(
  at: string | null,
  since: string | null,
): Promise<(Graph & { readonly marks: Marks | null }) | null> {
  const loaded = await engine.ask("load", at, since);
  if (loaded === null) return null;
  const { generation, count, from, to, marks: found } = loaded;
  const nodes: GraphNode[] = [];
  while (nodes.length < count) {
    const slice = await engine.ask("nodes", generation, nodes.length, SLICE);
    if (slice === null) return null;
    nodes.push(...slice);
  }
  return { nodes, from, to, marks: found };
}

/** Listen to the service and to the browser's own buttons, for as long as the page lives. */
export function start(): void {
  addEventListener("popstate", () => (route.value = parseRoute(location.search)));
  const throttle = new Throttle(
    async () => {
      if (asOf.value === "" || status.value !== "ready") await load();
    },
    (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    () => performance.now(),
  );
  const moments = computed(() => `${comparedWith.value}..${asOf.value}`);
  let shownMoments = moments.value;
  moments.subscribe((wanted) => {
    if (wanted !== shownMoments) void load();
    shownMoments = wanted;
  });
  const source = new EventSource("/api/v1/changes");
  source.onopen = () => (connection.value = "live");
  source.onerror = () => {
    connection.value = "down";
    void throttle.tell();
  };
  // The first message of every line, also of the very first: what happened while there was none is unknown.
  source.addEventListener("resync", () => void throttle.tell());
  source.addEventListener("event", ({ data }: MessageEvent<string>) => {
    hear(JSON.parse(data) as Change);
    void throttle.tell();
  });
  // Silence has no event: a job goes stale because none arrives.
  setInterval(() => void throttle.tell(), STALE_CHECK);
}

const STALE_CHECK = 20_000;

/** Events that wait to be shown: a burst of thousands is shown as one. */
let untold: { readonly change: Change; readonly arrived: number }[] = [];

function hear(change: Change): void {
  if (untold.length === 0) setTimeout(tell, 50);
  untold.push({ change, arrived: Date.now() });
}

function tell(): void {
  const changes = untold;
  untold = [];
  batch(() => {
    const states = new Map(presumed.value);
    const times = new Map(heard.value);
    for (const { change, arrived } of changes) {
      const told = presumedState(change);
      // Spark says COMPLETE after FAIL: the failure stands.
      if (!told || (states.get(told.id) === "failed" && told.state === "completed")) continue;
      states.set(told.id, told.state);
      times.set(told.id, arrived);
    }
    heard.value = times;
    if (asOf.value === "") presumed.value = states;
  });
}
