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

/** In-memory topic partitions and committed offsets of one consumer group. */
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

  /** Leave a gap in the offsets, as compaction and transactions do. */
  void skip(final TopicPartition partition, final int offsets) {
    ends.merge(partition, (long) offsets, Long::sum);
  }

  /** Append a record; its key is the offset as text. */
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

  /** Return the offset of the next record. */
  long end(final TopicPartition partition) {
    return ends.get(partition);
  }

  /**
   * Return at most {@code limit} records from an offset on, as new instances like a consumer does.
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

  /** Return the committed offset, or 0. */
  long committed(final TopicPartition partition) {
    return committed.getOrDefault(partition, 0L);
  }

  void commit(final TopicPartition partition, final long offset) {
    committed.put(partition, offset);
  }

  /** Delete the committed offsets, as Kafka does after {@code offsets.retention.minutes}. */
  void expireCommitted() {
    committed.clear();
  }
}
