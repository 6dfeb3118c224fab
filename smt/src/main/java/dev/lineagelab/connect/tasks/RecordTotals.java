// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import dev.lineagelab.connect.metrics.RecordCounts;
import java.util.HashMap;
import java.util.Map;

/**
 * Records processed by the tasks of this worker, summed over task restarts: Connect's counters
 * start at zero each time. Thread-safe.
 */
public final class RecordTotals {
  /**
   * Counts of one task.
   *
   * @param current since the task's latest start
   * @param before of all earlier starts
   * @param closed final counts of the task closed last, which Connect may still publish; or null
   */
  private record Entry(RecordCounts current, RecordCounts before, RecordCounts closed) {}

  private static final Entry EMPTY = new Entry(RecordCounts.NONE, RecordCounts.NONE, null);

  private final Map<String, Map<Integer, Entry>> entries = new HashMap<>();

  /** Set the counts that Connect publishes for a task; counts that fall show a restart. */
  public synchronized void update(final TaskId task, final RecordCounts counts) {
    final Entry known = entry(task);
    final RecordCounts current = known.current();
    if (counts.equals(known.closed())) {
      return;
    }
    final boolean isRestarted =
        counts.read() < current.read() || counts.written() < current.written();
    put(task, new Entry(counts, isRestarted ? known.before().plus(current) : known.before(), null));
  }

  /** Set the final counts of a task that closes. */
  public synchronized void closeTask(final TaskId task, final RecordCounts counts) {
    update(task, counts);
    final Entry ended = entry(task);
    put(task, new Entry(RecordCounts.NONE, ended.before().plus(ended.current()), counts));
  }

  /** Records of a connector since this worker started. Never decreases. */
  public synchronized RecordCounts total(final String connector) {
    return entries.getOrDefault(connector, Map.of()).values().stream()
        .map(entry -> entry.before().plus(entry.current()))
        .reduce(RecordCounts.NONE, RecordCounts::plus);
  }

  /** Remove all counts of a connector. */
  public synchronized void remove(final String connector) {
    entries.remove(connector);
  }

  private Entry entry(final TaskId task) {
    return entries.getOrDefault(task.connector(), Map.of()).getOrDefault(task.task(), EMPTY);
  }

  private void put(final TaskId task, final Entry entry) {
    entries.computeIfAbsent(task.connector(), name -> new HashMap<>()).put(task.task(), entry);
  }
}
