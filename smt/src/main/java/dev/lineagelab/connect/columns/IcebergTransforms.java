// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.columns.SymbolicValue.Absent;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.OneOf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Models of the transforms that the Iceberg sink ships. */
final class IcebergTransforms {
  private static final String CDC = "_cdc";

  private IcebergTransforms() {}

  /** {@code CopyValue}: copies a field. */
  static SymbolicTransform copyValue(final ConnectorOptions options) {
    final String source = options.required("source.field");
    final String target = options.required("target.field");
    return SymbolicTransform.onStruct(
        Side.VALUE,
        struct ->
            struct.child(source) instanceof Absent
                ? Optional.empty()
                : StructOperations.add(struct, target, struct.child(source)));
  }

  /** {@code KafkaMetadataTransform}: adds topic, partition, offset, timestamp and a constant. */
  static SymbolicTransform kafkaMetadata(final ConnectorOptions options) {
    final String name = options.text("field_name").orElse("_kafka_metadata");
    final boolean isNested = options.flag("nested", false);
    final List<String> external = options.list("external_field");
    return record -> {
      final Map<String, SymbolicValue> metadata = new LinkedHashMap<>();
      metadata.put("topic", RecordTransforms.topicOf(record));
      metadata.put("partition", record.metadata().get(Part.PARTITION));
      metadata.put("offset", record.metadata().get(Part.OFFSET));
      metadata.put("timestamp", asMilliseconds(record.metadata().get(Part.TIMESTAMP)));
      if (external.size() == 2) {
        metadata.put(external.get(0), Leaf.constant("string", external.get(1)));
      }
      final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
      if (isNested) {
        fields.put(name, StructValue.closed(null, metadata));
      } else {
        metadata.forEach((field, value) -> fields.put(name + "_" + field, value));
      }
      return SymbolicTransform.onStruct(Side.VALUE, struct -> addAll(struct, fields)).apply(record);
    };
  }

  /**
   * Unlike Kafka's InsertField, which adds a logical timestamp, this transform adds the raw int64.
   */
  private static SymbolicValue asMilliseconds(final SymbolicValue timestamp) {
    return timestamp instanceof final Leaf leaf
        ? new Leaf("int64", leaf.description(), leaf.contributions(), leaf.constant())
        : timestamp;
  }

  private static Optional<StructValue> addAll(
      final StructValue struct, final Map<String, SymbolicValue> fields) {
    Optional<StructValue> added = Optional.of(struct);
    for (final Map.Entry<String, SymbolicValue> field : fields.entrySet()) {
      added = added.flatMap(t -> StructOperations.add(t, field.getKey(), field.getValue()));
    }
    return added;
  }

  /**
   * {@code DebeziumTransform}: replaces a change event by its row and adds metadata about the
   * change.
   */
  static SymbolicTransform debezium(final ConnectorOptions options) {
    final String pattern = options.text("cdc.target.pattern").orElse("{db}.{table}");
    return record -> {
      if (record.value() instanceof Absent) {
        return List.of(record);
      }
      final List<SymbolicRecord> rows = new ArrayList<>();
      for (final String image : List.of("after", "before")) {
        final StructValue cdc = debeziumMetadata(record, pattern);
        rows.addAll(
            SymbolicTransform.replaceSide(
                record,
                Side.VALUE,
                StructOperations.transform(
                    record.value(),
                    event ->
                        StructOperations.transform(
                            event.child(image), row -> StructOperations.add(row, CDC, cdc)))));
      }
      return rows;
    };
  }

  private static StructValue debeziumMetadata(final SymbolicRecord record, final String pattern) {
    final SymbolicValue event = record.value();
    final SymbolicValue source = event.child("source");
    final SymbolicValue schema = source.child("schema");
    final SymbolicValue database = schema instanceof Absent ? source.child("db") : schema;
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    fields.put("op", computed("string", event.child("op")));
    fields.put("ts", computed("timestamp", event.child("ts_ms")));
    fields.put("offset", record.metadata().get(Part.OFFSET));
    fields.put("source", computed("string", database, source.child("table")));
    final List<SymbolicValue> named = new ArrayList<>();
    if (pattern.contains("{db}")) {
      named.add(database);
    }
    if (pattern.contains("{table}")) {
      named.add(source.child("table"));
    }
    fields.put("target", computed("string", named.toArray(SymbolicValue[]::new)));
    if (!(record.key() instanceof Absent)) {
      fields.put("key", record.key());
    }
    return StructValue.closed(null, fields);
  }

  /**
   * {@code DmsTransform}: does the same for AWS Database Migration Service, whose events have no
   * schema.
   */
  static SymbolicTransform dms() {
    return SymbolicTransform.onStruct(
        Side.VALUE,
        event -> {
          if (event.isClosed()) {
            return Optional.empty();
          }
          final SymbolicValue metadata = event.child("metadata");
          final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
          fields.put("op", computed(null, metadata.child("operation")));
          fields.put("ts", metadata.child("timestamp"));
          fields.put(
              "source",
              computed(null, metadata.child("schema-name"), metadata.child("table-name")));
          final StructValue cdc = StructValue.closed(null, fields);
          return StructOperations.transform(
              event.child("data"), row -> Optional.of(StructOperations.put(row, CDC, cdc)));
        });
  }

  /** Return a value computed from several others. */
  private static SymbolicValue computed(final String type, final SymbolicValue... from) {
    final Set<Contribution> contributions = new TreeSet<>();
    for (final SymbolicValue value : from) {
      final SymbolicValue made =
          StructOperations.derive(value, type, Contribution::transformed)
              .orElseGet(
                  () ->
                      SymbolicValue.Unknown.because(
                          "A field is a struct where a scalar was expected."));
      if (made instanceof SymbolicValue.Unknown || made instanceof OneOf) {
        return made;
      }
      if (made instanceof final Leaf leaf) {
        contributions.addAll(leaf.contributions());
      }
    }
    return Leaf.of(type, contributions);
  }
}
