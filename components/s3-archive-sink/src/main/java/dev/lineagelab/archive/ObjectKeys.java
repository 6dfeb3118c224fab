// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.apache.kafka.common.TopicPartition;

/**
 * Keys of the archive's objects.
 *
 * @param topicsDir folder of the archive, without leading or trailing slash; empty for the root
 */
record ObjectKeys(String topicsDir) {

  static final String DATA_SUFFIX = ".json";

  private static final DateTimeFormatter HOUR_FOLDER =
      DateTimeFormatter.ofPattern("'year'=yyyy/'month'=MM/'day'=dd/'hour'=HH", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  /**
   * Return the key of an object with records of a topic partition.
   *
   * @param hour any time in the hour of the records; in UTC it names the folder
   */
  String data(
      final TopicPartition partition, final Instant hour, final long first, final long last) {
    return String.format(
        Locale.ROOT,
        "%s%s/%s/%s+%d+%010d-%010d%s",
        root(),
        partition.topic(),
        HOUR_FOLDER.format(hour),
        partition.topic(),
        partition.partition(),
        first,
        last,
        DATA_SUFFIX);
  }

  /** Return the common prefix of all log entries of a topic partition. */
  String logPrefix(final TopicPartition partition) {
    return root() + partition.topic() + "/_log/" + partition.partition() + "/";
  }

  /** Return the key of a log entry; entries of later chunks sort first. */
  String logEntry(final LogEntry entry) {
    final long start = entry.start();
    return logPrefix(new TopicPartition(entry.topic(), entry.partition()))
        + String.format(Locale.ROOT, "%019d-from-%d.json", Long.MAX_VALUE - start, start);
  }

  /** Return the key of the object that marks the archive and its layout version. */
  String marker() {
    return root() + "_archive.json";
  }

  private String root() {
    return topicsDir.isEmpty() ? "" : topicsDir + "/";
  }
}
