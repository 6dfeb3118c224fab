// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;

/**
 * Settings of the durable run state.
 *
 * @param topic empty to keep state in memory
 * @param replicationFactor -1 for the broker's default
 * @param clients options of Kafka clients; empty if the cluster is not known
 */
public record StateSettings(String topic, short replicationFactor, Map<String, Object> clients) {
  public StateSettings {
    clients = Map.copyOf(clients);
  }

  static StateSettings of(final AbstractConfig config, final Map<String, Object> clients) {
    return new StateSettings(
        config.getString(OptionNames.STATE_TOPIC),
        config.getShort(OptionNames.STATE_REPLICATION_FACTOR),
        clients);
  }

  /** Return true if there is a topic, and a Kafka cluster to store it. */
  public boolean isDurable() {
    return !topic.isEmpty() && clients.containsKey("bootstrap.servers");
  }

  /** Omits the clients' options, which contain secrets. */
  @Override
  public String toString() {
    return isDurable() ? "topic " + topic : "memory";
  }
}
