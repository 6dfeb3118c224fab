// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import dev.lineagelab.connect.model.DatasetNamespaces;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigException;

/** Settings of the worker, or of one connector. */
public final class PluginSettings {
  private static final String DEFAULT_NAMESPACE = "kafka-connect";
  private static final String UNKNOWN_KAFKA = "kafka://unknown";

  private final boolean enabled;
  private final String jobNamespace;
  private final DatasetNamespaces namespaces;
  private final boolean includesUntransformed;
  private final boolean includesStackTraces;
  private final Duration eventInterval;
  private final Duration pollInterval;
  private final Duration transformOnlyAfter;
  private final RegistrySettings registry;
  private final StateSettings state;
  private final TransportSettings transport;
  private final QueueSettings queue;

  private PluginSettings(
      final AbstractConfig config,
      final WorkerProperties worker,
      final Map<String, Object> eventClients) {
    enabled = config.getBoolean(OptionNames.ENABLED);
    jobNamespace =
        firstNonEmpty(
            config.getString(OptionNames.JOB_NAMESPACE), worker.group(), DEFAULT_NAMESPACE);
    namespaces = namespaces(config, worker);
    includesUntransformed = "include".equals(config.getString(OptionNames.UNTRANSFORMED));
    includesStackTraces = "include".equals(config.getString(OptionNames.STACK_TRACES));
    eventInterval = Duration.ofMillis(config.getLong(OptionNames.INTERVAL_MS));
    pollInterval = Duration.ofMillis(config.getLong(OptionNames.POLL_INTERVAL_MS));
    transformOnlyAfter = Duration.ofMillis(config.getLong(OptionNames.TRANSFORM_ONLY_AFTER_MS));
    registry = RegistrySettings.of(config, worker);
    state = StateSettings.of(config, worker.clients());
    transport = TransportSettings.of(config, eventClients);
    queue = QueueSettings.of(config);
  }

  /**
   * Read the settings.
   *
   * @param options of the plugin, without prefix
   * @param worker the worker's properties; empty where they are not known
   * @throws ConfigException if an option is invalid; the message names it and never contains a
   *     secret
   */
  public static PluginSettings of(
      final Map<String, String> options, final WorkerProperties worker) {
    final AbstractConfig config = new AbstractConfig(OptionDefinitions.all(), options, false);
    return new PluginSettings(config, worker, worker.eventClients(options));
  }

  private static DatasetNamespaces namespaces(
      final AbstractConfig config, final WorkerProperties worker) {
    final Map<String, String> canonical = new TreeMap<>();
    for (final String entry : config.getList(OptionNames.NAMESPACES)) {
      final int at = entry.indexOf('=');
      canonical.put(entry.substring(0, at).trim(), entry.substring(at + 1).trim());
    }
    final String given = config.getString(OptionNames.KAFKA_NAMESPACE);
    final String found =
        worker.bootstrapServer().map(server -> "kafka://" + server).orElse(UNKNOWN_KAFKA);
    final String kafka = given.isEmpty() ? canonical.getOrDefault(found, found) : given;
    return new DatasetNamespaces(
        kafka,
        namespace ->
            canonical.getOrDefault(namespace, found.equals(namespace) ? kafka : namespace));
  }

  private static String firstNonEmpty(final String... texts) {
    for (final String text : texts) {
      if (text != null && !text.isEmpty()) {
        return text;
      }
    }
    throw new IllegalArgumentException("all are empty");
  }

  /** Return false if no events are sent. */
  public boolean enabled() {
    return enabled;
  }

  /** Return the OpenLineage namespace of jobs. */
  public String jobNamespace() {
    return jobNamespace;
  }

  /** Return the canonical namespaces of datasets. */
  public DatasetNamespaces namespaces() {
    return namespaces;
  }

  /** Return true if connectors without the transform emit lineage too. */
  public boolean includesUntransformed() {
    return includesUntransformed;
  }

  /** Return true if events of failed connectors have stack traces, which can quote rows. */
  public boolean includesStackTraces() {
    return includesStackTraces;
  }

  /** Return the interval between events of a running connector. */
  public Duration eventInterval() {
    return eventInterval;
  }

  /** Return the poll interval for the state of connectors. */
  public Duration pollInterval() {
    return pollInterval;
  }

  /** Return the time that the transform waits for the REST extension. */
  public Duration transformOnlyAfter() {
    return transformOnlyAfter;
  }

  /** Return the settings of schema version lookups. */
  public RegistrySettings registry() {
    return registry;
  }

  /** Return the settings of the durable run state. */
  public StateSettings state() {
    return state;
  }

  /** Return the settings of the event transport. */
  public TransportSettings transport() {
    return transport;
  }

  /** Return the settings of the event queue. */
  public QueueSettings queue() {
    return queue;
  }
}
