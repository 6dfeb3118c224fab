// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;

/** Sources of options, and warnings about unknown options. */
public final class OptionSources {
  private static final Map<String, String> STANDARD_VARIABLES =
      Map.of(
          "OPENLINEAGE_URL", OptionNames.URL,
          "OPENLINEAGE_ENDPOINT", OptionNames.ENDPOINT,
          "OPENLINEAGE_API_KEY", OptionNames.AUTH_API_KEY);

  private static final String DISABLED = "OPENLINEAGE_DISABLED";

  private OptionSources() {}

  /**
   * Return the options of the process, the fallback for all other sources. The variables that all
   * OpenLineage clients know ({@code OPENLINEAGE_URL}) come last.
   *
   * @param system system properties, such as {@code openlineage.transport.url}
   * @param environment variables, such as {@code OPENLINEAGE_TRANSPORT_URL}
   */
  public static Map<String, String> fromProcess(
      final Properties system, final Map<String, String> environment) {
    final Map<String, String> options = ofStandardVariables(environment);
    for (final String name : OptionDefinitions.all().names()) {
      final String property = system.getProperty(OptionNames.PREFIX + name);
      final String variable = environment.get(variable(name));
      if (property != null || variable != null) {
        options.put(name, property == null ? variable : property);
      }
    }
    return options;
  }

  private static Map<String, String> ofStandardVariables(final Map<String, String> environment) {
    final Map<String, String> options = new HashMap<>();
    STANDARD_VARIABLES.forEach(
        (variable, name) -> {
          final String value = environment.getOrDefault(variable, "");
          if (!value.isBlank()) {
            options.put(name, value);
          }
        });
    // Clients in other languages take a path without the first slash.
    options.computeIfPresent(
        OptionNames.ENDPOINT, (name, path) -> path.startsWith("/") ? path : "/" + path);
    if ("true".equalsIgnoreCase(environment.get(DISABLED))) {
      options.put(OptionNames.ENABLED, "false");
    }
    return options;
  }

  private static String variable(final String name) {
    return (OptionNames.PREFIX + name).replace('.', '_').toUpperCase(Locale.ROOT);
  }

  /** Merge two sources; {@code first} takes precedence. */
  public static Map<String, String> merge(
      final Map<String, String> first, final Map<String, String> second) {
    final Map<String, String> all = new HashMap<>(second);
    all.putAll(first);
    return all;
  }

  /**
   * Return warnings about unknown options, each with the known option that it resembles.
   *
   * @param where such as {@code worker property}
   * @param prefix of the names in that source
   */
  public static List<String> unknownOptionWarnings(
      final String where, final String prefix, final Set<String> names) {
    final Set<String> known = new TreeSet<>(OptionDefinitions.all().names());
    final List<String> found = new ArrayList<>();
    for (final String name : new TreeSet<>(names)) {
      if (UnknownOptions.isUnknown(name, known)) {
        final String suggestion =
            UnknownOptions.similar(name, known)
                .map(similar -> "; did you mean " + prefix + similar + "?")
                .orElse(".");
        found.add(where + " " + prefix + name + " is unknown and has no effect" + suggestion);
      }
    }
    return found;
  }
}
