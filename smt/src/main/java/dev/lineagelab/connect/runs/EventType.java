// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/** Run states of OpenLineage. */
public enum EventType {
  START,
  RUNNING,
  COMPLETE,
  ABORT,
  FAIL,
  OTHER;

  /** Return whether this event ends the run. */
  public boolean isTerminal() {
    return this == COMPLETE || this == ABORT || this == FAIL;
  }
}
