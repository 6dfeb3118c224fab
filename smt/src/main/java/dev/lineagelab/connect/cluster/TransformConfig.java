// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Configuration of this plugin's transform within a connector's configuration.
 *
 * @param alias of the transform
 * @param options of the transform, without those that contain references for the worker to resolve
 */
public record TransformConfig(String alias, Map<String, String> options) {
  /** Class name of the transform. */
  public static final String TRANSFORM = "dev.lineagelab.connect.OpenLineageTransform";

  /** Name that Connect accepts too, as long as no other plugin has it. */
  private static final String SIMPLE_NAME = TRANSFORM.substring(TRANSFORM.lastIndexOf('.') + 1);

  private static final String TRANSFORMS = "transforms";

  public TransformConfig {
    options = Map.copyOf(options);
  }

  /** First transform of this plugin in the chain; empty if there is none. */
  public static Optional<TransformConfig> of(final Map<String, String> config) {
    for (final String alias : config.getOrDefault(TRANSFORMS, "").split(",")) {
      final String prefix = prefix(alias.trim());
      if (isOwn(config.get(prefix + "type"))) {
        return Optional.of(new TransformConfig(alias.trim(), options(config, prefix)));
      }
    }
    return Optional.empty();
  }

  private static boolean isOwn(final String type) {
    return type != null && Set.of(TRANSFORM, SIMPLE_NAME).contains(type.trim());
  }

  /** Configuration of a connector of which only the transform's options are known. */
  static Map<String, String> minimalConfig(final Map<String, String> options) {
    final String prefix = prefix("lineage");
    final Map<String, String> config = new HashMap<>();
    options.forEach((name, value) -> config.put(prefix + name, value));
    config.put(prefix + "type", TRANSFORM);
    return config;
  }

  /** Options of a connector that affect the schemas at the transform's position in the chain. */
  public static Map<String, String> schemaOptions(final Map<String, String> config) {
    final Map<String, String> relevant = new TreeMap<>();
    for (final String name : new TreeSet<>(config.keySet())) {
      if (name.startsWith(TRANSFORMS)
          || name.startsWith("predicates")
          || name.startsWith("key.converter")
          || name.startsWith("value.converter")) {
        relevant.put(name, config.get(name));
      }
    }
    return relevant;
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
