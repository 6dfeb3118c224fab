// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Properties of the worker, which a REST extension receives and a transform does not. */
public final class WorkerProperties {
  /** Properties of a worker on which only the transform is installed. */
  public static final WorkerProperties UNKNOWN = new WorkerProperties(Map.of());

  private static final String BOOTSTRAP = "bootstrap.servers";

  private static final List<String> OF_CLIENTS =
      List.of(BOOTSTRAP, "security.", "sasl.", "ssl.", "client.dns.lookup");

  private final Map<String, String> properties;

  /** Convert the properties from the worker to text. */
  public WorkerProperties(final Map<String, ?> properties) {
    final Map<String, String> texts = new HashMap<>();
    properties.forEach(
        (name, value) -> {
          if (value != null) {
            texts.put(name, value.toString());
          }
        });
    this.properties = Map.copyOf(texts);
  }

  /** Return a property; null if it is not set. */
  public String get(final String name) {
    return properties.get(name);
  }

  /** Return the group id; empty for a standalone worker, and if it is not known. */
  public String group() {
    return properties.getOrDefault("group.id", "");
  }

  /** Return the first bootstrap server, as {@code host:port}. */
  public Optional<String> bootstrapServer() {
    return Optional.ofNullable(properties.get("bootstrap.servers"))
        .map(servers -> servers.split(",")[0].trim())
        .filter(server -> !server.isEmpty())
        .map(server -> server.substring(server.indexOf("://") < 0 ? 0 : server.indexOf("://") + 3));
  }

  /** Return the plugin's options among the properties, without their prefix. */
  public Map<String, String> options() {
    return withPrefix(properties, OptionNames.PREFIX);
  }

  /**
   * Return the options of the producer of events: those with the prefix {@code kafka.}, and the
   * worker's unless they name another cluster, which must not receive the worker's credentials.
   */
  Map<String, Object> eventClients(final Map<String, String> options) {
    final Map<String, String> own = withPrefix(options, OptionNames.KAFKA_PREFIX);
    final String servers = own.get(BOOTSTRAP);
    final boolean isWorkersCluster = servers == null || servers.equals(properties.get(BOOTSTRAP));
    final Map<String, Object> clients = isWorkersCluster ? clients() : new HashMap<>();
    clients.putAll(own);
    return clients;
  }

  /** Return the options of Kafka clients that use the worker's own cluster. */
  Map<String, Object> clients() {
    final Map<String, Object> clients = new HashMap<>();
    properties.forEach(
        (name, value) -> {
          if (OF_CLIENTS.stream().anyMatch(name::startsWith)) {
            clients.put(name, value);
          }
        });
    return clients;
  }

  /** Return the properties with a prefix, without it. */
  Map<String, String> withPrefix(final String prefix) {
    return withPrefix(properties, prefix);
  }

  static Map<String, String> withPrefix(final Map<String, String> all, final String prefix) {
    final Map<String, String> found = new HashMap<>();
    all.forEach(
        (name, value) -> {
          if (name.startsWith(prefix)) {
            found.put(name.substring(prefix.length()), value);
          }
        });
    return found;
  }

  /** Omits the values, which contain secrets. */
  @Override
  public String toString() {
    return "worker properties of group " + group();
  }
}
