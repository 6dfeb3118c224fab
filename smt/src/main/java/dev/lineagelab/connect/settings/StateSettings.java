// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;

/**
 * Where runs outlive the worker.
 *
 * @param topic empty for memory only
 * @param replicationFactor -1 for the broker's default
 * @param clients options of Kafka clients; empty where no cluster is known
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

  /** Whether there is a topic, and a cluster to find it in. */
  public boolean isDurable() {
    return !topic.isEmpty() && clients.containsKey("bootstrap.servers");
  }

  /** Without the clients' options, among which are secrets. */
  @Override
  public String toString() {
    return isDurable() ? "topic " + topic : "memory";
  }
}
