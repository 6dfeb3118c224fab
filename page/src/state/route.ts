// SPDX-License-Identifier: Apache-2.0

export const VIEWS = ["graph", "columns", "impact", "changes", "lab"] as const;
export type View = (typeof VIEWS)[number];

/** Everything that a link says: what is looked at, and as of when. */
export interface Route {
  readonly view: View;
  /** Id of the node in focus, empty for none. */
  readonly node: string;
  readonly field: string;
  /** Show nothing but what feeds the node and what it feeds. */
  readonly only: boolean;
  /** In the impact view: what breaks (`down`), or what fed it (`up`). */
  readonly direction: "down" | "up";
  /** The moment that is shown (RFC 3339), empty for now; in the difference, the later one. */
  readonly at: string;
  /** The earlier moment of a difference. */
  readonly since: string;
  readonly open: readonly string[];
  readonly closed: readonly string[];
  readonly budget: number;
}

export const DEFAULT_BUDGET = 300;

export const HOME: Route = {
  view: "graph",
  node: "",
  field: "",
  only: false,
  direction: "down",
  at: "",
  since: "",
  open: [],
  closed: [],
  budget: DEFAULT_BUDGET,
};

/** The route of a query string. What makes no sense is left at its default: links are typed by people. */
export function parseRoute(query: string): Route {
  const values = new URLSearchParams(query);
  const view = VIEWS.find((known) => known === values.get("view"));
  const budget = Number(values.get("budget"));
  const node = values.get("node") ?? "";
  return {
    view: view ?? HOME.view,
    node: /^(job|dataset):/.test(node) ? node : "",
    field: values.get("field") ?? "",
    only: values.get("only") === "1",
    direction: values.get("direction") === "up" ? "up" : "down",
    at: moment(values.get("at")),
    since: moment(values.get("since")),
    open: values.getAll("open"),
    closed: values.getAll("closed"),
    budget: Number.isInteger(budget) && budget >= 10 && budget <= 5000 ? budget : DEFAULT_BUDGET,
  };
}

/** The query string of a route: only what differs from the home page, in a fixed order. */
export function formatRoute(route: Route): string {
  const values = new URLSearchParams();
  for (const key of ["view", "node", "field", "direction", "at", "since"] as const) {
    if (route[key] !== HOME[key]) values.set(key, route[key]);
  }
  if (route.only) values.set("only", "1");
  for (const key of ["open", "closed"] as const) for (const id of route[key]) values.append(key, id);
  if (route.budget !== HOME.budget) values.set("budget", String(route.budget));
  const text = values.toString();
  return text === "" ? "" : `?${text}`;
}

function moment(text: string | null): string {
  return text !== null && text !== "" && !Number.isNaN(Date.parse(text)) ? text : "";
}
