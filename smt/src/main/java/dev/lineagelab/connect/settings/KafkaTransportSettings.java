// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;

/**
 * Settings of the Kafka transport.
 *
 * @param gzip true to compress batches
 * @param clients options of the Kafka producer
 */
public record KafkaTransportSettings(
    String topic, boolean gzip, Duration requestTimeout, Map<String, Object> clients) {
  public KafkaTransportSettings {
    clients = Map.copyOf(clients);
  }

  static KafkaTransportSettings of(final AbstractConfig config, final Map<String, Object> clients) {
    return new KafkaTransportSettings(
        config.getString(OptionNames.TOPIC),
        "gzip".equals(config.getString(OptionNames.COMPRESSION)),
        Duration.ofMillis(config.getLong(OptionNames.REQUEST_TIMEOUT_MS)),
        clients);
  }

  /** Destination of events, without the clients' options, which contain secrets. */
  @Override
  public String toString() {
    return "Kafka topic " + topic;
  }
}
