// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/** State of a connector and all its tasks together. */
public enum AggregateState {
  /** The connector does not exist. */
  ABSENT,
  /** No task runs and none has failed: tasks are being assigned, or there are none yet. */
  INACTIVE,
  /** At least one task runs, whatever the state of the others. */
  RUNNING,
  PAUSED,
  STOPPED,
  /** The connector or a task has failed, and no task runs or is about to. */
  FAILED
}
