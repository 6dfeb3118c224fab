// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/**
 * Persistent state of a connector's latest run, shared by all workers.
 *
 * @param generation identifies the run; 0 before the first one. It is the millisecond at which the
 *     run began, unless two began in the same one
 * @param datasets fingerprint of the datasets that the run reads and writes
 * @param config fingerprint of the configuration
 * @param lastEvent time of the run's last event, in milliseconds since the epoch
 */
public record RunState(
    long generation, RunPhase phase, String datasets, String config, long lastEvent) {
  /** State before a connector's first run. */
  public static final RunState INITIAL = new RunState(0, RunPhase.NONE, "", "", 0);

  /** Copy in another phase. */
  public RunState withPhase(final RunPhase other) {
    return new RunState(generation, other, datasets, config, lastEvent);
  }

  RunState withLastEvent(final long time) {
    return new RunState(generation, phase, datasets, config, time);
  }

  RunState withFingerprints(final String newDatasets, final String newConfig) {
    return new RunState(generation, phase, newDatasets, newConfig, lastEvent);
  }

  /**
   * Return whether this state is not older than another one of the same connector: generations
   * grow, and a run that has ended never continues.
   */
  public boolean isAtLeast(final RunState other) {
    return generation > other.generation
        || generation == other.generation && (!phase.isOpen() || other.phase.isOpen());
  }

  /** Return whether only the time of the last event differs from that of another state. */
  public boolean differsInTimeOnly(final RunState other) {
    return withLastEvent(other.lastEvent).equals(other);
  }

  /** The next run, begun at {@code now}. */
  RunState nextGeneration(final long now) {
    return new RunState(Math.max(generation + 1, now), RunPhase.OPEN, datasets, config, lastEvent);
  }
}
