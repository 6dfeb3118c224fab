// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.columns.SymbolicValue.Absent;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Model of Debezium's {@code outbox.EventRouter}: an inserted row of an outbox table becomes an
 * event of the topic that one of its columns names. Updates, deletes and tombstones are dropped;
 * records that are no change events pass unchanged.
 */
final class DebeziumEventRouter implements SymbolicTransform {
  /** Field of the value with the payload, where further columns are in the value too. */
  private static final String PAYLOAD = "payload";

  private static final String AFTER = "after";

  /** Default of {@code route.topic.regex}, and how the name of a topic refers to its group. */
  private static final String ANY_NAME = "(?<routedByValue>.*)";

  private static final String ROUTED = "${routedByValue}";

  private final String keyColumn;
  private final String payloadColumn;
  private final String routeColumn;
  private final Optional<String> timestampColumn;
  private final boolean isJsonExpanded;
  private final boolean hasTombstones;
  private final List<Placement> placements;
  private final TopicName topic;

  DebeziumEventRouter(final ConnectorOptions options) {
    keyColumn = options.text("table.field.event.key").orElse("aggregateid");
    payloadColumn = options.text("table.field.event.payload").orElse(PAYLOAD);
    routeColumn = options.text("route.by.field").orElse("aggregatetype");
    timestampColumn = options.text("table.field.event.timestamp");
    isJsonExpanded = options.flag("table.expand.json.payload", false);
    hasTombstones = options.flag("route.tombstone.on.empty.payload", false);
    placements =
        options.list("table.fields.additional.placement").stream().map(Placement::parse).toList();
    topic = topic(options);
  }

  private TopicName topic(final ConnectorOptions options) {
    final String reason = "The topic depends on the column '" + routeColumn + "' of the outbox.";
    final String name = options.text("route.topic.replacement").orElse("outbox.event." + ROUTED);
    final boolean isSimple =
        options.text("route.topic.regex").orElse(ANY_NAME).equals(ANY_NAME)
            && !name.replace(ROUTED, "").matches("(?s).*[$\\\\].*");
    return isSimple
        ? new TopicName.Routed(
            Stream.of(name.split(Pattern.quote(ROUTED), -1))
                .map(Pattern::quote)
                .collect(Collectors.joining(".*")),
            reason)
        : new TopicName.Unknown(reason);
  }

  /**
   * Column that is added to the event.
   *
   * @param place {@code envelope}, {@code header} or {@code partition}
   */
  private record Placement(String column, String place, String alias) {
    /** Parse {@code COLUMN:PLACE[:ALIAS]}. */
    static Placement parse(final String text) {
      final String[] parts = text.split(":", -1);
      if (parts.length < 2 || parts.length > 3) {
        throw new UnusableOptionException("'" + text + "' does not place a column of the outbox");
      }
      return new Placement(
          parts[0].strip(), parts[1].strip(), parts[parts.length == 3 ? 2 : 0].strip());
    }

    boolean isIn(final String other) {
      return place.equalsIgnoreCase(other);
    }
  }

  @Override
  public List<SymbolicRecord> apply(final SymbolicRecord record) {
    if (record.value() instanceof Absent) {
      return List.of();
    }
    final Optional<Boolean> isEnvelope = DebeziumTransforms.isEnvelope(record.value());
    if (isEnvelope.isEmpty()) {
      return List.of(record.asUnknown(DebeziumTransforms.UNKNOWN_KIND));
    }
    return isEnvelope.get() ? events(record) : List.of(record);
  }

  private List<SymbolicRecord> events(final SymbolicRecord record) {
    final SymbolicValue row = record.value().child(AFTER);
    if (row.child(payloadColumn) instanceof Absent || row.child(routeColumn) instanceof Absent) {
      return List.of();
    }
    final SymbolicRecord event =
        withPlaced(
            record
                .withSide(Side.KEY, row.child(keyColumn))
                .withMetadata(Part.TIMESTAMP, timestamp(record.value(), row))
                .withHeader("id", true)
                .withTopic(topic),
            row);
    final List<SymbolicRecord> events = new ArrayList<>();
    events.add(event.withValue(value(row), false));
    if (hasTombstones) {
      events.add(event.withValue(SymbolicValue.ABSENT, true));
    }
    return events;
  }

  private SymbolicValue value(final SymbolicValue row) {
    final SymbolicValue payload =
        isJsonExpanded
            ? Unknown.because("The value's fields are made from JSON text.")
            : row.child(payloadColumn);
    if (placements.stream().noneMatch(placement -> placement.isIn("envelope"))) {
      return payload;
    }
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    fields.put(PAYLOAD, payload);
    placements.stream()
        .filter(placement -> placement.isIn("envelope"))
        .filter(placement -> !(row.child(placement.column) instanceof Absent))
        .forEach(placement -> fields.put(placement.alias, row.child(placement.column)));
    return StructValue.closed(null, fields);
  }

  private SymbolicRecord withPlaced(final SymbolicRecord record, final SymbolicValue row) {
    SymbolicRecord changed = record;
    for (final Placement placement : placements) {
      final SymbolicValue column = row.child(placement.column);
      if (column instanceof Absent) {
        continue;
      }
      if (placement.isIn("header")) {
        changed = changed.withHeader(placement.alias, true);
      } else if (placement.isIn("partition")) {
        changed = changed.withMetadata(Part.PARTITION, column);
      }
    }
    return changed;
  }

  /** The time of the event; where its column is null, that of the change event. */
  private SymbolicValue timestamp(final SymbolicValue envelope, final SymbolicValue row) {
    final List<SymbolicValue> times = new ArrayList<>();
    timestampColumn.ifPresent(column -> times.add(row.child(column)));
    times.add(envelope.child("ts_ms"));
    final SymbolicValue time = SymbolicValue.OneOf.of(times);
    return StructOperations.convert(time, "timestamp")
        .filter(value -> !(value instanceof Absent))
        .orElseGet(() -> Leaf.of("timestamp", Origin.of(Part.TIMESTAMP)));
  }
}
