// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.observe.Observations;
import dev.lineagelab.connect.observe.TransformConfig;
import dev.lineagelab.connect.settings.OptionSources;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.config.ConfigException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The settings of each connector: its transform's options over those of the worker. */
final class ConnectorSettings {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectorSettings.class);

  private final Map<String, String> workerOptions;
  private final WorkerProperties worker;
  private final PluginSettings workerSettings;
  private final Observations observations;
  private final Map<Map<String, String>, PluginSettings> known = new HashMap<>();

  ConnectorSettings(
      final Map<String, String> workerOptions,
      final WorkerProperties worker,
      final Observations observations) {
    this.workerOptions = workerOptions;
    this.worker = worker;
    this.workerSettings = PluginSettings.of(workerOptions, worker);
    this.observations = observations;
  }

  PluginSettings ofWorker() {
    return workerSettings;
  }

  /** What is wrong with a transform's options costs it those options, and no more. */
  PluginSettings of(final ConnectorDefinition connector) {
    final Optional<TransformConfig> transform = TransformConfig.of(connector.config());
    if (connector.complete() && transform.isEmpty()) {
      return workerSettings;
    }
    final Map<String, String> own =
        OptionSources.merged(
            observations.options(connector.name()).orElse(Map.of()),
            transform.map(TransformConfig::options).orElse(Map.of()));
    return known.computeIfAbsent(own, options -> read(connector.name(), options));
  }

  private PluginSettings read(final String connector, final Map<String, String> own) {
    try {
      return PluginSettings.of(OptionSources.merged(own, workerOptions), worker);
    } catch (final ConfigException e) {
      LOG.error(
          "The lineage options of connector {} are not used, the worker's are: {}",
          connector,
          e.getMessage());
      return workerSettings;
    }
  }
}
