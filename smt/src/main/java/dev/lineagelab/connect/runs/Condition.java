// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/** What the states of a connector and of all its tasks come to. */
public enum Condition {
  /** There is no such connector. */
  ABSENT,
  /** Nothing runs now, and nothing has failed: it is being assigned, or has no tasks yet. */
  INACTIVE,
  /** A task runs, whatever the others do. */
  RUNNING,
  PAUSED,
  STOPPED,
  /** The connector or a task has failed, and no task is left that runs. */
  FAILED
}
