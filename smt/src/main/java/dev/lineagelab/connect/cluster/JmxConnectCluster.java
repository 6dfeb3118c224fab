// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import dev.lineagelab.connect.metrics.ConnectMetrics;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.runs.ConnectorStatus;
import dev.lineagelab.connect.runs.TaskStatus;
import dev.lineagelab.connect.tasks.TaskId;
import dev.lineagelab.connect.tasks.TaskObservations;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/**
 * Connectors of this worker as derived from its transforms and metrics, for workers without the
 * REST extension. Covers connectors with a task on this worker that has the transform. A task that
 * ends is kept for a grace period, as it may be restarting.
 */
public final class JmxConnectCluster implements ConnectCluster {
  /** Milliseconds within which Connect starts a restarting task again. */
  private static final long GRACE_MS = 5000;

  private final TaskObservations observations;
  private final String id;
  private final LongSupplier clock;
  private final Map<TaskId, Long> lastSeen = new HashMap<>();

  /**
   * Create a view of this worker's connectors.
   *
   * @param id globally unique id of this process
   * @param clock in milliseconds
   */
  public JmxConnectCluster(
      final TaskObservations observations, final String id, final LongSupplier clock) {
    this.observations = observations;
    this.id = id;
    this.clock = clock;
  }

  @Override
  public Map<String, ConnectorSnapshot> snapshots() {
    final long now = clock.getAsLong();
    observations
        .tasks()
        .forEach(
            (connector, tasks) ->
                tasks.forEach(task -> lastSeen.put(new TaskId(connector, task), now)));
    lastSeen.keySet().stream()
        .filter(task -> ConnectMetrics.taskState(task.connector(), task.task()).isPresent())
        .forEach(task -> lastSeen.put(task, now));
    lastSeen.values().removeIf(seen -> now - seen > GRACE_MS);
    final Map<String, ConnectorSnapshot> snapshots = new TreeMap<>();
    for (final String connector : connectors()) {
      snapshots.put(connector, snapshot(connector));
    }
    return snapshots;
  }

  private Set<String> connectors() {
    final Set<String> names = new TreeSet<>();
    lastSeen.keySet().forEach(task -> names.add(task.connector()));
    return names;
  }

  private ConnectorSnapshot snapshot(final String connector) {
    final SortedMap<Integer, TaskStatus> tasks = new TreeMap<>();
    boolean isSink = false;
    for (final TaskId task : lastSeen.keySet()) {
      if (task.connector().equals(connector)) {
        final String state = ConnectMetrics.taskState(connector, task.task()).orElse("UNASSIGNED");
        tasks.put(task.task(), new TaskStatus(state, null, null));
        isSink |= ConnectMetrics.isSinkTask(connector, task.task());
      }
    }
    final ConnectorDefinition definition =
        new ConnectorDefinition(
            connector,
            observations.type(connector).orElse(isSink ? ConnectorType.SINK : ConnectorType.SOURCE),
            ConnectMetrics.connectorClass(connector).orElse(null),
            TransformConfig.minimalConfig(observations.options(connector).orElse(Map.of())),
            false);
    return new ConnectorSnapshot(
        definition, new ConnectorStatus(state(tasks), null, null, tasks), true);
  }

  /** Snapshot of a connector that ended before a poll found it, from its transforms alone. */
  public static ConnectorSnapshot endedSnapshot(
      final TaskObservations observations, final String connector) {
    final ConnectorDefinition definition =
        new ConnectorDefinition(
            connector,
            observations.type(connector).orElse(ConnectorType.SOURCE),
            null,
            TransformConfig.minimalConfig(observations.options(connector).orElse(Map.of())),
            false);
    return new ConnectorSnapshot(
        definition, ConnectorStatus.of("UNASSIGNED", null, Map.of()), true);
  }

  /** State of the connector, which may run on another worker: a pause pauses all tasks. */
  private static String state(final Map<Integer, TaskStatus> tasks) {
    final boolean isPaused =
        tasks.values().stream().allMatch(task -> "PAUSED".equals(task.state()));
    return isPaused ? "PAUSED" : "RUNNING";
  }

  @Override
  public Set<String> takeRecreated() {
    return Set.of();
  }

  @Override
  public boolean isLeaderFor(final String connector, final ConnectorStatus status) {
    return true;
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public void close() {
    // There is nothing to close.
  }
}
