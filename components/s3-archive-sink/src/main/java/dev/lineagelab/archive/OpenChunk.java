// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import dev.lineagelab.archive.LogEntry.PlannedObject;
import dev.lineagelab.archive.RecordFormat.Layout;
import dev.lineagelab.archive.Upload.EncodedObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** Records of a topic partition that are not in the store yet, in the objects to come. */
final class OpenChunk {
  /**
   * What one chunk may cost in requests, if its timestamps are spread over many time partitions.
   */
  static final int MAX_OBJECTS = 100;

  /** What one log entry may hold, if neighbouring records go to different objects. */
  static final int MAX_RANGES = 10_000;

  private record GroupKey(String timePath, Layout layout) {}

  private static final class Group {
    private final EncodedRecords records = new EncodedRecords();
    private final List<OffsetRange> ranges = new ArrayList<>();
    private final long firstTimestamp;

    private Group(final long firstTimestamp) {
      this.firstTimestamp = firstTimestamp;
    }
  }

  private final TopicPartition partition;
  private final long start;
  private final long openedAt;
  private final Map<GroupKey, Group> groups = new LinkedHashMap<>();
  private Group latest;
  private long firstOffset;
  private long lastOffset;
  private int largest;
  private int ranges;
  private long footprint;

  /**
   * Opens a chunk.
   *
   * @param start the offset after the chunk before
   * @param openedAt epoch milliseconds
   */
  OpenChunk(final TopicPartition partition, final long start, final long openedAt) {
    this.partition = partition;
    this.start = start;
    this.openedAt = openedAt;
  }

  void add(
      final long offset,
      final String timePath,
      final Layout layout,
      final long timestamp,
      final byte[] encoded) {
    if (groups.isEmpty()) {
      firstOffset = offset;
    }
    final Group group =
        groups.computeIfAbsent(new GroupKey(timePath, layout), key -> new Group(timestamp));
    if (group == latest) {
      final int last = group.ranges.size() - 1;
      group.ranges.set(last, new OffsetRange(group.ranges.get(last).first(), offset));
    } else {
      group.ranges.add(new OffsetRange(offset, offset));
      ranges++;
      latest = group;
    }
    final long before = group.records.count() == 0 ? 0 : group.records.footprint();
    group.records.add(encoded);
    footprint += group.records.footprint() - before;
    largest = Math.max(largest, group.records.count());
    lastOffset = offset;
  }

  /** Tells that a record goes into no object: if the chunk is read again, it must not either. */
  void leaveOut() {
    latest = null;
  }

  /** Timestamp of the first record in the object that such a record would go to, else its own. */
  long firstTimestamp(final String timePath, final Layout layout, final long timestamp) {
    final Group group = groups.get(new GroupKey(timePath, layout));
    return group == null ? timestamp : group.firstTimestamp;
  }

  /** Whether it must be written whatever the settings are. */
  boolean isFull() {
    return groups.size() >= MAX_OBJECTS || ranges >= MAX_RANGES;
  }

  /** Records in the largest object. */
  int largest() {
    return largest;
  }

  /** Bytes of memory that its records take. */
  long footprint() {
    return footprint;
  }

  long firstOffset() {
    return firstOffset;
  }

  /** Epoch milliseconds. */
  long openedAt() {
    return openedAt;
  }

  /** Ends the chunk at its last record. */
  Upload seal(final ObjectNames names, final String extension) {
    final List<PlannedObject> planned = new ArrayList<>();
    final List<EncodedObject> encoded = new ArrayList<>();
    groups.forEach(
        (group, content) -> {
          final long first = content.ranges.get(0).first();
          final long last = content.ranges.get(content.ranges.size() - 1).last();
          final String key = names.data(partition, group.timePath(), first, last, extension);
          planned.add(new PlannedObject(key, List.copyOf(content.ranges)));
          encoded.add(new EncodedObject(key, group.layout(), content.records));
        });
    final LogEntry entry = new LogEntry(partition, start, lastOffset, planned);
    return new Upload(entry, names.logEntry(partition, start), firstOffset, encoded, false);
  }
}
