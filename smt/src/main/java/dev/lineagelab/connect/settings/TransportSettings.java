// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.util.Locale;
import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigException;

/**
 * Settings of the event transport. Connectors with equal settings share one queue.
 *
 * @param kafka without client options if another kind of transport is selected
 * @param file path; empty if another kind of transport is selected
 * @param config path of the configuration of OpenLineage's client; empty for its usual places
 */
public record TransportSettings(
    Kind kind,
    HttpTransportSettings http,
    KafkaTransportSettings kafka,
    String file,
    String config) {
  /** Kind of transport. */
  public enum Kind {
    HTTP,
    KAFKA,
    FILE,
    OPENLINEAGE,
    NONE
  }

  static TransportSettings of(final AbstractConfig config, final Map<String, Object> clients) {
    final Kind kind = kind(config);
    require(kind == Kind.HTTP, config, OptionNames.URL);
    require(kind == Kind.FILE, config, OptionNames.FILE);
    if (kind == Kind.KAFKA && !clients.containsKey("bootstrap.servers")) {
      throw new ConfigException(
          OptionNames.TRANSPORT
              + "=kafka requires the option "
              + OptionNames.KAFKA_PREFIX
              + "bootstrap.servers");
    }
    return new TransportSettings(
        kind,
        HttpTransportSettings.of(config),
        KafkaTransportSettings.of(config, kind == Kind.KAFKA ? clients : Map.of()),
        config.getString(OptionNames.FILE),
        config.getString(OptionNames.CONFIG));
  }

  private static Kind kind(final AbstractConfig config) {
    final String given = config.getString(OptionNames.TRANSPORT);
    if (given.isEmpty()) {
      return config.getString(OptionNames.URL).isEmpty() ? Kind.NONE : Kind.HTTP;
    }
    return Kind.valueOf(given.toUpperCase(Locale.ROOT));
  }

  private static void require(
      final boolean isRequired, final AbstractConfig config, final String option) {
    if (isRequired && config.getString(option).isEmpty()) {
      throw new ConfigException(
          option
              + " is missing; it is required by "
              + OptionNames.TRANSPORT
              + "="
              + config.getString(OptionNames.TRANSPORT));
    }
  }

  /** Destination of events, without secrets. */
  @Override
  public String toString() {
    return switch (kind) {
      case HTTP -> http.toString();
      case KAFKA -> kafka.toString();
      case FILE -> "file " + file;
      case OPENLINEAGE ->
          "OpenLineage's client" + (config.isEmpty() ? "" : ", configured by " + config);
      case NONE -> "nowhere";
    };
  }
}
