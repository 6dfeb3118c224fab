// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import {
  type Alert,
  ALERT_KINDS,
  alertKey,
  alerts,
  alertsByKind,
  type ContractReport,
  jobAlerts,
  type LabResponse,
  MAX_AFFECTED,
  schemaAlerts,
  type SchemaBreaksResponse,
  type StatsResponse,
} from "../model/alerts";
import { causeSince } from "../model/cause";
import { displayText } from "../model/names";
import { acknowledge, acknowledged, muted, toggleMuted } from "../state/bookmarks";
import { currentState, focusOn, graph, inactive, nodeIndexById, provisionalStates, status } from "../state/store";
import { Link } from "./components";
import { formatAge } from "./format";
import type { Resource } from "./useResource";

/** Alerts of one kind that are listed without being expanded. */
const MAX_LISTED = 5;

/** Current problems, grouped by kind. Acknowledged and muted ones are counted below. */
export function AlertList(props: {
  readonly lab: Resource<LabResponse>;
  readonly stats: Resource<StatsResponse>;
  /** Status 404 if the lab has no contract. */
  readonly contract: Resource<ContractReport>;
  readonly schemas: Resource<SchemaBreaksResponse>;
}) {
  const { lab, stats, contract } = props;
  const jobs = useMemo(() => jobAlerts(graph.value, inactive.value, currentState), [graph.value, provisionalStates.value]);
  const schemas = useMemo(
    () => schemaAlerts(graph.value, inactive.value, currentState, props.schemas.value),
    [graph.value, provisionalStates.value, props.schemas.value],
  );
  const all = alerts({ nodes: [...jobs, ...schemas], lab: lab.value, stats: stats.value, contract: contract.value });
  const shown = all.filter((alert) => !muted.value.has(alert.subject) && !acknowledged.value.has(alertKey(alert)));
  const mutedSubjects = [...muted.value];
  // Without the graph there would be no alerts of jobs, which is not the same as none.
  if (status.value === "loading") return <p class="faint">Loading graph …</p>;
  const required = [lab, stats, props.schemas, ...(contract.status === 404 ? [] : [contract])];
  const missing = required.filter(({ value }) => value === null);
  const error = missing.find((resource) => resource.error !== null)?.error ?? null;
  return (
    <>
      {error !== null && <p class="error">Not all alerts are known: {displayText(error)}</p>}
      {shown.length === 0 && missing.length > 0 ? (
        error === null && <p class="faint">Loading …</p>
      ) : shown.length === 0 ? (
        <p class="ok">
          {all.length === 0
            ? "No alerts: no failed or stale jobs, all services respond, all events are in the graph."
            : "No new alerts."}
        </p>
      ) : (
        alertsByKind(shown).map(([kind, found]) => (
          <section key={kind} class="alerts" aria-label={ALERT_KINDS[kind]}>
            <h3>
              {ALERT_KINDS[kind]} ({found.length}){" "}
              <button type="button" onClick={() => acknowledge(found.map(alertKey))}>
                Acknowledge{found.length > 1 ? " all" : ""}
              </button>
            </h3>
            <AlertItems found={found.slice(0, MAX_LISTED)} />
            {found.length > MAX_LISTED && (
              <details>
                <summary>{found.length - MAX_LISTED} more</summary>
                <AlertItems found={found.slice(MAX_LISTED)} />
              </details>
            )}
          </section>
        ))
      )}
      {all.length > shown.length && <p class="faint">{all.length - shown.length} acknowledged or muted.</p>}
      {mutedSubjects.length > 0 && (
        <details>
          <summary class="faint">Muted ({mutedSubjects.length})</summary>
          <ul class="plain">
            {mutedSubjects.map((subject) => (
              <li key={subject}>
                <bdi>{subjectName(subject)}</bdi>{" "}
                <button type="button" onClick={() => toggleMuted(subject)}>
                  Unmute
                </button>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function subjectName(subject: string): string {
  const at = nodeIndexById.value.get(subject);
  return displayText(at === undefined ? subject : graph.value.nodes[at].name);
}

function AlertItems({ found }: { readonly found: readonly Alert[] }) {
  return (
    <ul class="plain alerts">
      {found.map((alert) => (
        <li key={alertKey(alert)} class={`alert-${alert.level}`}>
          {alert.node ? <Link to={focusOn(alert.node)}>{alert.text}</Link> : alert.text}
          <small>
            {alert.since && ` · ${formatAge(alert.since, Date.now())}`}
            {alert.affected > 0 && ` · ${alert.affected}${alert.affected === MAX_AFFECTED ? "+" : ""} downstream`}
          </small>{" "}
          {alert.node && (
            <Link
              class="button"
              to={{ view: "cause", node: alert.node, field: "", at: "", from: causeSince(alert.since, Date.now()) }}
            >
              Cause
            </Link>
          )}{" "}
          <button type="button" onClick={() => toggleMuted(alert.subject)} aria-label={`Mute ${alert.text}`}>
            Mute
          </button>
        </li>
      ))}
    </ul>
  );
}
