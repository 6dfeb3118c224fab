// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.types.Password;

/**
 * How events leave the worker. Equal settings share one queue.
 *
 * @param clients options of the Kafka producer; empty for other kinds
 */
public record TransportSettings(
    Kind kind,
    String url,
    String endpoint,
    String batchEndpoint,
    boolean gzip,
    Duration connectTimeout,
    Duration requestTimeout,
    Map<String, Password> headers,
    TlsSettings tls,
    String topic,
    Map<String, Object> clients,
    String file) {
  /** The kinds of transport. */
  public enum Kind {
    HTTP,
    KAFKA,
    FILE,
    NONE
  }

  public TransportSettings {
    headers = Map.copyOf(headers);
    clients = Map.copyOf(clients);
  }

  static TransportSettings of(final AbstractConfig config, final Map<String, Object> clients) {
    final Kind kind = kind(config);
    require(kind == Kind.HTTP, config, OptionNames.URL);
    require(kind == Kind.FILE, config, OptionNames.FILE);
    if (kind == Kind.KAFKA && !clients.containsKey("bootstrap.servers")) {
      throw new ConfigException(
          OptionNames.TRANSPORT
              + "=kafka: set "
              + OptionNames.KAFKA_PREFIX
              + "bootstrap.servers as well");
    }
    return new TransportSettings(
        kind,
        config.getString(OptionNames.URL),
        config.getString(OptionNames.ENDPOINT),
        config.getString(OptionNames.BATCH_ENDPOINT),
        "gzip".equals(config.getString(OptionNames.COMPRESSION)),
        Duration.ofMillis(config.getLong(OptionNames.CONNECT_TIMEOUT_MS)),
        Duration.ofMillis(config.getLong(OptionNames.REQUEST_TIMEOUT_MS)),
        headers(config),
        TlsSettings.of(config),
        config.getString(OptionNames.TOPIC),
        kind == Kind.KAFKA ? clients : Map.of(),
        config.getString(OptionNames.FILE));
  }

  private static Kind kind(final AbstractConfig config) {
    final String given = config.getString(OptionNames.TRANSPORT);
    if (given.isEmpty()) {
      return config.getString(OptionNames.URL).isEmpty() ? Kind.NONE : Kind.HTTP;
    }
    return Kind.valueOf(given.toUpperCase(Locale.ROOT));
  }

  private static void require(
      final boolean isNeeded, final AbstractConfig config, final String option) {
    if (isNeeded && config.getString(option).isEmpty()) {
      throw new ConfigException(
          option + " is missing: " + config.getString(OptionNames.TRANSPORT) + " needs it");
    }
  }

  private static Map<String, Password> headers(final AbstractConfig config) {
    final Password key = config.getPassword(OptionNames.API_KEY);
    final Password token = config.getPassword(OptionNames.BEARER_TOKEN);
    if (!token.value().isEmpty()) {
      return Map.of("Authorization", new Password("Bearer " + token.value()));
    }
    return key.value().isEmpty()
        ? Map.of()
        : Map.of(config.getString(OptionNames.API_KEY_HEADER), key);
  }

  /** Where to, without any secret. */
  @Override
  public String toString() {
    return switch (kind) {
      case HTTP -> "POST " + url + (batchEndpoint.isEmpty() ? endpoint : batchEndpoint);
      case KAFKA -> "Kafka topic " + topic;
      case FILE -> "file " + file;
      case NONE -> "nowhere";
    };
  }
}
