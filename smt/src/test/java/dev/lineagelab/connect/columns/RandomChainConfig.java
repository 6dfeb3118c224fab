// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Random configurations of transform chains, most of which accept records of {@link RandomSchemas}.
 */
final class RandomChainConfig {
  private static final String KAFKA = "org.apache.kafka.connect.transforms.";
  private static final List<String> FIELD_NAMES =
      List.of("a", "b", "c", "d", "e", "x", "y", "a_b", "b.a");

  private final Random random;
  private final Map<String, String> config = new HashMap<>();
  private final List<String> aliases = new ArrayList<>();
  private final boolean withPredicates;

  RandomChainConfig(final Random random, final boolean withPredicates) {
    this.random = random;
    this.withPredicates = withPredicates;
  }

  /** Add a transform. */
  RandomChainConfig add(final String className, final Map<String, String> options) {
    final String alias = "t" + aliases.size();
    aliases.add(alias);
    config.put("transforms." + alias + ".type", className);
    options.forEach((name, value) -> config.put("transforms." + alias + "." + name, value));
    if (withPredicates && random.nextInt(3) == 0) {
      config.put("transforms." + alias + ".predicate", predicate());
      config.put("transforms." + alias + ".negate", Boolean.toString(random.nextBoolean()));
    }
    return this;
  }

  /** Return the configuration. */
  Map<String, String> config() {
    config.put("transforms", String.join(",", aliases));
    return config;
  }

  /** Return the aliases of a configuration, in order. */
  static List<String> aliases(final Map<String, String> config) {
    return List.of(config.get("transforms").split(","));
  }

  /** Add random transforms of Kafka and Iceberg. */
  RandomChainConfig addRandomTransforms(final int count) {
    for (int i = 0; i < count; i++) {
      addOne();
    }
    return this;
  }

  private void addOne() {
    switch (random.nextInt(21)) {
      case 0 -> side("ReplaceField", Map.of("exclude", names()));
      case 1 -> side("ReplaceField", Map.of("include", names() + "," + names()));
      case 2, 3 -> side("ReplaceField", Map.of("renames", name() + ":" + name()));
      case 4 -> side("ReplaceField", Map.of("exclude", name(), "renames", name() + ":" + name()));
      case 19 -> side("ReplaceField", Map.of("renames", renames()));
      case 20 -> side("ReplaceField", Map.of("exclude", names(), "renames", renames()));
      case 5 -> side("Cast", Map.of("spec", name() + ":string," + name() + ":int64"));
      case 6 -> side("Cast", Map.of("spec", random.nextBoolean() ? "string" : "int32"));
      case 7 -> side("MaskField", Map.of("fields", name()));
      case 8 -> insert();
      case 9 -> side("ExtractField", Map.of("field", name()));
      case 10 ->
          side(
              "ExtractField", Map.of("field", name() + "." + name(), "field.syntax.version", "V2"));
      case 11 -> side("HoistField", Map.of("field", name()));
      case 12 -> side("Flatten", Map.of("delimiter", random.nextBoolean() ? "_" : "."));
      case 13 -> add(KAFKA + "ValueToKey", Map.of("fields", names()));
      case 14 -> timestamp();
      case 15 -> headers();
      case 16 -> route();
      case 17 -> side("SetSchemaMetadata", Map.of("schema.name", "renamed"));
      default ->
          add(
              "org.apache.iceberg.connect.transforms.CopyValue",
              Map.of("source.field", name(), "target.field", name()));
    }
  }

  private void side(final String simpleName, final Map<String, String> options) {
    add(KAFKA + simpleName + (random.nextInt(4) == 0 ? "$Key" : "$Value"), options);
  }

  private void insert() {
    final Map<String, String> options = new HashMap<>();
    for (final String part : List.of("topic", "partition", "offset", "timestamp", "static")) {
      if (random.nextInt(3) == 0) {
        options.put(part + ".field", name() + List.of("", "?", "!").get(random.nextInt(3)));
      }
    }
    options.put("static.value", "constant");
    options.putIfAbsent("topic.field", "from");
    side("InsertField", options);
  }

  private void timestamp() {
    final Map<String, String> options = new HashMap<>();
    options.put("target.type", List.of("string", "unix", "Timestamp").get(random.nextInt(3)));
    options.put("format", "yyyy-MM-dd HH:mm:ss.SSS");
    if (random.nextInt(4) > 0) {
      options.put("field", name());
    }
    side("TimestampConverter", options);
  }

  private void headers() {
    switch (random.nextInt(3)) {
      case 0 -> add(KAFKA + "DropHeaders", Map.of("headers", "h1"));
      case 1 -> add(KAFKA + "InsertHeader", Map.of("header", "h2", "value.literal", "1"));
      default ->
          side(
              "HeaderFrom",
              Map.of(
                  "fields",
                  name(),
                  "headers",
                  "h3",
                  "operation",
                  random.nextBoolean() ? "move" : "copy"));
    }
  }

  private void route() {
    switch (random.nextInt(4)) {
      case 0 -> add(KAFKA + "RegexRouter", Map.of("regex", "t(.)", "replacement", "other-$1"));
      case 1 -> add(KAFKA + "TimestampRouter", Map.of());
      case 2 -> add("org.apache.iceberg.connect.transforms.KafkaMetadataTransform", metadata());
      default -> {
        if (withPredicates && random.nextInt(4) == 0) {
          add(KAFKA + "Filter", Map.of("predicate", predicate()));
        } else {
          add(KAFKA + "RegexRouter", Map.of("regex", ".*", "replacement", "all"));
        }
      }
    }
  }

  private Map<String, String> metadata() {
    return Map.of(
        "nested", Boolean.toString(random.nextBoolean()), "external_field", "cluster,here");
  }

  private String predicate() {
    final String prefix = KAFKA + "predicates.";
    final int which = random.nextInt(4);
    final String name = "p" + which;
    final String base = "predicates." + name + ".";
    switch (which) {
      case 0 -> {
        config.put(base + "type", prefix + "TopicNameMatches");
        config.put(base + "pattern", "t1|all");
      }
      case 1 -> config.put(base + "type", prefix + "RecordIsTombstone");
      default -> {
        config.put(base + "type", prefix + "HasHeaderKey");
        config.put(base + "name", "h" + which);
      }
    }
    return name;
  }

  private String name() {
    return FIELD_NAMES.get(random.nextInt(FIELD_NAMES.size()));
  }

  /** Return two renames, sometimes a swap; the fields may or may not exist. */
  private String renames() {
    final String one = name();
    final String other = name();
    return random.nextBoolean()
        ? one + ":" + other + "," + other + ":" + one
        : one + ":" + name() + "," + other + ":" + name();
  }

  private String names() {
    final String first = name();
    final String second = name();
    return first.equals(second) ? first : first + "," + second;
  }
}
