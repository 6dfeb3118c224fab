// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How a connector stands, as Connect says.
 *
 * @param state RUNNING, PAUSED, STOPPED, FAILED, UNASSIGNED, RESTARTING
 * @param worker {@code host:port} of the worker that has it, or had it last; null if unknown
 * @param trace of the failure; null if there is none
 * @param tasks by number, those of other workers too
 */
public record ConnectorStatus(
    String state, String worker, String trace, SortedMap<Integer, TaskStatus> tasks) {
  public ConnectorStatus {
    tasks = Collections.unmodifiableSortedMap(new TreeMap<>(tasks));
  }

  /** A connector with these tasks. */
  public static ConnectorStatus of(
      final String state, final String worker, final Map<Integer, TaskStatus> tasks) {
    return new ConnectorStatus(state, worker, null, new TreeMap<>(tasks));
  }

  /** What a run makes of it. */
  public Condition condition() {
    if (is("STOPPED")) {
      return Condition.STOPPED;
    }
    if (is("PAUSED") && !(anyTask("FAILED") && allTasks("FAILED"))) {
      return Condition.PAUSED;
    }
    if (anyTask("RUNNING")) {
      return Condition.RUNNING;
    }
    // Tasks that are about to start somewhere may yet run, whatever became of the others.
    final boolean isComing = anyTask("UNASSIGNED") || anyTask("RESTARTING") || anyTask("PAUSED");
    return is("FAILED") || anyTask("FAILED") && !isComing ? Condition.FAILED : Condition.INACTIVE;
  }

  /** The trace of what failed, the connector's own before those of its tasks; empty if none. */
  public String firstTrace() {
    if (is("FAILED") && trace != null) {
      return trace;
    }
    return tasks.values().stream()
        .filter(task -> "FAILED".equals(task.state()) && task.trace() != null)
        .map(TaskStatus::trace)
        .findFirst()
        .orElse("");
  }

  private boolean is(final String other) {
    return other.equals(state);
  }

  private boolean anyTask(final String other) {
    return tasks.values().stream().anyMatch(task -> other.equals(task.state()));
  }

  private boolean allTasks(final String other) {
    return tasks.values().stream().allMatch(task -> other.equals(task.state()));
  }
}
