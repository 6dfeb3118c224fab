// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** What no check of a single option finds: options that do not go together, or do not exist. */
final class ConfigProblems {
  private ConfigProblems() {}

  /**
   * Checks a connector's options as they were given.
   *
   * @return option to what is wrong and what to do; empty if all is well
   */
  static Map<String, String> find(final Map<String, String> options) {
    final Map<String, String> problems = new TreeMap<>();
    findUnknown(options, problems);
    findCredentials(options, problems);
    if (isChoice(options, Options.TIMESTAMP_EXTRACTOR, "RecordField")
        && isBlank(options, Options.TIMESTAMP_FIELD)) {
      problems.put(
          Options.TIMESTAMP_FIELD,
          "is missing: name the field that " + Options.TIMESTAMP_EXTRACTOR + "=RecordField reads");
    }
    if (isChoice(options, Options.BEHAVIOR_ON_NULL_VALUES, "write")
        && !Boolean.parseBoolean(trimmed(options, Options.STORE_KEYS))) {
      problems.put(
          Options.BEHAVIOR_ON_NULL_VALUES,
          "write needs "
              + Options.STORE_KEYS
              + "=true: without its key a null tells nothing. Set it, or choose ignore or fail");
    }
    if (isChoice(options, Options.FORMAT_CLASS, "AvroFormat")) {
      findAvro(options, problems);
    }
    return problems;
  }

  private static void findUnknown(
      final Map<String, String> options, final Map<String, String> problems) {
    final Set<String> known = new TreeSet<>(OptionDefinitions.all().names());
    for (final String name : options.keySet()) {
      if (!known.contains(name) && Options.PREFIXES.stream().anyMatch(name::startsWith)) {
        problems.put(
            name, "is no option of this connector: remove it, or correct it to one of " + known);
      }
    }
  }

  private static void findCredentials(
      final Map<String, String> options, final Map<String, String> problems) {
    if (isBlank(options, Options.ACCESS_KEY) != isBlank(options, Options.SECRET_KEY)) {
      final boolean hasKey = !isBlank(options, Options.ACCESS_KEY);
      final String given = hasKey ? Options.ACCESS_KEY : Options.SECRET_KEY;
      final String missing = hasKey ? Options.SECRET_KEY : Options.ACCESS_KEY;
      problems.put(missing, "is missing: " + given + " is set. Set both, or neither");
    }
  }

  private static void findAvro(
      final Map<String, String> options, final Map<String, String> problems) {
    if (!isBlank(options, Options.COMPRESSION) && !isChoice(options, Options.COMPRESSION, "none")) {
      problems.put(
          Options.COMPRESSION,
          "is for JsonFormat: use " + Options.AVRO_CODEC + " with AvroFormat, and leave this out");
    }
    if (isChoice(options, "value.converter", "org.apache.kafka.connect.json.JsonConverter")
        && trimmed(options, "value.converter.schemas.enable").equalsIgnoreCase("false")) {
      problems.put(
          Options.FORMAT_CLASS,
          "AvroFormat needs values with a schema, and value.converter gives none: choose JsonFormat, "
              + "or a converter with schemas");
    }
  }

  private static boolean isBlank(final Map<String, String> options, final String name) {
    return trimmed(options, name).isEmpty();
  }

  private static boolean isChoice(
      final Map<String, String> options, final String name, final String choice) {
    return OptionChecks.normal(trimmed(options, name)).equals(OptionChecks.normal(choice));
  }

  private static String trimmed(final Map<String, String> options, final String name) {
    final String value = options.get(name);
    return value == null ? "" : value.trim();
  }
}
