// SPDX-License-Identifier: Apache-2.0
import { batch, computed, signal } from "@preact/signals";
import { EMPTY_GRAPH, type Graph, type GraphNode, sameShape, type State } from "../model/graph";
import { EngineClient } from "../worker/client";
import { ReadError } from "../worker/errors";
import { type Change, presumedState, Throttle } from "./changes";
import { formatRoute, parseRoute, type Route } from "./route";
import { emptySeries, joined, type Series } from "./series";

export const engine = new EngineClient();

export const route = signal<Route>(parseRoute(location.search));

/** The graph that is shown, with the nodes in the order of its export. */
export const graph = signal<Graph>(EMPTY_GRAPH);
export const status = signal<"loading" | "ready" | "failed">("loading");
export const problem = signal<{ readonly message: string; readonly status: number } | null>(null);

/** Whether the service tells of changes: `live`, or the line is down. */
export const line = signal<"connecting" | "live" | "down">("connecting");

/** States that events told of since the graph was read. */
export const presumed = signal<ReadonlyMap<string, State>>(new Map());

/** Jobs whose events arrived lately, by the time (ms) of the last: they are shown to be alive. */
export const heard = signal<ReadonlyMap<string, number>>(new Map());

export const eventsPerSecond = signal<Series>(emptySeries(now()));
export const lagSeconds = signal<Series>(emptySeries(now()));

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

/** Read the graph of the moment that the route names. */
export async function load(): Promise<void> {
  const at = asOf.value;
  try {
    const found = await read(at === "" ? null : at);
    if (found === null) return;
    batch(() => {
      // An equal shape keeps its arrays, so that what was derived from them stays.
      const { from, to } = sameShape(found, graph.value) ? graph.value : found;
      graph.value = { nodes: found.nodes, from, to };
      presumed.value = new Map();
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
async function read(at: string | null): Promise<Graph | null> {
  const { generation, count, from, to } = await engine.ask("load", at);
  const nodes: GraphNode[] = [];
  while (nodes.length < count) {
    const slice = await engine.ask("nodes", generation, nodes.length, SLICE);
    if (slice === null) return null;
    nodes.push(...slice);
  }
  return { nodes, from, to };
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
  let shownMoment = asOf.value;
  asOf.subscribe((moment) => {
    if (moment !== shownMoment) void load();
    shownMoment = moment;
  });
  const source = new EventSource("/api/v1/changes");
  source.onopen = () => (line.value = "live");
  source.onerror = () => {
    line.value = "down";
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
  setInterval(tick, 1000);
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
      const second = Math.floor(arrived / 1000);
      const lag = Math.max(0, arrived - Date.parse(change.eventTime)) / 1000;
      eventsPerSecond.value = joined(eventsPerSecond.value, second, 1, (a, b) => a + b);
      if (Number.isFinite(lag)) lagSeconds.value = joined(lagSeconds.value, second, lag, Math.max);
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

function tick(): void {
  batch(() => {
    eventsPerSecond.value = joined(eventsPerSecond.value, now(), 0, (a, b) => a + b);
    lagSeconds.value = joined(lagSeconds.value, now(), 0, Math.max);
  });
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
