// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Which folder a time belongs to. */
final class TimePartitioner {
  private final DateTimeFormatter format;
  private final long durationMs;
  private final ZoneId zone;
  private long cachedTime = Long.MIN_VALUE;
  private String cachedPath;

  /**
   * Compiles the format.
   *
   * @param pattern see {@link #compile}
   * @param durationMs times are rounded down to a multiple of so many milliseconds, by the zone's
   *     clock
   */
  TimePartitioner(
      final String pattern, final long durationMs, final ZoneId zone, final Locale locale) {
    this.format = compile(pattern, locale);
    this.durationMs = durationMs;
    this.zone = zone;
  }

  /**
   * A format as {@link DateTimeFormatter} has it, but that Y is the year, as it is for the
   * connectors whose option this is: to Java it is the year that a week belongs to, which is
   * another one around New Year.
   *
   * @throws IllegalArgumentException it is none
   */
  static DateTimeFormatter compile(final String pattern, final Locale locale) {
    final StringBuilder translated = new StringBuilder();
    boolean isQuoted = false;
    for (final char letter : pattern.toCharArray()) {
      isQuoted ^= letter == '\'';
      translated.append(letter == 'Y' && !isQuoted ? 'y' : letter);
    }
    return DateTimeFormatter.ofPattern(translated.toString(), locale);
  }

  /** The folder of a time in epoch milliseconds, without slash at its ends. */
  String pathOf(final long timestamp) {
    final long local =
        timestamp
            + zone.getRules().getOffset(Instant.ofEpochMilli(timestamp)).getTotalSeconds() * 1000L;
    final long rounded = Math.floorDiv(local, durationMs) * durationMs;
    if (rounded != cachedTime || cachedPath == null) {
      cachedPath =
          format.format(LocalDateTime.ofInstant(Instant.ofEpochMilli(rounded), ZoneOffset.UTC));
      cachedTime = rounded;
    }
    return cachedPath;
  }
}
