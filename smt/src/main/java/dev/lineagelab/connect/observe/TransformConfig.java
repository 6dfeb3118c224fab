// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * This plugin's transform within a connector's configuration.
 *
 * @param alias its name there
 * @param options its own, but for those that only the worker can resolve
 */
public record TransformConfig(String alias, Map<String, String> options) {
  /** The transform's class. */
  public static final String TRANSFORM = "dev.lineagelab.connect.OpenLineageTransform";

  private static final String TRANSFORMS = "transforms";

  public TransformConfig {
    options = Map.copyOf(options);
  }

  /** The first one of the chain; empty if there is none. */
  public static Optional<TransformConfig> of(final Map<String, String> config) {
    for (final String alias : config.getOrDefault(TRANSFORMS, "").split(",")) {
      final String prefix = prefix(alias.trim());
      if (TRANSFORM.equals(config.get(prefix + "type"))) {
        return Optional.of(new TransformConfig(alias.trim(), options(config, prefix)));
      }
    }
    return Optional.empty();
  }

  /** The configuration of a connector of which nothing is known but the transform's options. */
  static Map<String, String> alone(final Map<String, String> options) {
    final String prefix = prefix("lineage");
    final Map<String, String> config = new HashMap<>();
    options.forEach((name, value) -> config.put(prefix + name, value));
    config.put(prefix + "type", TRANSFORM);
    return config;
  }

  /** What of a configuration decides on the schemas at the transform's place. */
  public static Map<String, String> chain(final Map<String, String> config) {
    final Map<String, String> chain = new TreeMap<>();
    for (final String name : new TreeSet<>(config.keySet())) {
      if (name.startsWith(TRANSFORMS)
          || name.startsWith("predicates")
          || name.startsWith("key.converter")
          || name.startsWith("value.converter")) {
        chain.put(name, config.get(name));
      }
    }
    return chain;
  }

  private static Map<String, String> options(
      final Map<String, String> config, final String prefix) {
    final Map<String, String> options = new HashMap<>();
    config.forEach(
        (name, value) -> {
          if (name.startsWith(prefix) && value != null && !value.contains("${")) {
            options.put(name.substring(prefix.length()), value);
          }
        });
    return options;
  }

  private static String prefix(final String alias) {
    return TRANSFORMS + "." + alias + ".";
  }
}
