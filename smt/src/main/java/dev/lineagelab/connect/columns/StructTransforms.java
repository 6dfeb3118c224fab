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

/** Kafka's transforms that make another struct of a struct. */
final class StructTransforms {
  private StructTransforms() {}

  /** {@code ExtractField}: a field in place of the whole. */
  static SymbolicTransform extractField(final Side side, final ConnectorOptions options) {
    final List<String> path = path(options);
    return record -> {
      final SymbolicValue whole = record.side(side);
      final SymbolicValue found =
          StructOperations.change(whole, tree -> Optional.of(at(tree, path))).orElse(whole);
      if (whole instanceof Absent) {
        return List.of(record);
      }
      // No value may mean that the schema has no such field, on which it fails.
      if (whole instanceof Leaf || found instanceof Absent) {
        return List.of();
      }
      // What is in the field may be nothing.
      return List.of(side == Side.VALUE ? record.withValue(found, null) : record.with(side, found));
    };
  }

  private static List<String> path(final ConnectorOptions options) {
    final String field = options.required("field");
    return options.text("field.syntax.version").filter("v2"::equalsIgnoreCase).isPresent()
        ? FieldPath.parse(field)
        : List.of(field);
  }

  private static SymbolicValue at(final SymbolicValue shape, final List<String> path) {
    SymbolicValue found = shape;
    for (final String step : path) {
      found = found.child(step);
    }
    return found;
  }

  /** {@code HoistField}: a struct around the whole, also around no value. */
  static SymbolicTransform hoistField(final Side side, final ConnectorOptions options) {
    final String field = options.required("field");
    return record -> {
      final SymbolicValue inner = record.side(side);
      final SymbolicValue present = inner instanceof Absent ? Leaf.constant(null, null) : inner;
      final StructValue hoisted = StructValue.exactly(null, Map.of(field, present));
      return List.of(
          side == Side.VALUE ? record.withValue(hoisted, false) : record.with(side, hoisted));
    };
  }

  /** {@code Flatten}. */
  static SymbolicTransform flatten(final Side side, final ConnectorOptions options) {
    final String delimiter = options.text("delimiter").orElse(options.has("delimiter") ? "" : ".");
    return SymbolicTransform.onStruct(
        side,
        tree ->
            tree.fields().values().stream().anyMatch(StructTransforms::hasMap)
                ? Optional.empty()
                : StructOperations.flattened(tree, delimiter));
  }

  private static boolean hasMap(final SymbolicValue shape) {
    if (shape instanceof final StructValue tree) {
      return tree.fields().values().stream().anyMatch(StructTransforms::hasMap);
    }
    return shape instanceof final Leaf leaf
        && leaf.type() != null
        && leaf.type().startsWith("map<");
  }

  /** {@code ValueToKey}: fields of the value as a new key. */
  static SymbolicTransform valueToKey(final ConnectorOptions options) {
    final List<String> names = options.list("fields");
    return record -> {
      final Optional<SymbolicValue> key =
          StructOperations.change(
              record.value(),
              tree -> {
                final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
                names.forEach(name -> fields.put(name, tree.child(name)));
                return fields.containsValue(SymbolicValue.ABSENT)
                    ? Optional.empty()
                    : Optional.of(StructValue.exactly(null, fields));
              });
      return SymbolicTransform.changed(record, Side.KEY, key);
    };
  }

  /** {@code SetSchemaMetadata}: of what it sets, only the name tells what a record is. */
  static SymbolicTransform setSchemaMetadata(final Side side, final ConnectorOptions options) {
    final Optional<String> name = options.text("schema.name");
    return record ->
        name.isPresent() && record.side(side) instanceof final StructValue tree
            ? List.of(
                record.with(
                    side,
                    new StructValue(
                        name.get(), tree.fields(), tree.rest(), tree.gone(), tree.certain())))
            : List.of(record);
  }
}
