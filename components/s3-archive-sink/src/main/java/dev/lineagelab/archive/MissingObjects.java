// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import dev.lineagelab.archive.ChunkUpload.PendingObject;
import dev.lineagelab.archive.LogEntry.PlannedObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.connect.errors.ConnectException;

/**
 * Objects of a log entry that do not exist in the store, rebuilt from Kafka record by record. The
 * entry alone decides which record goes where, whatever the current options are.
 */
final class MissingObjects {

  private record Span(OffsetRange range, PlannedObject object) {}

  private final LogEntry entry;
  private final NavigableMap<Long, Span> spans = new TreeMap<>();
  private final Map<PlannedObject, RecordBuffer> contents = new LinkedHashMap<>();

  /**
   * Start without records.
   *
   * @param missing at least one object of the entry
   * @throws ConnectException if an object was planned in an unknown format
   */
  MissingObjects(final LogEntry entry, final List<PlannedObject> missing) {
    this.entry = entry;
    for (final PlannedObject object : missing) {
      if (!object.key().endsWith(ObjectKeys.DATA_SUFFIX)) {
        throw new ConnectException(
            ("Rebuilding %s of the newest log entry: unknown format. Run the version of this "
                    + "connector that wrote the entry.")
                .formatted(object.key()));
      }
      contents.put(object, new RecordBuffer());
      object.ranges().forEach(range -> spans.put(range.first(), new Span(range, object)));
    }
  }

  LogEntry entry() {
    return entry;
  }

  /** Return the lowest offset of a missing object. */
  long firstOffset() {
    return spans.firstKey();
  }

  /** Return the missing object that an offset belongs to, if any. */
  Optional<PlannedObject> objectOf(final long offset) {
    return Optional.ofNullable(spans.floorEntry(offset))
        .map(Map.Entry::getValue)
        .filter(span -> span.range().contains(offset))
        .map(Span::object);
  }

  void add(final PlannedObject object, final byte[] record) {
    contents.get(object).add(record);
  }

  /** Return the keys of objects without records: Kafka has deleted all of their records. */
  List<String> lost() {
    return contents.entrySet().stream()
        .filter(content -> content.getValue().records() == 0)
        .map(content -> content.getKey().key())
        .toList();
  }

  /** Complete the objects, apart from lost ones. */
  ChunkUpload close() {
    final List<PendingObject> pending =
        contents.entrySet().stream()
            .filter(content -> content.getValue().records() > 0)
            .map(content -> new PendingObject(content.getKey().key(), content.getValue()))
            .toList();
    return new ChunkUpload(entry, true, firstOffset(), pending);
  }
}
