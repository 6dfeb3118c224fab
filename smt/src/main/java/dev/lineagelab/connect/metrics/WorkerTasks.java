// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.metrics;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Tasks that this worker ran when they were queried.
 *
 * @param numbers task numbers by connector, whose names are as in JMX
 */
public record WorkerTasks(Map<String, Set<Integer>> numbers) {
  /**
   * Current counts of a connector's tasks, by task number; those that have ended since are absent.
   */
  public Map<Integer, RecordCounts> counts(final String connector) {
    final Map<Integer, RecordCounts> found = new TreeMap<>();
    for (final int number : numbers.getOrDefault(ConnectMetrics.sanitized(connector), Set.of())) {
      ConnectMetrics.counts(connector, number).ifPresent(counts -> found.put(number, counts));
    }
    return found;
  }
}
