// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.RecordState.Side;
import dev.lineagelab.connect.columns.Shape.Absent;
import dev.lineagelab.connect.columns.Shape.Either;
import dev.lineagelab.connect.columns.Shape.Leaf;
import dev.lineagelab.connect.columns.Shape.Tree;
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
  static Transform copyValue(final Options options) {
    final String source = options.required("source.field");
    final String target = options.required("target.field");
    return Transform.onStruct(
        Side.VALUE,
        tree ->
            tree.child(source) instanceof Absent
                ? Optional.empty()
                : Structs.add(tree, target, tree.child(source)));
  }

  /** {@code KafkaMetadataTransform}: adds topic, partition, offset, timestamp and a constant. */
  static Transform kafkaMetadata(final Options options) {
    final String name = options.text("field_name").orElse("_kafka_metadata");
    final boolean isNested = options.flag("nested", false);
    final List<String> external = options.list("external_field");
    return record -> {
      final Map<String, Shape> metadata = new LinkedHashMap<>();
      metadata.put("topic", RecordTransforms.topicOf(record));
      metadata.put("partition", record.metadata().get(Part.PARTITION));
      metadata.put("offset", record.metadata().get(Part.OFFSET));
      metadata.put("timestamp", asMilliseconds(record.metadata().get(Part.TIMESTAMP)));
      if (external.size() == 2) {
        metadata.put(external.get(0), Leaf.constant("string", external.get(1)));
      }
      final Map<String, Shape> fields = new LinkedHashMap<>();
      if (isNested) {
        fields.put(name, Tree.exactly(null, metadata));
      } else {
        metadata.forEach((field, value) -> fields.put(name + "_" + field, value));
      }
      return Transform.onStruct(Side.VALUE, tree -> addAll(tree, fields)).apply(record);
    };
  }

  /** As a record has it; Kafka's InsertField makes a timestamp of that. */
  private static Shape asMilliseconds(final Shape timestamp) {
    return timestamp instanceof final Leaf leaf
        ? new Leaf("int64", leaf.description(), leaf.contributions(), leaf.constant())
        : timestamp;
  }

  private static Optional<Tree> addAll(final Tree tree, final Map<String, Shape> fields) {
    Optional<Tree> added = Optional.of(tree);
    for (final Map.Entry<String, Shape> field : fields.entrySet()) {
      added = added.flatMap(t -> Structs.add(t, field.getKey(), field.getValue()));
    }
    return added;
  }

  /** {@code DebeziumTransform}: of a change event the row, and beside it what happened to it. */
  static Transform debezium(final Options options) {
    final String pattern = options.text("cdc.target.pattern").orElse("{db}.{table}");
    return record -> {
      if (record.value() instanceof Absent) {
        return List.of(record);
      }
      final List<RecordState> rows = new ArrayList<>();
      for (final String image : List.of("after", "before")) {
        final Tree cdc = debeziumMetadata(record, pattern);
        rows.addAll(
            Transform.changed(
                record,
                Side.VALUE,
                Structs.change(
                    record.value(),
                    event ->
                        Structs.change(event.child(image), row -> Structs.add(row, CDC, cdc)))));
      }
      return rows;
    };
  }

  private static Tree debeziumMetadata(final RecordState record, final String pattern) {
    final Shape event = record.value();
    final Shape source = event.child("source");
    final Shape schema = source.child("schema");
    final Shape database = schema instanceof Absent ? source.child("db") : schema;
    final Map<String, Shape> fields = new LinkedHashMap<>();
    fields.put("op", computed("string", event.child("op")));
    fields.put("ts", computed("timestamp", event.child("ts_ms")));
    fields.put("offset", record.metadata().get(Part.OFFSET));
    fields.put("source", computed("string", database, source.child("table")));
    final List<Shape> named = new ArrayList<>();
    if (pattern.contains("{db}")) {
      named.add(database);
    }
    if (pattern.contains("{table}")) {
      named.add(source.child("table"));
    }
    fields.put("target", computed("string", named.toArray(Shape[]::new)));
    if (!(record.key() instanceof Absent)) {
      fields.put("key", record.key());
    }
    return Tree.exactly(null, fields);
  }

  /** {@code DmsTransform}: the same for Amazon's migration service, whose events have no schema. */
  static Transform dms() {
    return Transform.onStruct(
        Side.VALUE,
        event -> {
          if (event.isExact()) {
            return Optional.empty();
          }
          final Shape metadata = event.child("metadata");
          final Map<String, Shape> fields = new LinkedHashMap<>();
          fields.put("op", computed(null, metadata.child("operation")));
          fields.put("ts", metadata.child("timestamp"));
          fields.put(
              "source",
              computed(null, metadata.child("schema-name"), metadata.child("table-name")));
          final Tree cdc = Tree.exactly(null, fields);
          return Structs.change(
              event.child("data"), row -> Optional.of(Structs.put(row, CDC, cdc)));
        });
  }

  /** A value made of some others. */
  private static Shape computed(final String type, final Shape... from) {
    final Set<Contribution> contributions = new TreeSet<>();
    for (final Shape shape : from) {
      final Shape made =
          Structs.computed(shape, type, Contribution::transformed)
              .orElseGet(() -> Shape.Unknown.because("A struct is where a value was expected."));
      if (made instanceof Shape.Unknown || made instanceof Either) {
        return made;
      }
      if (made instanceof final Leaf leaf) {
        contributions.addAll(leaf.contributions());
      }
    }
    return Leaf.of(type, contributions);
  }
}
