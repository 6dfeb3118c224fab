// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Options of a connector configuration. Values may be config provider references, which only the
 * worker can resolve; reading one throws {@link UnusableOptionException}.
 */
public final class ConnectorOptions {
  /**
   * Config provider reference, {@code ${file:/path:key}}. A placeholder such as ${topic} has no
   * colon.
   */
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{[^}:]*:[^}]*\\}");

  private final Map<String, String> values;

  public ConnectorOptions(final Map<String, String> values) {
    this.values = Map.copyOf(values);
  }

  /** Return the options that start with a prefix, without the prefix. */
  public ConnectorOptions withPrefix(final String prefix) {
    final Map<String, String> found = new HashMap<>();
    values.forEach(
        (name, value) -> {
          if (name.startsWith(prefix)) {
            found.put(name.substring(prefix.length()), value);
          }
        });
    return new ConnectorOptions(found);
  }

  /** Return the names that start with a prefix, sorted. */
  public List<String> namesWithPrefix(final String prefix) {
    return values.keySet().stream().filter(name -> name.startsWith(prefix)).sorted().toList();
  }

  /** Return true if both have the option, with the same text. */
  boolean hasSameValue(final String name, final ConnectorOptions other) {
    return has(name) && values.get(name).equals(other.values.get(name));
  }

  /** Return true if the option is present, even with an empty value. */
  public boolean has(final String name) {
    return values.containsKey(name);
  }

  /**
   * Return the value of an option without surrounding white space; empty if absent or blank.
   *
   * @throws UnusableOptionException if the value is a reference
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
   * Return the value of a required option.
   *
   * @throws UnusableOptionException if it is absent or blank, or a reference
   */
  public String required(final String name) {
    return text(name).orElseThrow(() -> new UnusableOptionException("'" + name + "' is missing"));
  }

  /**
   * Return the items of a comma-separated list, in order.
   *
   * @throws UnusableOptionException if the value is a reference
   */
  public List<String> list(final String name) {
    return text(name).stream()
        .flatMap(text -> Arrays.stream(text.split(",")))
        .map(String::strip)
        .filter(item -> !item.isEmpty())
        .toList();
  }

  /**
   * Return a boolean option.
   *
   * @param otherwise default if it is absent
   * @throws UnusableOptionException if the value is a reference
   */
  public boolean flag(final String name, final boolean otherwise) {
    return text(name).map("true"::equalsIgnoreCase).orElse(otherwise);
  }
}
