// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.runs.ConnectorStatus;
import dev.lineagelab.connect.runs.TaskStatus;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/**
 * The connectors as far as this worker's transforms and metrics show them, for where the REST
 * extension is not installed: those with a task here that has the transform. A task that ends may
 * be about to start again: it counts as there for some seconds more.
 */
public final class JmxCluster implements Cluster {
  /** Milliseconds in which Connect has started a task anew that it restarts. */
  private static final long GRACE_MS = 5000;

  private final Observations observations;
  private final String id;
  private final LongSupplier clock;
  private final Map<TaskName, Long> lastSeen = new HashMap<>();

  /**
   * Looks at nothing yet.
   *
   * @param id names this process among all of the world
   * @param clock milliseconds
   */
  public JmxCluster(final Observations observations, final String id, final LongSupplier clock) {
    this.observations = observations;
    this.id = id;
    this.clock = clock;
  }

  @Override
  public Map<String, ConnectorLook> look() {
    final long now = clock.getAsLong();
    observations
        .tasks()
        .forEach(
            (connector, tasks) ->
                tasks.forEach(task -> lastSeen.put(new TaskName(connector, task), now)));
    lastSeen.keySet().stream()
        .filter(task -> ConnectMetrics.taskState(task.connector(), task.task()).isPresent())
        .forEach(task -> lastSeen.put(task, now));
    lastSeen.values().removeIf(seen -> now - seen > GRACE_MS);
    final Map<String, ConnectorLook> looks = new TreeMap<>();
    for (final String connector : connectors()) {
      looks.put(connector, look(connector));
    }
    return looks;
  }

  private Set<String> connectors() {
    final Set<String> names = new TreeSet<>();
    lastSeen.keySet().forEach(task -> names.add(task.connector()));
    return names;
  }

  private ConnectorLook look(final String connector) {
    final SortedMap<Integer, TaskStatus> tasks = new TreeMap<>();
    boolean isSink = false;
    for (final TaskName task : lastSeen.keySet()) {
      if (task.connector().equals(connector)) {
        final String state = ConnectMetrics.taskState(connector, task.task()).orElse("UNASSIGNED");
        tasks.put(task.task(), new TaskStatus(state, null, null));
        isSink |= ConnectMetrics.isSinkTask(connector, task.task());
      }
    }
    final ConnectorDefinition view =
        new ConnectorDefinition(
            connector,
            observations.type(connector).orElse(isSink ? ConnectorType.SINK : ConnectorType.SOURCE),
            ConnectMetrics.connectorClass(connector).orElse(null),
            TransformConfig.alone(observations.options(connector).orElse(Map.of())),
            false);
    return new ConnectorLook(view, new ConnectorStatus(state(tasks), null, null, tasks), true);
  }

  /** The connector itself may be on another worker: a pause shows in all of its tasks. */
  private static String state(final Map<Integer, TaskStatus> tasks) {
    final boolean isPaused =
        tasks.values().stream().allMatch(task -> "PAUSED".equals(task.state()));
    return isPaused ? "PAUSED" : "RUNNING";
  }

  @Override
  public Set<String> recreated() {
    return Set.of();
  }

  @Override
  public boolean speaksFor(final String connector, final ConnectorStatus status) {
    return true;
  }

  @Override
  public String id() {
    return id;
  }

  @Override
  public void close() {
    // Holds nothing.
  }
}
