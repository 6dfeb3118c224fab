// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/** Where the latest run of a connector stands. */
public enum Phase {
  /** There is none, or it has ended. */
  NONE,
  OPEN,
  PAUSED,
  /** It has failed, and the failure still shows: it must not be taken for another one. */
  FAILED;

  /** Whether the run still goes on. */
  public boolean isOpen() {
    return this == OPEN || this == PAUSED;
  }
}
