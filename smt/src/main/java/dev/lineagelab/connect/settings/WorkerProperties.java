// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The properties of the worker, of which a REST extension is given all and a transform none. */
public final class WorkerProperties {
  /** What is known where only the transform is installed. */
  public static final WorkerProperties UNKNOWN = new WorkerProperties(Map.of());

  private static final List<String> OF_CLIENTS =
      List.of("bootstrap.servers", "security.", "sasl.", "ssl.", "client.dns.lookup");

  private final Map<String, String> properties;

  /** Takes the properties as the worker hands them over: values are texts, or become so. */
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

  /** A property; null if it is not set. */
  public String get(final String name) {
    return properties.get(name);
  }

  /** The group of workers; empty for a standalone worker and where it is not known. */
  public String group() {
    return properties.getOrDefault("group.id", "");
  }

  /** First of the bootstrap servers, as {@code host:port}. */
  public Optional<String> bootstrapServer() {
    return Optional.ofNullable(properties.get("bootstrap.servers"))
        .map(servers -> servers.split(",")[0].trim())
        .filter(server -> !server.isEmpty())
        .map(server -> server.substring(server.indexOf("://") < 0 ? 0 : server.indexOf("://") + 3));
  }

  /** The plugin's own options among the properties, without their prefix. */
  public Map<String, String> options() {
    return withPrefix(properties, OptionNames.PREFIX);
  }

  /**
   * Options of the plugin's own Kafka clients: the worker's own, and over them those that are given
   * with the prefix {@code kafka.}.
   */
  Map<String, Object> clients(final Map<String, String> options) {
    final Map<String, Object> clients = new HashMap<>();
    properties.forEach(
        (name, value) -> {
          if (OF_CLIENTS.stream().anyMatch(name::startsWith)) {
            clients.put(name, value);
          }
        });
    clients.putAll(withPrefix(options, OptionNames.KAFKA_PREFIX));
    return clients;
  }

  /** Those with a prefix, without it. */
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

  /** Without the values, among which are secrets. */
  @Override
  public String toString() {
    return "worker properties of group " + group();
  }
}
