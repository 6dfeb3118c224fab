// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import dev.lineagelab.archive.LogEntry.PlannedObject;
import dev.lineagelab.archive.RecordFormat.Layout;
import dev.lineagelab.archive.Upload.EncodedObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.SinkRecord;

/**
 * The objects that a log entry names and that are not in the store: collected again, record by
 * record, into the same objects. The entry says which; settings that have changed since do not.
 */
final class Redo {

  private static final class Content {
    private final EncodedRecords records = new EncodedRecords();
    private Layout layout;
  }

  private record Span(OffsetRange range, PlannedObject object) {}

  private final LogEntry entry;
  private final List<PlannedObject> missing;
  private final NavigableMap<Long, Span> spans = new TreeMap<>();
  private final Map<PlannedObject, Content> contents = new LinkedHashMap<>();

  /**
   * Starts with nothing collected.
   *
   * @param missing at least one
   */
  Redo(final LogEntry entry, final List<PlannedObject> missing) {
    this.entry = entry;
    this.missing = List.copyOf(missing);
    for (final PlannedObject object : missing) {
      contents.put(object, new Content());
      object.ranges().forEach(range -> spans.put(range.first(), new Span(range, object)));
    }
  }

  LogEntry entry() {
    return entry;
  }

  /** The first offset that is needed. */
  long from() {
    return spans.firstKey();
  }

  /**
   * The missing object that an offset belongs to; empty if it is in none, or in one that is there.
   */
  Optional<PlannedObject> objectOf(final long offset) {
    return Optional.ofNullable(spans.floorEntry(offset))
        .map(Map.Entry::getValue)
        .filter(span -> span.range().contains(offset))
        .map(Span::object);
  }

  /**
   * Adds a record to its object.
   *
   * @throws DataException it cannot be written, or not into one object with those before it
   */
  void add(final PlannedObject object, final SinkRecord record, final RecordFormat format) {
    final Content content = contents.get(object);
    final Layout layout = format.layoutOf(record);
    if (content.layout != null && content.layout != layout) {
      throw new DataException(
          "its schema is not that of the other records in "
              + object.key()
              + ", as it was when the object was planned: was the converter changed?");
    }
    content.records.add(layout.encode(record));
    content.layout = layout;
  }

  /** Bytes of memory that the records take. */
  long footprint() {
    return contents.values().stream().mapToLong(content -> content.records.footprint()).sum();
  }

  /** Objects of which not one record was found again: Kafka does not have them any more. */
  List<String> lost() {
    return missing.stream()
        .filter(object -> contents.get(object).layout == null)
        .map(PlannedObject::key)
        .toList();
  }

  /** The objects that can be written. */
  Upload seal(final ObjectNames names) {
    final List<EncodedObject> encoded = new ArrayList<>();
    contents.forEach(
        (object, content) -> {
          if (content.layout != null) {
            encoded.add(new EncodedObject(object.key(), content.layout, content.records));
          }
        });
    return new Upload(
        entry, names.logEntry(entry.partition(), entry.start()), from(), encoded, true);
  }
}
