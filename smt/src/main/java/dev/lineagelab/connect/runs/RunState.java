// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/**
 * What is remembered of a connector, across workers and their restarts.
 *
 * @param generation of its latest run; 0 if it has had none. At the same time the millisecond at
 *     which the run began, unless two began in one
 * @param datasets fingerprint of what the run reads and writes
 * @param config fingerprint of the configuration
 * @param lastEvent time of the run's last event, in milliseconds
 */
public record RunState(
    long generation, Phase phase, String datasets, String config, long lastEvent) {
  /** Before a connector's first run. */
  public static final RunState INITIAL = new RunState(0, Phase.NONE, "", "", 0);

  RunState in(final Phase other) {
    return new RunState(generation, other, datasets, config, lastEvent);
  }

  RunState after(final long time) {
    return new RunState(generation, phase, datasets, config, time);
  }

  RunState of(final String newDatasets, final String newConfig) {
    return new RunState(generation, phase, newDatasets, newConfig, lastEvent);
  }

  /** The next run, which begins now. */
  RunState raised(final long now) {
    return new RunState(Math.max(generation + 1, now), Phase.OPEN, datasets, config, lastEvent);
  }
}
