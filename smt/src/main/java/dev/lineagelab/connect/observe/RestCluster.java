// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.runs.Condition;
import dev.lineagelab.connect.runs.ConnectorStatus;
import dev.lineagelab.connect.runs.TaskStatus;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.NotFoundException;
import org.apache.kafka.connect.health.ConnectClusterState;
import org.apache.kafka.connect.health.ConnectorHealth;

/** The connectors as the REST extension is shown them. */
public final class RestCluster implements Cluster {
  private static final ConnectorStatus UNKNOWN = ConnectorStatus.of("UNASSIGNED", null, Map.of());

  private final ConnectClusterState state;
  private final Deletions deletions;
  private final String group;
  private final Set<String> spokenFor = new HashSet<>();
  private final String standaloneId;
  private String workerId;

  /** Looks at nothing yet. */
  public RestCluster(
      final ConnectClusterState state, final WorkerProperties worker, final Deletions deletions) {
    this.state = state;
    this.deletions = deletions;
    this.group = worker.group();
    this.workerId = WorkerId.of(worker);
    this.standaloneId = workerId;
  }

  @Override
  public Map<String, ConnectorLook> look() throws UnavailableException {
    try {
      deletions.poll();
      final Map<String, ConnectorLook> looks = new TreeMap<>();
      for (final String connector : state.connectors()) {
        if (!deletions.isDeleted(connector)) {
          look(connector).ifPresent(look -> looks.put(connector, look));
        }
      }
      return looks;
    } catch (final ConnectException e) {
      throw new UnavailableException(e);
    }
  }

  /** Empty if it is gone by now. */
  private Optional<ConnectorLook> look(final String connector) {
    final Map<String, String> config = config(connector);
    if (config == null) {
      return Optional.empty();
    }
    ConnectorStatus status = UNKNOWN;
    ConnectorType type = null;
    try {
      final ConnectorHealth health = state.connectorHealth(connector);
      status = status(health);
      type = type(health);
    } catch (final NotFoundException e) {
      // There is a configuration, and nothing yet that has a state: it is about to start.
    }
    if (type == null) {
      type =
          config.containsKey("topics") || config.containsKey("topics.regex")
              ? ConnectorType.SINK
              : ConnectorType.SOURCE;
    }
    final ConnectorDefinition view =
        new ConnectorDefinition(connector, type, config.get("connector.class"), config, true);
    return Optional.of(new ConnectorLook(view, status, TransformConfig.of(config).isPresent()));
  }

  /** Null if the connector was deleted since it was listed. */
  private Map<String, String> config(final String connector) {
    try {
      return state.connectorConfig(connector);
    } catch (final ConnectException e) {
      for (Throwable cause = e; cause != null; cause = cause.getCause()) {
        if (cause instanceof NotFoundException) {
          return null;
        }
      }
      throw e;
    }
  }

  private static ConnectorStatus status(final ConnectorHealth health) {
    final SortedMap<Integer, TaskStatus> tasks = new TreeMap<>();
    health
        .tasksState()
        .forEach(
            (number, task) ->
                tasks.put(
                    number, new TaskStatus(task.state(), task.workerId(), task.traceMessage())));
    final var connector = health.connectorState();
    return new ConnectorStatus(
        connector.state(), connector.workerId(), connector.traceMessage(), tasks);
  }

  private static ConnectorType type(final ConnectorHealth health) {
    return switch (health.type()) {
      case SOURCE -> ConnectorType.SOURCE;
      case SINK -> ConnectorType.SINK;
      case UNKNOWN -> null;
    };
  }

  @Override
  public Set<String> recreated() {
    return deletions.takeRecreated();
  }

  /**
   * The worker that Connect gave the connector to: its metrics are nowhere else. A connector that
   * could not even be made has none; then the state names the worker. Between two owners, the old
   * one goes on, until the state names another.
   */
  @Override
  public boolean speaksFor(final String connector, final ConnectorStatus status) {
    if (ConnectMetrics.hasConnector(connector)) {
      if (status.worker() != null && "RUNNING".equals(status.state())) {
        // Connect's own word for this worker, which no reading of the properties can better.
        workerId = status.worker();
      }
      spokenFor.add(connector);
      return true;
    }
    final boolean isHere = workerId.equals(status.worker());
    if (isHere && status.condition() == Condition.FAILED) {
      spokenFor.add(connector);
    } else if (!isHere && status.worker() != null) {
      spokenFor.remove(connector);
    }
    return spokenFor.contains(connector);
  }

  @Override
  public String id() {
    // Standalone workers have no group, and nothing to do with one another.
    final String name = group.isEmpty() ? "standalone " + standaloneId : group;
    return state.clusterDetails().kafkaClusterId() + "/" + name;
  }

  @Override
  public void close() {
    deletions.close();
  }
}
