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

/** The transforms that come with Iceberg's sink. */
final class IcebergTransforms {
  private static final String CDC = "_cdc";

  private IcebergTransforms() {}

  /** {@code CopyValue}: a field a second time. */
  static SymbolicTransform copyValue(final ConnectorOptions options) {
    final String source = options.required("source.field");
    final String target = options.required("target.field");
    return SymbolicTransform.onStruct(
        Side.VALUE,
        tree ->
            tree.child(source) instanceof Absent
                ? Optional.empty()
                : StructOperations.add(tree, target, tree.child(source)));
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
        fields.put(name, StructValue.exactly(null, metadata));
      } else {
        metadata.forEach((field, value) -> fields.put(name + "_" + field, value));
      }
      return SymbolicTransform.onStruct(Side.VALUE, tree -> addAll(tree, fields)).apply(record);
    };
  }

  /** As a record has it; Kafka's InsertField makes a timestamp of that. */
  private static SymbolicValue asMilliseconds(final SymbolicValue timestamp) {
    return timestamp instanceof final Leaf leaf
        ? new Leaf("int64", leaf.description(), leaf.contributions(), leaf.constant())
        : timestamp;
  }

  private static Optional<StructValue> addAll(
      final StructValue tree, final Map<String, SymbolicValue> fields) {
    Optional<StructValue> added = Optional.of(tree);
    for (final Map.Entry<String, SymbolicValue> field : fields.entrySet()) {
      added = added.flatMap(t -> StructOperations.add(t, field.getKey(), field.getValue()));
    }
    return added;
  }

  /** {@code DebeziumTransform}: of a change event the row, and beside it what happened to it. */
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
            SymbolicTransform.changed(
                record,
                Side.VALUE,
                StructOperations.change(
                    record.value(),
                    event ->
                        StructOperations.change(
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
    return StructValue.exactly(null, fields);
  }

  /** {@code DmsTransform}: the same for Amazon's migration service, whose events have no schema. */
  static SymbolicTransform dms() {
    return SymbolicTransform.onStruct(
        Side.VALUE,
        event -> {
          if (event.isExact()) {
            return Optional.empty();
          }
          final SymbolicValue metadata = event.child("metadata");
          final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
          fields.put("op", computed(null, metadata.child("operation")));
          fields.put("ts", metadata.child("timestamp"));
          fields.put(
              "source",
              computed(null, metadata.child("schema-name"), metadata.child("table-name")));
          final StructValue cdc = StructValue.exactly(null, fields);
          return StructOperations.change(
              event.child("data"), row -> Optional.of(StructOperations.put(row, CDC, cdc)));
        });
  }

  /** A value made of some others. */
  private static SymbolicValue computed(final String type, final SymbolicValue... from) {
    final Set<Contribution> contributions = new TreeSet<>();
    for (final SymbolicValue shape : from) {
      final SymbolicValue made =
          StructOperations.computed(shape, type, Contribution::transformed)
              .orElseGet(
                  () -> SymbolicValue.Unknown.because("A struct is where a value was expected."));
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
