// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.observe.Observations;
import dev.lineagelab.connect.runs.RunState;
import dev.lineagelab.connect.state.SharedState;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Connectors that came and went between two looks: only their transforms know that records went
 * through them.
 */
final class BriefLives {
  /** The first look after a record may have begun before it. */
  private static final int LOOKS = 2;

  private final Observations observations;
  private final SharedState state;
  private final TreeMap<String, Sought> sought = new TreeMap<>();

  /**
   * A connector that no look has found so far.
   *
   * @param since when its latest task was configured, in milliseconds
   */
  private record Sought(long since, int missed) {}

  BriefLives(final Observations observations, final SharedState state) {
    this.observations = observations;
    this.state = state;
  }

  /** A task of a connector has seen records. */
  void saw(final String connector, final long since) {
    sought.put(connector, new Sought(since, 0));
  }

  /**
   * Connectors that have ended before a look found them, each once.
   *
   * @param known those that are there, or were told of
   */
  Set<String> ended(final Set<String> known) {
    sought.keySet().removeAll(known);
    final Set<String> working = observations.connectors();
    final Set<String> ended = new TreeSet<>();
    sought.replaceAll((name, missing) -> new Sought(missing.since(), missing.missed() + 1));
    sought.forEach(
        (name, missing) -> {
          if (missing.missed() >= LOOKS && !working.contains(name)) {
            ended.add(name);
          }
        });
    ended.removeIf(name -> isToldOf(name, sought.remove(name).since()));
    return ended;
  }

  /** By another worker, whose looks did find it. */
  private boolean isToldOf(final String connector, final long since) {
    final RunState run = state.run(connector);
    return run.phase().isOpen() || run.lastEvent() >= since;
  }
}
