// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/** Phase of a connector's latest run. */
public enum RunPhase {
  /** There is no run, or it has ended. */
  NONE,
  OPEN,
  PAUSED,
  /** The run has failed and the failure still shows, so that it does not count as another one. */
  FAILED;

  /** Return whether the run has not ended yet. */
  public boolean isOpen() {
    return this == OPEN || this == PAUSED;
  }
}
