// SPDX-License-Identifier: Apache-2.0
import type { QualifiedName } from "../model/apiTypes";
import type { State } from "../model/graph";
import { nodeId } from "../model/ids";

/** An event of the stream `/api/v1/changes`. */
export interface LiveEvent {
  readonly kind: string;
  readonly eventTime: string;
  readonly eventType?: string;
  readonly job?: QualifiedName;
  readonly dataset?: QualifiedName;
  readonly run?: string;
}

const STATE_AFTER: ReadonlyMap<string, State> = new Map([
  ["START", "running"],
  ["RUNNING", "running"],
  ["COMPLETE", "completed"],
  ["ABORT", "aborted"],
  ["FAIL", "failed"],
]);

/**
 * The most likely state of a job after an event. It is shown until the graph is loaded again: only the service takes
 * late and earlier events into account.
 */
export function provisionalState(event: LiveEvent): { readonly id: string; readonly state: State } | undefined {
  const state = STATE_AFTER.get(event.eventType ?? "");
  return state && event.job ? { id: nodeId("job", event.job), state } : undefined;
}

/**
 * The provisional states that a loaded graph does not confirm yet: those of jobs with an event since the request.
 *
 * @param requestedAt time (ms) at which the graph was requested.
 */
export function unconfirmedStates(
  states: ReadonlyMap<string, State>,
  lastEventTimes: ReadonlyMap<string, number>,
  requestedAt: number,
): Map<string, State> {
  return new Map([...states].filter(([id]) => (lastEventTimes.get(id) ?? 0) >= requestedAt));
}
