// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import dev.lineagelab.archive.ChunkUpload.PendingObject;
import dev.lineagelab.archive.LogEntry.PlannedObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** Buffered records of a topic partition, grouped by the hour of their timestamps. */
final class OpenChunk {
  /** Maximum number of objects, which bounds the requests per chunk if timestamps scatter. */
  static final int MAX_OBJECTS = 100;

  /**
   * Maximum number of offset ranges, which bounds the log entry if neighbours differ in their hour.
   */
  static final int MAX_RANGES = 10_000;

  private static final long HOUR_MS = 3_600_000;

  private static final class Group {
    private final RecordBuffer records = new RecordBuffer();
    private final List<OffsetRange> ranges = new ArrayList<>();
  }

  private final TopicPartition partition;
  private final long start;
  private final long openedAt;
  private final Map<Long, Group> groups = new LinkedHashMap<>();
  private Group latest;
  private long firstOffset;
  private long lastOffset;
  private int largestObject;
  private int ranges;
  private long footprint;

  /**
   * Open a chunk.
   *
   * @param start first offset after the previous chunk
   * @param openedAt epoch milliseconds
   */
  OpenChunk(final TopicPartition partition, final long start, final long openedAt) {
    this.partition = partition;
    this.start = start;
    this.openedAt = openedAt;
  }

  void add(final long offset, final long timestamp, final byte[] record) {
    if (groups.isEmpty()) {
      firstOffset = offset;
    }
    final Group group =
        groups.computeIfAbsent(Math.floorDiv(timestamp, HOUR_MS), hour -> new Group());
    if (group == latest) {
      final int last = group.ranges.size() - 1;
      group.ranges.set(last, new OffsetRange(group.ranges.get(last).first(), offset));
    } else {
      group.ranges.add(new OffsetRange(offset, offset));
      ranges++;
      latest = group;
    }
    final long before = group.records.records() == 0 ? 0 : group.records.capacity();
    group.records.add(record);
    footprint += group.records.capacity() - before;
    largestObject = Math.max(largestObject, group.records.records());
    lastOffset = offset;
  }

  /** Exclude the offset after the last one: a task that reads the chunk again must skip it too. */
  void skip() {
    latest = null;
  }

  /** Return true if the chunk has reached {@link #MAX_OBJECTS} or {@link #MAX_RANGES}. */
  boolean isFull() {
    return groups.size() >= MAX_OBJECTS || ranges >= MAX_RANGES;
  }

  /** Return the number of records in the largest object. */
  int largestObject() {
    return largestObject;
  }

  /** Return the memory that the records take, in bytes. */
  long footprint() {
    return footprint;
  }

  long firstOffset() {
    return firstOffset;
  }

  /** Return the time at which the chunk was opened; epoch milliseconds. */
  long openedAt() {
    return openedAt;
  }

  /** Close the chunk after its last record. */
  ChunkUpload close(final ObjectKeys keys) {
    final List<PlannedObject> planned = new ArrayList<>();
    final List<PendingObject> pending = new ArrayList<>();
    groups.forEach(
        (hour, group) -> {
          final long first = group.ranges.get(0).first();
          final long last = group.ranges.get(group.ranges.size() - 1).last();
          final Instant time = Instant.ofEpochMilli(hour * HOUR_MS);
          final String key = keys.data(partition, time, first, last);
          planned.add(new PlannedObject(key, List.copyOf(group.ranges)));
          pending.add(new PendingObject(key, group.records));
        });
    final LogEntry entry = LogEntry.of(partition, start, lastOffset, planned);
    return new ChunkUpload(entry, false, firstOffset, pending);
  }
}
