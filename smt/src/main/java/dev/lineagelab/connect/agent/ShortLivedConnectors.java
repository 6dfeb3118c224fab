// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.runs.RunState;
import dev.lineagelab.connect.state.SharedState;
import dev.lineagelab.connect.tasks.TaskObservations;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Connectors that were created and deleted between two polls: only their transforms have observed
 * them.
 */
final class ShortLivedConnectors {
  /** Polls to wait for: the first one after an observation may have begun before it. */
  private static final int POLLS = 2;

  private final TaskObservations observations;
  private final SharedState state;
  private final TreeMap<String, Candidate> candidates = new TreeMap<>();

  /**
   * Connector that no poll has found so far.
   *
   * @param since when its latest task was configured, in milliseconds since the epoch
   * @param polls that have not found it
   */
  private record Candidate(long since, int polls) {}

  ShortLivedConnectors(final TaskObservations observations, final SharedState state) {
    this.observations = observations;
    this.state = state;
  }

  /** Add a connector of which a task, configured at {@code since}, has observed records. */
  void add(final String connector, final long since) {
    candidates.put(connector, new Candidate(since, 0));
  }

  /**
   * Remove and return the connectors that have ended without being found by a poll.
   *
   * @param known connectors that exist or have a tracker
   */
  Set<String> takeEnded(final Set<String> known) {
    candidates.keySet().removeAll(known);
    final Set<String> active = observations.connectors();
    final Set<String> ended = new TreeSet<>();
    candidates.replaceAll(
        (name, candidate) -> new Candidate(candidate.since(), candidate.polls() + 1));
    candidates.forEach(
        (name, candidate) -> {
          if (candidate.polls() >= POLLS && !active.contains(name)) {
            ended.add(name);
          }
        });
    ended.removeIf(name -> hasRunSince(name, candidates.remove(name).since()));
    return ended;
  }

  /**
   * Return whether another worker, whose poll did find the connector, has sent events of its run.
   */
  private boolean hasRunSince(final String connector, final long since) {
    final RunState run = state.run(connector);
    return run.phase().isOpen() || run.lastEvent() >= since;
  }
}
