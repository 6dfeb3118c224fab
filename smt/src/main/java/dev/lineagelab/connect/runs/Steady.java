// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/**
 * Believes a change of condition when it was seen twice. A paused connector that is stopped shows
 * as running in between, and during a rebalance a connector may be missing for a moment. Failures
 * are believed at once: they do not pass by themselves. So is whatever follows inactivity, which
 * tells nothing.
 */
public final class Steady {
  private Condition believed = Condition.INACTIVE;
  private Condition last;

  /** Takes what is seen now; returns what is believed. */
  public Condition see(final Condition seen) {
    if (last == null || seen == last || isCertain(seen)) {
      believed = seen;
    }
    last = seen;
    return believed;
  }

  private boolean isCertain(final Condition seen) {
    return seen == Condition.FAILED || believed == Condition.INACTIVE && seen != Condition.ABSENT;
  }

  /** What was believed last. */
  public Condition believed() {
    return believed;
  }
}
