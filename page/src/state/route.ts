// SPDX-License-Identifier: Apache-2.0
import { GROUPINGS, type Grouping } from "../model/groups";

export const VIEWS = ["graph", "columns", "impact", "cause", "runs", "changes", "lab"] as const;
export type View = (typeof VIEWS)[number];

/** State of the page that a link carries: view, selection and times. Property names are those of the query string. */
export interface Route {
  readonly view: View;
  /** Id of the selected node; empty for none. */
  readonly node: string;
  readonly field: string;
  /** Show only the lineage of the selected node. */
  readonly only: boolean;
  /** Show only nodes within this number of edges of the selected node; 0 for no limit. */
  readonly hops: number;
  /** Show jobs and datasets that are over, too. */
  readonly inactive: boolean;
  /** Groups of the first level in a large graph. */
  readonly by: Grouping;
  /** Direction of the impact view: impact (`down`) or origin (`up`). */
  readonly direction: "down" | "up";
  /** Time of the shown graph (RFC 3339), the later one of a comparison; empty for now. */
  readonly at: string;
  /** Earlier time of a comparison (RFC 3339); empty for none. */
  readonly since: string;
  /** Time from which a cause is searched (RFC 3339); empty for a day ago. Not `since`, which makes the graph a comparison. */
  readonly from: string;
  /** Ids of the groups that the user expanded. */
  readonly open: readonly string[];
  /** Ids of the groups that the user collapsed. */
  readonly closed: readonly string[];
  /** Maximum number of cards before nodes are grouped. */
  readonly budget: number;
}

/** Number of cards that stay readable on one screen. */
export const DEFAULT_BUDGET = 80;

/** Edges around a node that a search result, an alert or a recent node opens with in a large graph. */
export const FOCUS_HOPS = 2;

const MAX_HOPS = 9;

export const HOME: Route = {
  view: "graph",
  node: "",
  field: "",
  only: false,
  hops: 0,
  inactive: false,
  by: "system",
  direction: "down",
  at: "",
  since: "",
  from: "",
  open: [],
  closed: [],
  budget: DEFAULT_BUDGET,
};

/** Parse a query string. Invalid values become their defaults. */
export function parseRoute(query: string): Route {
  const values = new URLSearchParams(query);
  const view = VIEWS.find((known) => known === values.get("view"));
  const budget = Number(values.get("budget"));
  const node = values.get("node") ?? "";
  const hops = Number(values.get("hops"));
  return {
    view: view ?? HOME.view,
    node: /^(job|dataset):/.test(node) ? node : "",
    field: values.get("field") ?? "",
    only: values.get("only") === "1",
    hops: Number.isInteger(hops) && hops > 0 && hops <= MAX_HOPS ? hops : 0,
    inactive: values.get("inactive") === "1",
    by: GROUPINGS.find((known) => known === values.get("by")) ?? HOME.by,
    direction: values.get("direction") === "up" ? "up" : "down",
    at: timestamp(values.get("at")),
    since: timestamp(values.get("since")),
    from: timestamp(values.get("from")),
    open: values.getAll("open"),
    closed: values.getAll("closed"),
    budget: Number.isInteger(budget) && budget >= 10 && budget <= 5000 ? budget : DEFAULT_BUDGET,
  };
}

/** The query string of a route: only values other than the defaults, in a fixed order. */
export function formatRoute(route: Route): string {
  const values = new URLSearchParams();
  for (const key of ["view", "node", "field", "direction", "at", "since", "from", "by"] as const) {
    if (route[key] !== HOME[key]) values.set(key, route[key]);
  }
  for (const key of ["only", "inactive"] as const) if (route[key]) values.set(key, "1");
  if (route.hops !== HOME.hops) values.set("hops", String(route.hops));
  for (const key of ["open", "closed"] as const) for (const id of route[key]) values.append(key, id);
  if (route.budget !== HOME.budget) values.set("budget", String(route.budget));
  const text = values.toString();
  return text === "" ? "" : `?${text}`;
}

function timestamp(text: string | null): string {
  return text !== null && text !== "" && !Number.isNaN(Date.parse(text)) ? text : "";
}
