// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/** OpenLineage's run states. */
public enum EventType {
  START,
  RUNNING,
  COMPLETE,
  ABORT,
  FAIL,
  OTHER;

  /** Whether a run has no more than this. */
  public boolean isTerminal() {
    return this == COMPLETE || this == ABORT || this == FAIL;
  }
}
