// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.columns.SymbolicValue.Absent;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Models of Kafka's transforms that restructure a key or value. */
final class StructTransforms {
  private StructTransforms() {}

  /** {@code ExtractField}: replaces a struct by one of its fields. */
  static SymbolicTransform extractField(final Side side, final ConnectorOptions options) {
    final List<String> path = path(options);
    return record -> {
      final SymbolicValue whole = record.side(side);
      final SymbolicValue found =
          StructOperations.transform(whole, struct -> Optional.of(at(struct, path))).orElse(whole);
      if (whole instanceof Absent) {
        return List.of(record);
      }
      // ExtractField fails on a schema without this field.
      if (whole instanceof Leaf || found instanceof Absent) {
        return List.of();
      }
      // The field may be null.
      return List.of(
          side == Side.VALUE ? record.withValue(found, null) : record.withSide(side, found));
    };
  }

  private static List<String> path(final ConnectorOptions options) {
    final String field = options.required("field");
    return options.text("field.syntax.version").filter("v2"::equalsIgnoreCase).isPresent()
        ? FieldPath.parse(field)
        : List.of(field);
  }

  private static SymbolicValue at(final SymbolicValue value, final List<String> path) {
    SymbolicValue found = value;
    for (final String step : path) {
      found = found.child(step);
    }
    return found;
  }

  /** {@code HoistField}: wraps the key or value, even null, in a struct. */
  static SymbolicTransform hoistField(final Side side, final ConnectorOptions options) {
    final String field = options.required("field");
    return record -> {
      final SymbolicValue inner = record.side(side);
      final SymbolicValue present = inner instanceof Absent ? Leaf.constant(null, null) : inner;
      final StructValue hoisted = StructValue.closed(null, Map.of(field, present));
      return List.of(
          side == Side.VALUE ? record.withValue(hoisted, false) : record.withSide(side, hoisted));
    };
  }

  /** {@code Flatten}: moves nested fields to the top level. Fails on maps. */
  static SymbolicTransform flatten(final Side side, final ConnectorOptions options) {
    final String delimiter = options.text("delimiter").orElse(options.has("delimiter") ? "" : ".");
    return SymbolicTransform.onStruct(
        side,
        struct ->
            struct.fields().values().stream().anyMatch(StructTransforms::hasMap)
                ? Optional.empty()
                : StructOperations.flatten(struct, delimiter));
  }

  private static boolean hasMap(final SymbolicValue value) {
    if (value instanceof final StructValue struct) {
      return struct.fields().values().stream().anyMatch(StructTransforms::hasMap);
    }
    return value instanceof final Leaf leaf
        && leaf.type() != null
        && leaf.type().startsWith("map<");
  }

  /** {@code ValueToKey}: replaces the key by fields of the value. */
  static SymbolicTransform valueToKey(final ConnectorOptions options) {
    final List<String> names = options.list("fields");
    return record -> {
      final Optional<SymbolicValue> key =
          StructOperations.transform(
              record.value(),
              struct -> {
                final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
                names.forEach(name -> fields.put(name, struct.child(name)));
                return fields.containsValue(SymbolicValue.ABSENT)
                    ? Optional.empty()
                    : Optional.of(StructValue.closed(null, fields));
              });
      return SymbolicTransform.replaceSide(record, Side.KEY, key);
    };
  }

  /**
   * {@code SetSchemaMetadata}: sets schema name and version; only the name affects later
   * transforms.
   */
  static SymbolicTransform setSchemaMetadata(final Side side, final ConnectorOptions options) {
    final Optional<String> name = options.text("schema.name");
    return record ->
        name.isPresent() && record.side(side) instanceof final StructValue struct
            ? List.of(
                record.withSide(
                    side,
                    new StructValue(
                        name.get(),
                        struct.fields(),
                        struct.rest(),
                        struct.removed(),
                        struct.fieldsPresent())))
            : List.of(record);
  }
}
