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
import java.util.function.Predicate;

/** Models of Debezium's transforms. */
final class DebeziumTransforms {
  /** Suffix of the schema names of Debezium change events. */
  static final String ENVELOPE = ".Envelope";

  /** Why nothing is known of values before a record was observed. */
  static final String UNKNOWN_KIND =
      "It is unknown whether values are Debezium change events until a record is observed.";

  private static final Set<String> TRANSACTION_FIELDS =
      Set.of("id", "data_collection_order", "total_order");
  private static final Set<String> EVENT_FIELDS = Set.of("op", "ts_ms", "ts_us", "ts_ns");

  /** Types that TimezoneConverter converts; dates and times of day without a zone stay. */
  private static final Set<String> TIMES =
      Set.of(
          "timestamp",
          "timestamp(3)",
          "timestamp(6)",
          "timestamp(9)",
          "time with time zone",
          "timestamp with time zone");

  private DebeziumTransforms() {}

  /**
   * {@code ExtractNewRecordState}: replaces a change event by its row. Other records pass
   * unchanged.
   */
  static SymbolicTransform extractNewRecordState(final ConnectorOptions options) {
    final String deletes = options.text("delete.tombstone.handling.mode").orElse("tombstone");
    final boolean isRewrite = deletes.startsWith("rewrite");
    final List<FieldReference> added = references(options, "add.fields");
    final List<FieldReference> headers = references(options, "add.headers");
    final Optional<String> route = options.text("route.by.field");
    return record -> {
      if (record.value() instanceof Absent) {
        return "rewrite-with-tombstone".equals(deletes) ? List.of(record) : List.of();
      }
      final Optional<Boolean> isEnvelope = isEnvelope(record.value());
      if (isEnvelope.isEmpty()) {
        return List.of(record.asUnknown(UNKNOWN_KIND));
      }
      if (!isEnvelope.get()) {
        return List.of(record);
      }
      final List<SymbolicRecord> rows = new ArrayList<>();
      rows.addAll(row(record, "after", isRewrite, added, headers));
      if (isRewrite) {
        rows.addAll(row(record, "before", true, added, headers));
      } else if (!"drop".equals(deletes)) {
        rows.add(record.withValue(SymbolicValue.ABSENT, true));
      }
      return route.isEmpty() ? rows : rows.stream().map(DebeziumTransforms::routedByRow).toList();
    };
  }

  /** Return true for a change event; empty if no schema was observed yet. */
  static Optional<Boolean> isEnvelope(final SymbolicValue value) {
    if (value instanceof final StructValue struct && struct.name() != null) {
      return Optional.of(struct.name().endsWith(ENVELOPE));
    }
    if (value instanceof final StructValue struct && struct.isClosed()) {
      // Other transforms create structs without a schema name; these are not envelopes.
      return Optional.of(false);
    }
    if (value instanceof final OneOf oneOf) {
      final List<Optional<Boolean>> each =
          oneOf.values().stream().map(DebeziumTransforms::isEnvelope).distinct().toList();
      return each.size() == 1 ? each.get(0) : Optional.empty();
    }
    return value instanceof Leaf ? Optional.of(false) : Optional.empty();
  }

  private static SymbolicRecord routedByRow(final SymbolicRecord record) {
    return record.withTopic(
        new TopicName.Unknown("The topic depends on a field of the row ('route.by.field')."));
  }

  private static List<SymbolicRecord> row(
      final SymbolicRecord record,
      final String image,
      final boolean isRewrite,
      final List<FieldReference> added,
      final List<FieldReference> headers) {
    final SymbolicValue envelope = record.value();
    final Optional<SymbolicValue> row =
        StructOperations.transform(
            envelope.child(image),
            struct -> {
              Optional<StructValue> changed = Optional.of(struct);
              if (isRewrite) {
                final SymbolicValue flag = Leaf.constant("string", null);
                changed = changed.flatMap(t -> StructOperations.add(t, "__deleted", flag));
              }
              for (final FieldReference reference : added) {
                final SymbolicValue value = reference.in(envelope);
                if (!(value instanceof Absent)) {
                  changed = changed.flatMap(t -> StructOperations.add(t, reference.newName, value));
                }
              }
              return changed;
            });
    return row.map(value -> withHeaders(record.withValue(value, false), envelope, headers)).stream()
        .toList();
  }

  private static SymbolicRecord withHeaders(
      final SymbolicRecord record,
      final SymbolicValue envelope,
      final List<FieldReference> headers) {
    SymbolicRecord changed = record;
    for (final FieldReference header : headers) {
      if (!(header.in(envelope) instanceof Absent)) {
        changed = changed.withHeader(header.newName, true);
      }
    }
    return changed;
  }

  private static List<FieldReference> references(
      final ConnectorOptions options, final String name) {
    final String prefix = options.text(name + ".prefix").orElse("__");
    return options.list(name).stream().map(item -> FieldReference.parse(item, prefix)).toList();
  }

  /**
   * Reference to a field of a change event.
   *
   * @param struct nested struct that is searched first; null for the event itself
   */
  private record FieldReference(String struct, String field, String newName) {
    /** Parse {@code [STRUCT.]FIELD[:NEW_NAME]}. */
    static FieldReference parse(final String text, final String prefix) {
      final String[] renamed = text.split(":", -1);
      final String[] path = renamed[0].split("\\.", -1);
      if (path.length > 2 || renamed.length > 2) {
        throw new UnusableOptionException(
            "'" + text + "' does not refer to a field of a change event");
      }
      final String field = path[path.length - 1];
      final String struct = path.length == 2 ? path[0] : homeOf(field);
      final String plainName = path.length == 2 ? path[0] + "_" + field : field;
      return new FieldReference(
          struct, field, prefix + (renamed.length == 2 ? renamed[1] : plainName));
    }

    private static String homeOf(final String field) {
      if (TRANSACTION_FIELDS.contains(field)) {
        return "transaction";
      }
      return EVENT_FIELDS.contains(field) ? null : "source";
    }

    SymbolicValue in(final SymbolicValue envelope) {
      final SymbolicValue inStruct =
          struct == null ? SymbolicValue.ABSENT : envelope.child(struct).child(field);
      return inStruct instanceof Absent ? envelope.child(field) : inStruct;
    }
  }

  /** {@code ByLogicalTableRouter}: changes the topic, and adds the physical table to the key. */
  static SymbolicTransform byLogicalTableRouter(final ConnectorOptions options) {
    final BoundedRegex regex = BoundedRegex.of(options.required("topic.regex"));
    final String replacement = options.required("topic.replacement");
    final boolean isKeyChanged = options.flag("key.enforce.uniqueness", true);
    final String keyField = options.text("key.field.name").orElse("__dbz__physicalTableIdentifier");
    return record -> {
      final TopicName topic = RecordTransforms.routed(record.topic(), regex, replacement);
      final boolean isMatch =
          !(record.topic() instanceof final TopicName.Known known) || regex.matches(known.name());
      if (!isMatch || topic instanceof final TopicName.Known known && known.name().isEmpty()) {
        return List.of(record);
      }
      final SymbolicRecord routed = record.withTopic(topic);
      if (!isKeyChanged || record.key() instanceof Absent) {
        return List.of(routed);
      }
      final SymbolicValue table =
          Leaf.of("string", Set.of(Contribution.identity(Origin.of(Part.TOPIC)).transformed()));
      return SymbolicTransform.replaceSide(
          routed,
          Side.KEY,
          StructOperations.transform(
              record.key(), struct -> StructOperations.add(struct, keyField, table)));
    };
  }

  /**
   * {@code TimezoneConverter}: converts the times in the rows of a change event. Which of its rules
   * apply to a table is not decided here: a column that a rule may convert is taken for converted.
   */
  static SymbolicTransform timezoneConverter(final ConnectorOptions options) {
    final List<String> included = options.list("include.list");
    final List<String> excluded = options.list("exclude.list");
    final Predicate<String> isConverted =
        column ->
            included.isEmpty()
                ? excluded.stream().noneMatch(rule -> column.equals(columnOf(rule)))
                : included.stream()
                    .anyMatch(rule -> columnOf(rule) == null || column.equals(columnOf(rule)));
    return record ->
        isEnvelope(record.value()).orElse(false)
            ? SymbolicTransform.onStruct(Side.VALUE, struct -> converted(struct, isConverted))
                .apply(record)
            : List.of(record);
  }

  /**
   * Return the column of a rule, {@code source:TABLE[:COLUMN]}, {@code topic:TOPIC[:COLUMN]} or
   * {@code NAME:COLUMN}; null for a rule that names none.
   */
  private static String columnOf(final String rule) {
    final String[] parts = rule.strip().split(":", -1);
    final int position = Set.of("source", "topic").contains(parts[0]) ? 2 : 1;
    return parts.length > position ? parts[position].replaceFirst("^(before|after)\\.", "") : null;
  }

  private static Optional<StructValue> converted(
      final StructValue envelope, final Predicate<String> isConverted) {
    Optional<StructValue> changed = Optional.of(envelope);
    for (final String image : List.of("before", "after")) {
      changed =
          changed.flatMap(
              struct ->
                  StructOperations.replace(
                      struct,
                      image,
                      row ->
                          StructOperations.transform(
                              row, fields -> Optional.of(convertedRow(fields, isConverted)))));
    }
    return changed;
  }

  private static StructValue convertedRow(
      final StructValue row, final Predicate<String> isConverted) {
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>(row.fields());
    fields.replaceAll(
        (name, value) ->
            value instanceof final Leaf leaf
                    && leaf.type() != null
                    && TIMES.contains(leaf.type())
                    && isConverted.test(name)
                ? StructOperations.derive(leaf, null, Contribution::transformed).orElse(leaf)
                : value);
    return row.withFields(fields, row.removed());
  }
}
