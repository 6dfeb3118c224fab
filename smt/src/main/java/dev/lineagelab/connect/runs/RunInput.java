// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/**
 * Input of {@link RunStateMachine}: one connector at one poll. Flags are false unless set.
 *
 * @param datasets fingerprint of the datasets that the connector reads and writes
 * @param config fingerprint of its configuration
 * @param now in milliseconds since the epoch
 * @param isRecreated whether the connector was deleted since the last poll, whatever its state now
 * @param isConfigChanged whether datasets that differ from the run's are due to a changed
 *     configuration
 * @param change how lineage or failed tasks differ from those of the last event; null if they do
 *     not
 * @param isHeartbeatDue whether the interval since the last event has passed
 */
public record RunInput(
    AggregateState state,
    String datasets,
    String config,
    long now,
    boolean isRecreated,
    boolean isConfigChanged,
    String change,
    boolean isHeartbeatDue) {

  /** Input with no flag set. */
  public static RunInput of(
      final AggregateState state, final String datasets, final String config, final long now) {
    return new RunInput(state, datasets, config, now, false, false, null, false);
  }

  /** Copy with {@link #isRecreated} set to {@code value}. */
  public RunInput recreated(final boolean value) {
    return new RunInput(
        state, datasets, config, now, value, isConfigChanged, change, isHeartbeatDue);
  }

  /** Copy with {@link #isConfigChanged} set to {@code value}. */
  public RunInput configChanged(final boolean value) {
    return new RunInput(state, datasets, config, now, isRecreated, value, change, isHeartbeatDue);
  }

  /** Return whether lineage or failed tasks differ from those of the last event. */
  public boolean isChanged() {
    return change != null;
  }

  /** Copy with {@link #change} set to {@code value}. */
  public RunInput changed(final String value) {
    return new RunInput(
        state, datasets, config, now, isRecreated, isConfigChanged, value, isHeartbeatDue);
  }

  /** Copy with {@link #isHeartbeatDue} set to {@code value}. */
  public RunInput heartbeatDue(final boolean value) {
    return new RunInput(state, datasets, config, now, isRecreated, isConfigChanged, change, value);
  }
}
