// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import dev.lineagelab.connect.events.Counts;
import java.util.HashMap;
import java.util.Map;

/**
 * How many records the tasks of this worker have carried, over their restarts: Connect counts from
 * zero each time. Safe for several threads.
 */
public final class CountBook {
  /**
   * @param last of the task's life that is under way
   * @param before of its earlier lives
   * @param closed with which the last life ended, as long as Connect may still show it; or null
   */
  private record Entry(Counts last, Counts before, Counts closed) {}

  private static final Entry NOTHING = new Entry(Counts.NONE, Counts.NONE, null);

  private final Map<TaskName, Entry> entries = new HashMap<>();

  /** Takes what Connect counts of a task now. */
  public synchronized void see(final TaskName task, final Counts totals) {
    final Entry known = entries.getOrDefault(task, NOTHING);
    final Counts last = known.last();
    if (totals.equals(known.closed())) {
      return;
    }
    final boolean isAnew = totals.read() < last.read() || totals.written() < last.written();
    entries.put(task, new Entry(totals, isAnew ? known.before().plus(last) : known.before(), null));
  }

  /** Takes what Connect counts of a task whose life ends. */
  public synchronized void close(final TaskName task, final Counts totals) {
    see(task, totals);
    final Entry ended = entries.getOrDefault(task, NOTHING);
    entries.put(task, new Entry(Counts.NONE, ended.before().plus(ended.last()), totals));
  }

  /** All records of a connector since this worker started. Never falls. */
  public synchronized Counts total(final String connector) {
    return entries.entrySet().stream()
        .filter(entry -> entry.getKey().connector().equals(connector))
        .map(entry -> entry.getValue().before().plus(entry.getValue().last()))
        .reduce(Counts.NONE, Counts::plus);
  }

  /** Forgets a connector. */
  public synchronized void forget(final String connector) {
    entries.keySet().removeIf(task -> task.connector().equals(connector));
  }
}
