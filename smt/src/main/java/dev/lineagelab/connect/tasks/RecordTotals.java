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

  private final Map<TaskId, Entry> entries = new HashMap<>();

  /** Set the counts that Connect publishes for a task; counts that fall show a restart. */
  public synchronized void update(final TaskId task, final RecordCounts counts) {
    final Entry known = entries.getOrDefault(task, EMPTY);
    final RecordCounts current = known.current();
    if (counts.equals(known.closed())) {
      return;
    }
    final boolean isRestarted =
        counts.read() < current.read() || counts.written() < current.written();
    entries.put(
        task, new Entry(counts, isRestarted ? known.before().plus(current) : known.before(), null));
  }

  /** Set the final counts of a task that closes. */
  public synchronized void closeTask(final TaskId task, final RecordCounts counts) {
    update(task, counts);
    final Entry ended = entries.getOrDefault(task, EMPTY);
    entries.put(task, new Entry(RecordCounts.NONE, ended.before().plus(ended.current()), counts));
  }

  /** Records of a connector since this worker started. Never decreases. */
  public synchronized RecordCounts total(final String connector) {
    return entries.entrySet().stream()
        .filter(entry -> entry.getKey().connector().equals(connector))
        .map(entry -> entry.getValue().before().plus(entry.getValue().current()))
        .reduce(RecordCounts.NONE, RecordCounts::plus);
  }

  /** Remove all counts of a connector. */
  public synchronized void remove(final String connector) {
    entries.keySet().removeIf(task -> task.connector().equals(connector));
  }
}
