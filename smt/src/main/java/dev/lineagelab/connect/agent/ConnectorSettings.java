// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.cluster.TransformConfig;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.settings.OptionSources;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.settings.WorkerProperties;
import dev.lineagelab.connect.tasks.TaskObservations;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.config.ConfigException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settings of each connector: options of its transform, and the worker's for all others. */
final class ConnectorSettings {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectorSettings.class);

  private final Map<String, String> workerOptions;
  private final WorkerProperties worker;
  private final PluginSettings workerSettings;
  private final TaskObservations observations;
  private final Map<Map<String, String>, PluginSettings> byOptions = new HashMap<>();

  ConnectorSettings(
      final Map<String, String> workerOptions,
      final WorkerProperties worker,
      final TaskObservations observations) {
    this.workerOptions = workerOptions;
    this.worker = worker;
    this.workerSettings = PluginSettings.of(workerOptions, worker);
    this.observations = observations;
  }

  PluginSettings ofWorker() {
    return workerSettings;
  }

  /** Settings of a connector; those of the worker if its transform has invalid options. */
  PluginSettings of(final ConnectorDefinition connector) {
    final Optional<TransformConfig> transform = TransformConfig.of(connector.config());
    if (connector.complete() && transform.isEmpty()) {
      return workerSettings;
    }
    final Map<String, String> own =
        OptionSources.merge(
            observations.options(connector.name()).orElse(Map.of()),
            transform.map(TransformConfig::options).orElse(Map.of()));
    return byOptions.computeIfAbsent(own, options -> parse(connector.name(), options));
  }

  private PluginSettings parse(final String connector, final Map<String, String> own) {
    try {
      return PluginSettings.of(OptionSources.merge(own, workerOptions), worker);
    } catch (final ConfigException e) {
      LOG.error(
          "Invalid lineage options of connector {}, using those of the worker: {}",
          connector,
          e.getMessage());
      return workerSettings;
    }
  }
}
