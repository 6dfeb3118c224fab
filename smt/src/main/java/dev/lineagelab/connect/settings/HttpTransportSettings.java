// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.types.Password;

/**
 * Settings of the HTTP transport.
 *
 * @param url base of the paths
 * @param endpoint path that accepts one event
 * @param batchEndpoint path that accepts an array of events; empty to send one event per request
 * @param gzip true to compress requests
 * @param headers additional headers; their values are credentials
 */
public record HttpTransportSettings(
    String url,
    String endpoint,
    String batchEndpoint,
    boolean gzip,
    Duration connectTimeout,
    Duration requestTimeout,
    Map<String, Password> headers,
    TlsSettings tls) {
  public HttpTransportSettings {
    headers = Map.copyOf(headers);
  }

  static HttpTransportSettings of(final AbstractConfig config) {
    return new HttpTransportSettings(
        config.getString(OptionNames.URL),
        config.getString(OptionNames.ENDPOINT),
        config.getString(OptionNames.BATCH_ENDPOINT),
        "gzip".equals(config.getString(OptionNames.COMPRESSION)),
        Duration.ofMillis(config.getLong(OptionNames.CONNECT_TIMEOUT_MS)),
        Duration.ofMillis(config.getLong(OptionNames.REQUEST_TIMEOUT_MS)),
        headers(config),
        TlsSettings.of(config));
  }

  private static Map<String, Password> headers(final AbstractConfig config) {
    final Password key = config.getPassword(OptionNames.API_KEY);
    final String token = bearerToken(config);
    if (!token.isEmpty()) {
      return Map.of("Authorization", new Password("Bearer " + token));
    }
    return key.value().isEmpty()
        ? Map.of()
        : Map.of(config.getString(OptionNames.API_KEY_HEADER), key);
  }

  private static String bearerToken(final AbstractConfig config) {
    final String token = config.getPassword(OptionNames.BEARER_TOKEN).value();
    final String key = config.getPassword(OptionNames.AUTH_API_KEY).value();
    final String type = config.getString(OptionNames.AUTH_TYPE);
    if (type.equals(OptionDefinitions.API_KEY_TYPE) && token.isEmpty() && key.isEmpty()) {
      throw new ConfigException(
          OptionNames.AUTH_TYPE, type, "is set, but " + OptionNames.AUTH_API_KEY + " is not.");
    }
    return token.isEmpty() ? key : token;
  }

  /** Destination of events, without secrets. */
  @Override
  public String toString() {
    return "POST " + url + (batchEndpoint.isEmpty() ? endpoint : batchEndpoint);
  }
}
