// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Status of a connector as Connect reports it.
 *
 * @param state RUNNING, PAUSED, STOPPED, FAILED, UNASSIGNED, RESTARTING
 * @param worker {@code host:port} of the worker that owns the connector or owned it last; null if
 *     unknown
 * @param trace stack trace of the failure; null if there is none
 * @param tasks by task number, including those on other workers
 */
public record ConnectorStatus(
    String state, String worker, String trace, SortedMap<Integer, TaskStatus> tasks) {
  public ConnectorStatus {
    tasks = Collections.unmodifiableSortedMap(new TreeMap<>(tasks));
  }

  /** Status without a failure trace. */
  public static ConnectorStatus of(
      final String state, final String worker, final Map<Integer, TaskStatus> tasks) {
    return new ConnectorStatus(state, worker, null, new TreeMap<>(tasks));
  }

  /** Combine the states of the connector and its tasks into the one that its run follows. */
  public AggregateState aggregateState() {
    if (is("STOPPED")) {
      return AggregateState.STOPPED;
    }
    if (is("PAUSED") && !(anyTask("FAILED") && allTasks("FAILED"))) {
      return AggregateState.PAUSED;
    }
    if (anyTask("RUNNING")) {
      return AggregateState.RUNNING;
    }
    // A task that is about to start may still run, even if others have failed.
    final boolean isStarting = anyTask("UNASSIGNED") || anyTask("RESTARTING") || anyTask("PAUSED");
    return is("FAILED") || anyTask("FAILED") && !isStarting
        ? AggregateState.FAILED
        : AggregateState.INACTIVE;
  }

  /** The failure trace of the connector, else of its first failed task; empty if there is none. */
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
