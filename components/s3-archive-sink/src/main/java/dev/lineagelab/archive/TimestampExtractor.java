// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.time.Clock;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Date;
import java.util.Map;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.SinkRecord;

/** Which time a record belongs to. */
@FunctionalInterface
interface TimestampExtractor {

  /** Of text like 2026-11-21. */
  int ISO_DATE_LENGTH = 10;

  /**
   * The record's time in epoch milliseconds.
   *
   * @throws DataException it has none
   */
  long timestampOf(SinkRecord record);

  /** The time that the producer or the broker gave the record. */
  static TimestampExtractor ofRecord() {
    return record -> {
      if (record.timestamp() == null || record.timestamp() < 0) {
        throw new DataException(
            "the record has no timestamp: set "
                + Options.TIMESTAMP_EXTRACTOR
                + " to RecordField or Wallclock");
      }
      return record.timestamp();
    };
  }

  /** The time at which the record is archived. */
  static TimestampExtractor ofClock(final Clock clock) {
    return record -> clock.millis();
  }

  /**
   * A field of the value: a Connect timestamp or date, epoch milliseconds, or ISO 8601 text; text
   * without an offset is in UTC.
   *
   * @param path names from the outside in, with dots between them
   */
  static TimestampExtractor ofField(final String path) {
    final String[] names = path.split("\\.");
    return record -> {
      Object value = record.value();
      for (final String name : names) {
        value = child(value, name);
      }
      try {
        return toMillis(value);
      } catch (final DateTimeException e) {
        throw unusable(path, value, e);
      }
    };
  }

  private static Object child(final Object parent, final String name) {
    if (parent instanceof Struct struct) {
      final Field field = struct.schema().field(name);
      return field == null ? null : struct.get(field);
    }
    return parent instanceof Map<?, ?> map ? map.get(name) : null;
  }

  private static long toMillis(final Object value) {
    if (value instanceof Date date) {
      return date.getTime();
    }
    if (value instanceof Long millis) {
      return millis;
    }
    if (value instanceof String text) {
      final String full =
          text.length() == ISO_DATE_LENGTH ? text + "T00:00" : text.replace(' ', 'T');
      return Instant.from(DateTimeFormatter.ISO_DATE_TIME.withZone(ZoneOffset.UTC).parse(full))
          .toEpochMilli();
    }
    throw new DateTimeException("not a time");
  }

  private static DataException unusable(
      final String path, final Object value, final DateTimeException cause) {
    final String found = value == null ? "nothing" : "a " + value.getClass().getSimpleName();
    return new DataException(
        "field '"
            + path
            + "' ("
            + Options.TIMESTAMP_FIELD
            + ") should hold a timestamp, epoch milliseconds or ISO 8601 text, but holds "
            + found
            + (value == null ? "" : " '" + value + "'"),
        cause);
  }
}
