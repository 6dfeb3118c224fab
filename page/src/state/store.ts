// SPDX-License-Identifier: Apache-2.0
import { batch, computed, effect, signal } from "@preact/signals";
import type { DiffStatuses } from "../model/diff";
import { EMPTY_GRAPH, type Graph, type GraphNode, sameShape, type State } from "../model/graph";
import { suspectDatasets } from "../model/suspects";
import { GraphWorkerClient } from "../worker/client";
import type { LoadedGraph } from "../worker/graphWorker";
import { RequestError, setRequestKey, TOO_LARGE } from "../api";
import { ChangeStreamClient } from "../worker/changeStreamClient";
import { storedKey, storeKey } from "./storedKey";
import { type LiveEvent, provisionalState, unconfirmedStates } from "./liveEvents";
import { rememberNode } from "./bookmarks";
import { FOCUS_HOPS, formatRoute, parseRoute, type Route } from "./route";
import { Throttle } from "./throttle";

export const graphWorker = new GraphWorkerClient();

const changeStream = new ChangeStreamClient();

/** API key of this tab, kept until the tab is closed; empty if the service requires none. */
export const apiKey = signal("");

/** Admin key for edits, kept until the page is loaded again: other than the key for reading, it is stored nowhere. */
export const adminKey = signal("");

/** Use a key for all requests. */
export function logIn(key: string): void {
  apiKey.value = key;
  storeKey(key);
  setRequestKey(key);
  graphWorker.setKey(key);
  changeStream.setKey(key);
  void loadGraph();
}

/** Use the key of this tab from before it was loaded again. */
export function restoreLogin(): void {
  const key = storedKey();
  if (key !== "") logIn(key);
}

export const route = signal<Route>(parseRoute(location.search));

/** The shown graph, with the nodes in the order of the API. */
export const graph = signal<Graph>(EMPTY_GRAPH);

/** 1 for each node of `graph` that is over. */
export const inactive = signal<Uint8Array>(new Uint8Array(0));

/** Datasets of `graph` that are suspect -> the dataset whose checks failed. */
export const suspects = computed(() => suspectDatasets(graph.value, inactive.value));

/** Diff status of the nodes and edges of `graph`; null without a comparison. */
export const diffStatuses = signal<DiffStatuses | null>(null);
export const status = signal<"loading" | "ready" | "failed">("loading");
export const loadError = signal<{ readonly message: string; readonly status: number } | null>(null);

/** The shown graph of another time, or its comparison, is limited to what is around a node. */
export const isPart = signal(false);

/** The node that was last selected, around which it is. */
let partNode = route.value.node;

/** State of the event stream. */
export const connection = signal<"connecting" | "live" | "down">("connecting");

/** Job states derived from events since the graph was loaded, by node id. */
export const provisionalStates = signal<ReadonlyMap<string, State>>(new Map());

/** Arrival time (ms) of the last event of each job, by node id. */
export const lastEventTimes = signal<ReadonlyMap<string, number>>(new Map());

/** Index of each node of `graph` by id. Built with the slices of nodes: 50,000 at once would block the page. */
export const nodeIndexById = signal<ReadonlyMap<string, number>>(new Map());

export function currentState(node: GraphNode): State {
  return provisionalStates.value.get(node.id) ?? node.state;
}

/** Change the route. Adds an entry to the browser history unless `replace`. */
export function navigate(changes: Partial<Route>, replace = false): void {
  const next = { ...route.value, ...changes };
  const url = `${location.pathname}${formatRoute(next)}`;
  if (replace) history.replaceState(null, "", url);
  else if (formatRoute(next) !== formatRoute(route.value)) history.pushState(null, "", url);
  route.value = next;
  rememberNode(next.node);
}

/** URL of a route, for links. */
export function href(changes: Partial<Route>): string {
  return `${location.pathname}${formatRoute({ ...route.value, ...changes })}`;
}

/** Route to a node: with its neighborhood only, if the graph exceeds the card budget. */
export function focusOn(node: string): Partial<Route> {
  const hops = graph.value.nodes.length > route.value.budget ? FOCUS_HOPS : 0;
  return { view: "graph", node, field: "", only: false, hops };
}

/** Time of the shown graph; empty for now. The list of changes loads its own graphs. */
export const asOf = computed(() => (["graph", "columns"].includes(route.value.view) ? route.value.at : ""));

/** Earlier time that the graph is compared with; empty for none. */
export const comparedSince = computed(() => (route.value.view === "graph" ? route.value.since : ""));

/** Load the graph for the times of the route. */
export async function loadGraph(): Promise<void> {
  const requestedAt = Date.now();
  try {
    const found = await fetchGraph(asOf.value || null, comparedSince.value || null, partNode);
    if (found === null) return;
    batch(() => {
      // Keep the arrays if the shape is equal, so that memoized values derived from them stay valid.
      const { from, to } = sameShape(found, graph.value) ? graph.value : found;
      graph.value = { nodes: found.nodes, from, to };
      inactive.value = found.inactive;
      nodeIndexById.value = found.indexById;
      diffStatuses.value = found.statuses;
      isPart.value = found.isPart;
      provisionalStates.value = asOf.value === "" ? unconfirmedStates(provisionalStates.value, lastEventTimes.value, requestedAt) : new Map();
      status.value = "ready";
      loadError.value = null;
    });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    batch(() => {
      status.value = "failed";
      isPart.value = error.status === TOO_LARGE;
      loadError.value = { message: error.message, status: error.status };
    });
  }
}

const NODES_PER_REQUEST = 1_000;

/** Fetch a graph from the worker in slices; null if another graph was requested meanwhile. */
async function fetchGraph(
  at: string | null,
  since: string | null,
  node: string,
): Promise<(Graph & Pick<LoadedGraph, "inactive" | "statuses" | "isPart"> & { readonly indexById: Map<string, number> }) | null> {
  const loaded = await graphWorker.call("load", at, since, node);
  if (loaded === null) return null;
  const { generation, count, from, to, inactive, statuses, isPart } = loaded;
  const nodes: GraphNode[] = [];
  const indexById = new Map<string, number>();
  const shared = shareTexts();
  while (nodes.length < count) {
    const slice = await graphWorker.call("nodes", generation, nodes.length, NODES_PER_REQUEST);
    if (slice === null) return null;
    for (const node of slice) indexById.set(node.id, nodes.push(shared(node)) - 1);
  }
  return { nodes, from, to, inactive, statuses, isPart, indexById };
}

/**
 * A function that lets equal texts of all nodes be one: a message has a copy for each node, and comparing copies makes
 * grouping 50,000 nodes slow.
 */
function shareTexts(): (node: GraphNode) => GraphNode {
  const known = new Map<string, string>();
  const share = <Text extends string>(text: Text): Text => {
    const found = known.get(text);
    if (found === undefined) known.set(text, text);
    return (found as Text | undefined) ?? text;
  };
  return (node) => {
    const { namespace, kind, engine, state } = node;
    return Object.assign(node, { namespace: share(namespace), kind: share(kind), engine: share(engine), state: share(state) });
  };
}

/** Subscribe to the event stream, to route changes and to the browser history. */
export function startLiveUpdates(): void {
  addEventListener("popstate", () => (route.value = parseRoute(location.search)));
  const throttle = new Throttle(
    async () => {
      if (asOf.value === "" || status.value !== "ready") await loadGraph();
    },
    (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    () => performance.now(),
  );
  const times = computed(() => `${comparedSince.value}..${asOf.value}`);
  let loadedTimes = times.value;
  effect(() => {
    const requested = times.value;
    const node = route.value.node || partNode;
    const moved = isPart.peek() && node !== partNode && requested !== "..";
    partNode = node;
    if (requested !== loadedTimes || moved) void loadGraph();
    loadedTimes = requested;
  });
  changeStream.start(({ state, message, key }) => {
    if (state) connection.value = state;
    if (key !== undefined && apiKey.value === "") logIn(key);
    if (message?.event === "event") queueEvent(JSON.parse(message.data) as LiveEvent);
    // Also for `resync`, the first message of every connection: events before it may have been missed.
    if (message || state === "down") void throttle.trigger();
  });
  // No event reports that a job went stale.
  setInterval(() => void throttle.trigger(), STALE_CHECK_MS);
}

const STALE_CHECK_MS = 20_000;

/** Events to be applied in one batch. */
let pendingEvents: { readonly event: LiveEvent; readonly arrived: number }[] = [];

function queueEvent(event: LiveEvent): void {
  if (pendingEvents.length === 0) setTimeout(applyPendingEvents, 50);
  pendingEvents.push({ event, arrived: Date.now() });
}

function applyPendingEvents(): void {
  const events = pendingEvents;
  pendingEvents = [];
  batch(() => {
    const states = new Map(provisionalStates.value);
    const times = new Map(lastEventTimes.value);
    for (const { event, arrived } of events) {
      const next = provisionalState(event);
      // Spark sends COMPLETE after FAIL. The run has failed.
      if (!next || (states.get(next.id) === "failed" && next.state === "completed")) continue;
      states.set(next.id, next.state);
      times.set(next.id, arrived);
    }
    lastEventTimes.value = times;
    if (asOf.value === "") provisionalStates.value = states;
  });
}
