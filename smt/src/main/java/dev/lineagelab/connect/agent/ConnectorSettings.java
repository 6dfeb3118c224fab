// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.model.ConnectorView;
import dev.lineagelab.connect.observe.Observations;
import dev.lineagelab.connect.observe.TransformConfig;
import dev.lineagelab.connect.settings.OptionSources;
import dev.lineagelab.connect.settings.Settings;
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
  private final Settings workerSettings;
  private final Observations observations;
  private final Map<Map<String, String>, Settings> known = new HashMap<>();

  ConnectorSettings(
      final Map<String, String> workerOptions,
      final WorkerProperties worker,
      final Observations observations) {
    this.workerOptions = workerOptions;
    this.worker = worker;
    this.workerSettings = Settings.of(workerOptions, worker);
    this.observations = observations;
  }

  Settings ofWorker() {
    return workerSettings;
  }

  /** What is wrong with a transform's options costs it those options, and no more. */
  Settings of(final ConnectorView connector) {
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

  private Settings read(final String connector, final Map<String, String> own) {
    try {
      return Settings.of(OptionSources.merged(own, workerOptions), worker);
    } catch (final ConfigException e) {
      LOG.error(
          "The lineage options of connector {} are not used, the worker's are: {}",
          connector,
          e.getMessage());
      return workerSettings;
    }
  }
}
