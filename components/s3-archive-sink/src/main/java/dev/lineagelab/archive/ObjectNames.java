// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.Locale;
import org.apache.kafka.common.TopicPartition;

/**
 * Names of objects.
 *
 * @param topicsDir what all of them start with, without slash at its ends; empty for none
 * @param padWidth digits of an offset, filled up with zeros
 */
record ObjectNames(String topicsDir, int padWidth) {

  private static final String LOG = "_log";

  /** One object of a topic partition with records from offset {@code first} to {@code last}. */
  String data(
      final TopicPartition partition,
      final String timePath,
      final long first,
      final long last,
      final String extension) {
    return "%s%s/%s/%s+%d+%s-%s.%s"
        .formatted(
            root(),
            partition.topic(),
            timePath,
            partition.topic(),
            partition.partition(),
            padded(first, padWidth),
            padded(last, padWidth),
            extension);
  }

  /** What all log entries of a topic partition start with. */
  String logPrefix(final TopicPartition partition) {
    return root() + partition.topic() + "/" + LOG + "/" + partition.partition() + "/";
  }

  /** The log entry of the chunk that starts at an offset: of two, the later one sorts first. */
  String logEntry(final TopicPartition partition, final long start) {
    return logPrefix(partition) + padded(Long.MAX_VALUE - start, 19) + "-from-" + start + ".json";
  }

  /** An object that says that this is an archive, and of which layout. */
  String marker() {
    return root() + "_archive.json";
  }

  private String root() {
    return topicsDir.isEmpty() ? "" : topicsDir + "/";
  }

  private static String padded(final long number, final int width) {
    return String.format(Locale.ROOT, "%0" + width + "d", number);
  }
}
