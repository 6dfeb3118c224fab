// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import dev.lineagelab.connect.metrics.ConnectMetrics;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.runs.ConnectorStatus;
import dev.lineagelab.connect.runs.TaskStatus;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.NotFoundException;
import org.apache.kafka.connect.health.ConnectClusterState;
import org.apache.kafka.connect.health.ConnectorHealth;

/** Connectors of the cluster, from the cluster state that Connect passes to REST extensions. */
public final class RestConnectCluster implements ConnectCluster {
  private static final ConnectorStatus UNKNOWN = ConnectorStatus.of("UNASSIGNED", null, Map.of());

  private final ConnectClusterState state;
  private final DeletionDetector deletions;
  private final ActiveTopics activeTopics;
  private final ConfigCache configs;
  private final String group;
  private final Set<String> ledConnectors = new HashSet<>();
  private final String standaloneId;
  private final WorkerIdentity worker;
  private boolean isUsingActiveTopics;

  /**
   * Create a view of the connectors.
   *
   * @param clock in milliseconds
   */
  public RestConnectCluster(
      final ConnectClusterState state,
      final WorkerProperties properties,
      final DeletionDetector deletions,
      final ActiveTopics activeTopics,
      final LongSupplier clock) {
    this.state = state;
    this.deletions = deletions;
    this.activeTopics = activeTopics;
    this.configs = new ConfigCache(deletions, this::config, clock);
    this.group = properties.group();
    this.standaloneId = WorkerId.of(properties);
    this.worker = new WorkerIdentity(standaloneId);
  }

  @Override
  public Map<String, ConnectorSnapshot> snapshots() throws UnavailableException {
    try {
      deletions.poll();
      if (isUsingActiveTopics) {
        activeTopics.poll();
      }
      isUsingActiveTopics = false;
      final Map<String, ConnectorSnapshot> snapshots = new TreeMap<>();
      final Collection<String> connectors = state.connectors();
      configs.update(connectors);
      for (final String connector : connectors) {
        if (!deletions.isDeleted(connector)) {
          snapshot(connector).ifPresent(found -> snapshots.put(connector, found));
        }
      }
      return snapshots;
    } catch (final ConnectException e) {
      throw new UnavailableException(e);
    }
  }

  /** Snapshot of a connector; empty if it was deleted since it was listed. */
  private Optional<ConnectorSnapshot> snapshot(final String connector) {
    final Map<String, String> config = configs.get(connector);
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
      // The connector has a configuration but no state yet: it is about to start.
    }
    if (type == null) {
      type =
          config.containsKey("topics") || config.containsKey("topics.regex")
              ? ConnectorType.SINK
              : ConnectorType.SOURCE;
    }
    final boolean hasTransform = TransformConfig.of(config).isPresent();
    final ConnectorDefinition definition =
        new ConnectorDefinition(
            connector,
            type,
            config.get("connector.class"),
            config,
            true,
            hasTransform ? Set.of() : activeTopics(connector, type, config));
    return Optional.of(new ConnectorSnapshot(definition, status, hasTransform));
  }

  /** Topics of a source, and of a sink whose configuration does not name them. */
  private Set<String> activeTopics(
      final String connector, final ConnectorType type, final Map<String, String> config) {
    if (type == ConnectorType.SINK && config.get("topics.regex") == null) {
      return Set.of();
    }
    isUsingActiveTopics = true;
    return activeTopics.of(connector);
  }

  /** Configuration of a connector; null if it was deleted since it was listed. */
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
  public Set<String> takeRecreated() {
    return deletions.takeRecreated();
  }

  /**
   * The leader is the worker that Connect assigned the connector to, which its status names.
   * Between two owners the old one stays leader until the status names another.
   */
  @Override
  public boolean isLeaderFor(final String connector, final ConnectorStatus status) {
    worker.observe(connector, status, ConnectMetrics.hasConnector(connector));
    if (worker.id().equals(status.worker())) {
      ledConnectors.add(connector);
    } else if (status.worker() != null) {
      ledConnectors.remove(connector);
    }
    return ledConnectors.contains(connector);
  }

  @Override
  public String id() {
    // Standalone workers have no group: each is a cluster by itself.
    final String name = group.isEmpty() ? "standalone " + standaloneId : group;
    return state.clusterDetails().kafkaClusterId() + "/" + name;
  }

  @Override
  public void close() {
    deletions.close();
    activeTopics.close();
  }
}
