// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.apache.kafka.common.config.ConfigDef.LambdaValidator.with;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.IllformedLocaleException;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef.Validator;
import org.apache.kafka.common.config.ConfigException;

/** Checks of single options. What is wrong is named together with what would be right. */
final class OptionChecks {
  private static final Pattern BUCKET_NAME = Pattern.compile("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]");
  private static final Pattern PATH =
      Pattern.compile("[A-Za-z0-9!_.*'()=+-]+(/[A-Za-z0-9!_.*'()=+-]+)*");

  static final Validator BUCKET =
      text(
          "a bucket's name",
          (name, value) -> {
            if (!BUCKET_NAME.matcher(value).matches()) {
              throw wrong(
                  name,
                  value,
                  "give the bucket's name alone, without s3:// or folder: 3 to 63 of a-z, 0-9, dot "
                      + "and hyphen");
            }
          });

  static final Validator URL =
      text(
          "empty, or http(s)://host:port",
          (name, value) -> {
            if (!value.isEmpty() && !isHttp(value)) {
              throw wrong(name, value, "give a URL such as http://localhost:9000, or leave it out");
            }
          });

  static final Validator NOT_EMPTY =
      text(
          "not empty",
          (name, value) -> {
            if (value.isBlank()) {
              throw wrong(name, value, "give a value, or leave the option out for its default");
            }
          });

  static final Validator FOLDER =
      text(
          "a path without slash at its ends",
          (name, value) -> {
            if (!value.isEmpty() && !PATH.matcher(value).matches()) {
              throw wrong(
                  name,
                  value,
                  "give a path such as topics or lab/archive: no slash at its ends, none doubled, "
                      + "letters, digits and !_.*'()=+- only");
            }
          });

  static final Validator PATH_FORMAT =
      text("a DateTimeFormatter pattern", (name, value) -> checkPathFormat(name, value));

  static final Validator ZONE =
      text(
          "a time zone",
          (name, value) -> {
            try {
              ZoneId.of(value);
            } catch (final DateTimeException e) {
              throw wrong(name, value, "give a zone such as UTC or Europe/Vienna");
            }
          });

  static final Validator LOCALE =
      text(
          "a language tag",
          (name, value) -> {
            try {
              new Locale.Builder().setLanguageTag(value).build();
            } catch (final IllformedLocaleException e) {
              throw wrong(name, value, "give a language tag such as en-US");
            }
          });

  private OptionChecks() {}

  @FunctionalInterface
  private interface TextCheck {
    void check(String name, String value);
  }

  /** Raises ConfigException if a value, as {@link #normal} has it, is none of the choices. */
  static void choice(final String name, final Object value, final List<String> choices) {
    final String given = normal(String.valueOf(value));
    if (choices.stream().noneMatch(choice -> normal(choice).equals(given))) {
      throw wrong(name, value, "choose one of " + String.join(", ", choices));
    }
  }

  /**
   * A choice without what may vary: upper and lower case, the package of a class, and the "Format"
   * behind it.
   */
  static String normal(final String value) {
    final String simple = value.trim().substring(value.trim().lastIndexOf('.') + 1);
    return simple.toLowerCase(Locale.ROOT).replaceFirst("(?<=.)format$", "");
  }

  private static void checkPathFormat(final String name, final String value) {
    final String path;
    try {
      path =
          TimePartitioner.compile(value, Locale.ROOT).format(LocalDateTime.of(2026, 11, 21, 3, 0));
    } catch (final IllegalArgumentException | DateTimeException e) {
      throw wrong(
          name,
          value,
          "give a pattern such as 'year'=yyyy/'month'=MM/'day'=dd, text in quotes ("
              + e.getMessage()
              + ")");
    }
    if (!PATH.matcher(path).matches() || path.startsWith("_")) {
      throw wrong(
          name,
          value,
          "it makes the folder '"
              + path
              + "': no slash at its ends, none doubled, no underscore in front, letters, digits and "
              + "!_.*'()=+- only");
    }
  }

  private static boolean isHttp(final String value) {
    try {
      final URI uri = new URI(value);
      return uri.getHost() != null && List.of("http", "https").contains(uri.getScheme());
    } catch (final URISyntaxException e) {
      return false;
    }
  }

  private static Validator text(final String description, final TextCheck check) {
    return with(
        (name, value) -> {
          // A required option that is missing has its own message.
          if (value != null) {
            check.check(name, (String) value);
          }
        },
        () -> description);
  }

  private static ConfigException wrong(final String name, final Object value, final String remedy) {
    return new ConfigException(name, value, remedy);
  }
}
