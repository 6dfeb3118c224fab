// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class ObjectNamesTest {
  private static final TopicPartition ORDERS = new TopicPartition("shop.orders", 3);

  private final ObjectNames names = new ObjectNames("lab/topics", 10);

  @Test
  void anObjectIsNamedForTopicPartitionTimeAndOffsets() {
    assertThat(names.data(ORDERS, "year=2026/hour=03", 7, 12_345_678_901L, "avro"))
        .isEqualTo(
            "lab/topics/shop.orders/year=2026/hour=03/shop.orders+3+0000000007-12345678901.avro");
  }

  @Test
  void theNewestLogEntryComesFirst() {
    assertThat(names.logEntry(ORDERS, 1000))
        .isEqualTo("lab/topics/shop.orders/_log/3/9223372036854774807-from-1000.json")
        .startsWith(names.logPrefix(ORDERS))
        .isLessThan(names.logEntry(ORDERS, 999))
        .isLessThan(names.logEntry(ORDERS, 0))
        .isGreaterThan(names.logEntry(ORDERS, Long.MAX_VALUE));
  }

  @Test
  void thePrefixOfAPartitionIsNotThatOfAnother() {
    assertThat(names.logEntry(new TopicPartition("shop.orders", 31), 0))
        .doesNotStartWith(names.logPrefix(ORDERS));
  }

  @Test
  void withoutFolderNamesStartWithTheTopic() {
    final ObjectNames atRoot = new ObjectNames("", 1);

    assertThat(atRoot.data(ORDERS, "t", 0, 9, "json"))
        .isEqualTo("shop.orders/t/shop.orders+3+0-9.json");
    assertThat(atRoot.marker()).isEqualTo("_archive.json");
  }
}
