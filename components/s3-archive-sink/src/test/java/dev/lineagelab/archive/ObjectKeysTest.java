// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class ObjectKeysTest {
  private static final TopicPartition ORDERS = new TopicPartition("shop.orders", 3);

  private final ObjectKeys keys = new ObjectKeys("lab/topics");

  @Test
  void dataKeyContainsTopicHourPartitionAndOffsets() {
    final Instant time = Instant.parse("2026-11-21T03:59:59.999Z");

    assertThat(keys.data(ORDERS, time, 7, 12_345_678_901L))
        .isEqualTo(
            "lab/topics/shop.orders/year=2026/month=11/day=21/hour=03/"
                + "shop.orders+3+0000000007-12345678901.json");
  }

  @Test
  void newestLogEntryIsListedFirst() {
    assertThat(logEntry(ORDERS, 1000))
        .isEqualTo("lab/topics/shop.orders/_log/3/9223372036854774807-from-1000.json")
        .startsWith(keys.logPrefix(ORDERS))
        .isLessThan(logEntry(ORDERS, 999))
        .isLessThan(logEntry(ORDERS, 0))
        .isGreaterThan(logEntry(ORDERS, Long.MAX_VALUE));
  }

  @Test
  void logPrefixMatchesOnePartitionOnly() {
    assertThat(logEntry(new TopicPartition("shop.orders", 31), 0))
        .doesNotStartWith(keys.logPrefix(ORDERS));
  }

  @Test
  void keysInTheBucketRootStartWithTheTopic() {
    final ObjectKeys atRoot = new ObjectKeys("");

    assertThat(atRoot.data(ORDERS, Instant.EPOCH, 0, 9))
        .isEqualTo(
            "shop.orders/year=1970/month=01/day=01/hour=00/shop.orders+3+0000000000-0000000009.json");
    assertThat(atRoot.marker()).isEqualTo("_archive.json");
  }

  private String logEntry(final TopicPartition partition, final long start) {
    return keys.logEntry(LogEntry.of(partition, start, start, List.of()));
  }
}
