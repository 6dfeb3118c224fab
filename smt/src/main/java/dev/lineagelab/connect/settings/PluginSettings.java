// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import dev.lineagelab.connect.model.DatasetNamespaces;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigException;

/**
 * The options in force for the whole worker or for one connector, each read once.
 *
 * @param jobNamespace namespace of the jobs
 * @param names how namespaces are called
 * @param datasets what the option of that name declares; empty if nothing
 * @param untransformed whether connectors without the transform are told of
 * @param interval between two events of a connector that runs
 * @param pollInterval between two looks at the connectors
 * @param transformOnlyAfter how long the transform waits for the REST extension
 * @param registry where versions of schemas come from
 * @param state where runs outlive the worker
 * @param transport how events leave
 * @param queue how they wait until then
 */
public record PluginSettings(
    boolean enabled,
    String jobNamespace,
    DatasetNamespaces names,
    String datasets,
    boolean untransformed,
    Duration interval,
    Duration pollInterval,
    Duration transformOnlyAfter,
    RegistrySettings registry,
    StateSettings state,
    TransportSettings transport,
    QueueSettings queue) {
  private static final String DEFAULT_NAMESPACE = "kafka-connect";
  private static final String UNKNOWN_KAFKA = "kafka://unknown";

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
    return new PluginSettings(
        config.getBoolean(OptionNames.ENABLED),
        firstNonEmpty(
            config.getString(OptionNames.JOB_NAMESPACE), worker.group(), DEFAULT_NAMESPACE),
        names(config, worker),
        config.getString(OptionNames.DATASETS),
        "include".equals(config.getString(OptionNames.UNTRANSFORMED)),
        Duration.ofMillis(config.getLong(OptionNames.INTERVAL_MS)),
        Duration.ofMillis(config.getLong(OptionNames.POLL_INTERVAL_MS)),
        Duration.ofMillis(config.getLong(OptionNames.TRANSFORM_ONLY_AFTER_MS)),
        RegistrySettings.of(config, worker),
        StateSettings.of(config, worker.clients(options)),
        TransportSettings.of(config, worker.clients(options)),
        QueueSettings.of(config));
  }

  private static DatasetNamespaces names(
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
}
