// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.sink.SinkRecord;

/** Topic partitions with what producers wrote, and the offsets that a consumer group committed. */
final class SimulatedTopics {
  private final Map<TopicPartition, List<SinkRecord>> records = new LinkedHashMap<>();
  private final Map<TopicPartition, Long> ends = new HashMap<>();
  private final Map<TopicPartition, Long> committed = new HashMap<>();

  void create(final TopicPartition partition) {
    records.put(partition, new ArrayList<>());
    ends.put(partition, 0L);
  }

  Set<TopicPartition> partitions() {
    return records.keySet();
  }

  /** Leaves offsets out, as compaction and transactions do. */
  void skip(final TopicPartition partition, final int offsets) {
    ends.merge(partition, (long) offsets, Long::sum);
  }

  /** Appends a record; the key is the offset's text. */
  SinkRecord append(
      final TopicPartition partition,
      final Long timestamp,
      final Schema schema,
      final Object value) {
    final long offset = ends.merge(partition, 1L, Long::sum) - 1;
    final SinkRecord record =
        new SinkRecord(
            partition.topic(),
            partition.partition(),
            Schema.STRING_SCHEMA,
            Long.toString(offset),
            schema,
            value,
            offset,
            timestamp,
            TimestampType.CREATE_TIME);
    records.get(partition).add(record);
    return record;
  }

  /** The offset that the next record gets. */
  long end(final TopicPartition partition) {
    return ends.get(partition);
  }

  /**
   * At most {@code limit} records from an offset on, as new instances: what a consumer would get.
   */
  List<SinkRecord> read(final TopicPartition partition, final long from, final int limit) {
    return records.get(partition).stream()
        .filter(record -> record.kafkaOffset() >= from)
        .limit(limit)
        .map(
            record ->
                record.newRecord(
                    record.topic(),
                    record.kafkaPartition(),
                    record.keySchema(),
                    record.key(),
                    record.valueSchema(),
                    record.value(),
                    record.timestamp()))
        .toList();
  }

  /** 0 if none. */
  long committed(final TopicPartition partition) {
    return committed.getOrDefault(partition, 0L);
  }

  void commit(final TopicPartition partition, final long offset) {
    committed.put(partition, offset);
  }

  /** Forgets committed offsets, as Kafka does with those of a group that was idle for long. */
  void expireCommitted() {
    committed.clear();
  }
}
