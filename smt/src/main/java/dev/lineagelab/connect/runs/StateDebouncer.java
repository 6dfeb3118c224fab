// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/**
 * Accepts a change of state once it was observed in two consecutive polls. A paused connector that
 * is stopped shows as running in between, and during a rebalance a connector may be missing for a
 * moment. Failures are accepted at once, as they do not pass by themselves; so is any state but
 * ABSENT that follows INACTIVE.
 */
public final class StateDebouncer {
  private AggregateState accepted = AggregateState.INACTIVE;
  private AggregateState last;

  /** Add an observed state; return the accepted one. */
  public AggregateState update(final AggregateState observed) {
    if (last == null || observed == last || isAcceptedAtOnce(observed)) {
      accepted = observed;
    }
    last = observed;
    return accepted;
  }

  private boolean isAcceptedAtOnce(final AggregateState observed) {
    return observed == AggregateState.FAILED
        || accepted == AggregateState.INACTIVE && observed != AggregateState.ABSENT;
  }

  /** The state accepted last. */
  public AggregateState accepted() {
    return accepted;
  }
}
