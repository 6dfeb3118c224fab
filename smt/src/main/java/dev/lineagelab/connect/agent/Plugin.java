// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.datasets.ConnectorLineageExtractor;
import dev.lineagelab.connect.observe.Cluster;
import dev.lineagelab.connect.observe.ConfigTopic;
import dev.lineagelab.connect.observe.CountBook;
import dev.lineagelab.connect.observe.JmxCluster;
import dev.lineagelab.connect.observe.Observations;
import dev.lineagelab.connect.observe.RestCluster;
import dev.lineagelab.connect.observe.TaskObserver;
import dev.lineagelab.connect.observe.TransformConfig;
import dev.lineagelab.connect.settings.OptionNames;
import dev.lineagelab.connect.settings.OptionSources;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.connect.health.ConnectClusterState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the plugin's two halves meet. Connect makes each by itself, yet loads both with one class
 * loader: what is static here, both see.
 */
public final class Plugin {
  private static final Logger LOG = LoggerFactory.getLogger(Plugin.class);
  private static final CountBook COUNTS = new CountBook();
  private static final Observations OBSERVATIONS = new Observations(COUNTS);
  private static AgentThread agent;

  private Plugin() {}

  /**
   * A transform begins to work.
   *
   * @param options its own, as Connect gives them
   * @throws org.apache.kafka.common.config.ConfigException one is wrong
   */
  public static TaskObserver transformConfigured(final Map<String, ?> options) {
    final Map<String, String> own = texts(options);
    OptionSources.unknown("Transform option", "", own.keySet()).forEach(LOG::warn);
    own.keySet().removeAll(Set.of("type", "predicate", "negate"));
    synchronized (Plugin.class) {
      if (agent == null) {
        startAlone(own);
      }
    }
    return OBSERVATIONS.configured(own);
  }

  /** It does no more. */
  public static void transformClosed(final TaskObserver observer) {
    OBSERVATIONS.closed(observer);
  }

  private static void startAlone(final Map<String, String> own) {
    final Map<String, String> options = OptionSources.merged(own, ofProcess());
    // Runs are called by a name that nobody else knows: to keep them would help nobody.
    options.put(OptionNames.STATE_TOPIC, "");
    final PluginSettings settings = PluginSettings.of(options, WorkerProperties.UNKNOWN);
    final String id = UUID.randomUUID().toString();
    final AgentThread alone =
        new AgentThread(
            settings.transformOnlyAfter(),
            settings,
            OBSERVATIONS,
            COUNTS,
            () -> {
              LOG.info(
                  "Lineage by the transform alone. Without the REST extension"
                      + " (rest.extension.classes) nothing is known of why a task ended, of failures"
                      + " before the first record, of a connector's class, topics and other transforms,"
                      + " nor of other workers; runs end with this worker.");
              return new JmxCluster(OBSERVATIONS, id, System::currentTimeMillis);
            },
            new ConnectorSettings(ofProcess(), WorkerProperties.UNKNOWN, OBSERVATIONS),
            new ConnectorLineageExtractor(),
            id);
    Runtime.getRuntime().addShutdownHook(new Thread(alone::close, "connect-lineage-shutdown"));
    agent = alone;
    alone.start();
  }

  /**
   * The REST extension begins to work. It takes over from transforms that were there before it.
   *
   * @param properties those of the worker
   * @throws org.apache.kafka.common.config.ConfigException an option is wrong
   */
  public static synchronized AutoCloseable extensionRegistered(
      final Map<String, ?> properties, final ConnectClusterState state) {
    final WorkerProperties worker = new WorkerProperties(properties);
    OptionSources.unknown("Worker property", OptionNames.PREFIX, worker.options().keySet())
        .forEach(LOG::warn);
    final Map<String, String> options = OptionSources.merged(worker.options(), ofProcess());
    final ConnectorSettings settings = new ConnectorSettings(options, worker, OBSERVATIONS);
    if (agent != null) {
      agent.close();
    }
    final String id = UUID.randomUUID().toString();
    final AgentThread started =
        new AgentThread(
            Duration.ZERO,
            settings.ofWorker(),
            OBSERVATIONS,
            COUNTS,
            () -> cluster(state, worker, settings.ofWorker(), id),
            settings,
            new ConnectorLineageExtractor(),
            id);
    agent = started;
    started.start();
    return () -> extensionClosed(started);
  }

  private static Cluster cluster(
      final ConnectClusterState state,
      final WorkerProperties worker,
      final PluginSettings settings,
      final String id) {
    LOG.info(
        "Lineage by the REST extension: all connectors are followed. Schemas and columns are known of"
            + " those that have {} among their transforms.",
        TransformConfig.TRANSFORM);
    if (worker.group().isEmpty()) {
      LOG.info(
          "A standalone worker: its runs are told apart from those of others by its address. It keeps"
              + " no topic of configurations, so a connector that is deleted and made again between two"
              + " looks goes on with its run.");
    }
    return new RestCluster(state, worker, ConfigTopic.follow(worker, settings.state(), id));
  }

  private static void extensionClosed(final AgentThread started) {
    started.close();
    synchronized (Plugin.class) {
      if (agent == started) {
        agent = null;
      }
    }
  }

  private static Map<String, String> ofProcess() {
    return OptionSources.ofProcess(System.getProperties(), System.getenv());
  }

  private static Map<String, String> texts(final Map<String, ?> options) {
    final Map<String, String> texts = new HashMap<>();
    options.forEach(
        (name, value) -> {
          if (value != null) {
            texts.put(name, value.toString());
          }
        });
    return texts;
  }
}
