// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** Options as a connector's configuration has them: texts, of which some are references. */
public final class ConnectorOptions {
  /**
   * Of a config provider: {@code ${file:/path:key}}. A placeholder such as ${topic} has no colon.
   */
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{[^}:]*:[^}]*\\}");

  private final Map<String, String> values;

  public ConnectorOptions(final Map<String, String> values) {
    this.values = Map.copyOf(values);
  }

  /** The options below a prefix, without it. */
  public ConnectorOptions below(final String prefix) {
    final Map<String, String> found = new HashMap<>();
    values.forEach(
        (name, value) -> {
          if (name.startsWith(prefix)) {
            found.put(name.substring(prefix.length()), value);
          }
        });
    return new ConnectorOptions(found);
  }

  /** The names that start with a prefix, in order. */
  public List<String> namesBelow(final String prefix) {
    return values.keySet().stream().filter(name -> name.startsWith(prefix)).sorted().toList();
  }

  /** Whether an option is given here and there, with the same text. */
  boolean isSame(final String name, final ConnectorOptions other) {
    return has(name) && values.get(name).equals(other.values.get(name));
  }

  /** Whether an option is given, be it empty. */
  public boolean has(final String name) {
    return values.containsKey(name);
  }

  /**
   * An option's value, without space around it; empty if it is not given, or empty.
   *
   * @throws UnusableOptionException it is a reference
   */
  public Optional<String> text(final String name) {
    final String value = values.get(name);
    if (value == null || value.isBlank()) {
      return Optional.empty();
    }
    if (REFERENCE.matcher(value).find()) {
      throw new UnusableOptionException("the value of '" + name + "' is a reference");
    }
    return Optional.of(value.strip());
  }

  /**
   * An option that must be there.
   *
   * @throws UnusableOptionException it is not, or it is a reference
   */
  public String required(final String name) {
    return text(name).orElseThrow(() -> new UnusableOptionException("'" + name + "' is missing"));
  }

  /**
   * Items separated by commas, in order.
   *
   * @throws UnusableOptionException it is a reference
   */
  public List<String> list(final String name) {
    return text(name).stream()
        .flatMap(text -> Arrays.stream(text.split(",")))
        .map(String::strip)
        .filter(item -> !item.isEmpty())
        .toList();
  }

  /**
   * Yes or no.
   *
   * @throws UnusableOptionException it is a reference
   */
  public boolean flag(final String name, final boolean otherwise) {
    return text(name).map("true"::equalsIgnoreCase).orElse(otherwise);
  }
}
