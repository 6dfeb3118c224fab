// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.cluster.ConfigTopicReader;
import dev.lineagelab.connect.cluster.ConnectCluster;
import dev.lineagelab.connect.cluster.JmxConnectCluster;
import dev.lineagelab.connect.cluster.RestConnectCluster;
import dev.lineagelab.connect.cluster.StatusTopicReader;
import dev.lineagelab.connect.cluster.TransformConfig;
import dev.lineagelab.connect.datasets.ConnectorLineageExtractor;
import dev.lineagelab.connect.settings.OptionNames;
import dev.lineagelab.connect.settings.OptionSources;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.settings.WorkerProperties;
import dev.lineagelab.connect.tasks.RecordTotals;
import dev.lineagelab.connect.tasks.TaskObservations;
import dev.lineagelab.connect.tasks.TaskObserver;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.connect.health.ConnectClusterState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Process-wide agent shared by the transform and the REST extension. Connect instantiates the two
 * independently but loads both with one class loader, so that they share static state.
 */
public final class PluginRuntime {
  private static final Logger LOG = LoggerFactory.getLogger(PluginRuntime.class);
  private static final RecordTotals TOTALS = new RecordTotals();
  private static final TaskObservations OBSERVATIONS = new TaskObservations(TOTALS);
  private static AgentThread agent;

  private PluginRuntime() {}

  /**
   * Register a configured transform; start an agent without REST extension if there is none yet.
   *
   * @param options of the transform, as passed by Connect
   * @throws org.apache.kafka.common.config.ConfigException an option is invalid
   */
  public static TaskObserver registerTransform(final Map<String, ?> options) {
    final Map<String, String> own = strings(options);
    OptionSources.unknownOptionWarnings("Transform option", "", own.keySet()).forEach(LOG::warn);
    own.keySet().removeAll(Set.of("type", "predicate", "negate"));
    synchronized (PluginRuntime.class) {
      if (agent == null) {
        startWithoutExtension(own);
      }
    }
    return OBSERVATIONS.register(own);
  }

  /** Unregister a closed transform. */
  public static void unregisterTransform(final TaskObserver observer) {
    OBSERVATIONS.unregister(observer);
  }

  private static void startWithoutExtension(final Map<String, String> own) {
    final Map<String, String> options = OptionSources.merge(own, processOptions());
    // Run ids depend on a random plugin id, so no later worker could continue the runs.
    options.put(OptionNames.STATE_TOPIC, "");
    final PluginSettings settings = PluginSettings.of(options, WorkerProperties.UNKNOWN);
    final String pluginId = UUID.randomUUID().toString();
    final AgentThread started =
        new AgentThread(
            settings,
            pluginId,
            () -> jmxCluster(pluginId),
            context(
                new ConnectorSettings(processOptions(), WorkerProperties.UNKNOWN, OBSERVATIONS)));
    Runtime.getRuntime().addShutdownHook(new Thread(started::close, "connect-lineage-shutdown"));
    agent = started;
    started.startAfter(settings.transformOnlyAfter());
  }

  private static ConnectCluster jmxCluster(final String pluginId) {
    LOG.info(
        "Lineage by the transform alone, as the REST extension is not configured"
            + " (rest.extension.classes). Unknown are: why a task ended, failures before the first"
            + " record, a connector's class, topics and other transforms, and other workers. Runs"
            + " end with this worker.");
    return new JmxConnectCluster(OBSERVATIONS, pluginId, System::currentTimeMillis);
  }

  /**
   * Start the agent of a registered REST extension; it replaces one started by a transform.
   *
   * @param properties of the worker
   * @return stops the agent when closed
   * @throws org.apache.kafka.common.config.ConfigException an option is invalid
   */
  public static synchronized AutoCloseable startExtension(
      final Map<String, ?> properties, final ConnectClusterState state) {
    final WorkerProperties worker = new WorkerProperties(properties);
    OptionSources.unknownOptionWarnings(
            "Worker property", OptionNames.PREFIX, worker.options().keySet())
        .forEach(LOG::warn);
    final Map<String, String> options = OptionSources.merge(worker.options(), processOptions());
    final ConnectorSettings settings = new ConnectorSettings(options, worker, OBSERVATIONS);
    if (agent != null) {
      agent.close();
    }
    final String pluginId = UUID.randomUUID().toString();
    final AgentThread started =
        new AgentThread(
            settings.ofWorker(),
            pluginId,
            () -> restCluster(state, worker, settings.ofWorker(), pluginId),
            context(settings));
    agent = started;
    started.start();
    return () -> stopExtension(started);
  }

  private static ConnectCluster restCluster(
      final ConnectClusterState state,
      final WorkerProperties worker,
      final PluginSettings settings,
      final String pluginId) {
    LOG.info(
        "Lineage by the REST extension, for all connectors. Schemas and columns are known for those"
            + " with {} in their chain of transforms.",
        TransformConfig.TRANSFORM);
    if (worker.group().isEmpty()) {
      LOG.info(
          "Standalone worker: its runs are identified by its address. It has no config topic, so a"
              + " connector that is deleted and created again between two polls continues its"
              + " run.");
    }
    return new RestConnectCluster(
        state,
        worker,
        ConfigTopicReader.open(worker, settings.state(), pluginId),
        StatusTopicReader.of(worker, settings.state(), pluginId),
        System::currentTimeMillis);
  }

  private static AgentContext context(final ConnectorSettings settings) {
    return new AgentContext(settings, OBSERVATIONS, TOTALS, new ConnectorLineageExtractor());
  }

  private static void stopExtension(final AgentThread started) {
    started.close();
    synchronized (PluginRuntime.class) {
      if (agent == started) {
        agent = null;
      }
    }
  }

  private static Map<String, String> processOptions() {
    return OptionSources.fromProcess(System.getProperties(), System.getenv());
  }

  private static Map<String, String> strings(final Map<String, ?> options) {
    final Map<String, String> strings = new HashMap<>();
    options.forEach(
        (name, value) -> {
          if (value != null) {
            strings.put(name, value.toString());
          }
        });
    return strings;
  }
}
