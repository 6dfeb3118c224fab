// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ConnectorOptions;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Text with placeholders for options: {@code {option}}, {@code {option=default}}, {@code
 * {option|filter}}. An option without default is required. {@code {topic}} is the record's topic,
 * also as a default. Filters: {@code address:PORT} host and port of the first address; {@code path}
 * the path of an address; {@code folder} a path with a trailing slash unless it is empty; {@code
 * absolute} the same with a leading slash; {@code lower} lower case; {@code arn} the last part of
 * an Amazon resource name.
 */
record NameTemplate(String text) {
  private static final Pattern PLACE =
      Pattern.compile("\\{([^}=|]+)(?:=([^}|]*))?(?:\\|([a-z]+)(?::(\\d+))?)?}");

  /**
   * Fill the placeholders.
   *
   * @throws dev.lineagelab.connect.columns.UnusableOptionException if a required option is missing
   */
  String fill(final ConnectorOptions options, final String topic) {
    return PLACE
        .matcher(text)
        .replaceAll(place -> Matcher.quoteReplacement(value(place, options, topic)));
  }

  private static String value(
      final MatchResult place, final ConnectorOptions options, final String topic) {
    final String name = place.group(1);
    final String otherwise = place.group(2);
    final String value;
    if ("topic".equals(name)) {
      value = topic;
    } else if (otherwise == null) {
      value = options.required(name);
    } else {
      value = options.text(name).orElse("topic".equals(otherwise) ? topic : otherwise);
    }
    return place.group(3) == null ? value : filtered(value, place.group(3), place.group(4));
  }

  private static String filtered(final String value, final String filter, final String argument) {
    return switch (filter) {
      case "address" ->
          ServerAddress.hostAndPort(value, argument == null ? 80 : Integer.parseInt(argument));
      case "path" -> ServerAddress.path(value).isEmpty() ? "/" : ServerAddress.path(value);
      case "folder" -> value.isEmpty() ? "" : value.replaceFirst("/+$", "") + "/";
      case "absolute" -> "/" + filtered(value.replaceFirst("^/+", ""), "folder", null);
      case "lower" -> value.toLowerCase(Locale.ROOT);
      case "arn" -> value.substring(value.lastIndexOf(':') + 1);
      default -> throw new IllegalStateException("no filter '" + filter + "' in '" + value + "'");
    };
  }
}
