// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.RecordState.Side;
import dev.lineagelab.connect.columns.Shape.Absent;
import dev.lineagelab.connect.columns.Shape.Leaf;
import dev.lineagelab.connect.columns.Shape.Tree;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Kafka's transforms that make another struct of a struct. */
final class StructTransforms {
  private StructTransforms() {}

  /** {@code ExtractField}: a field in place of the whole. */
  static Transform extractField(final Side side, final Options options) {
    final List<String> path = path(options);
    return record -> {
      final Shape whole = record.side(side);
      final Shape found = Structs.change(whole, tree -> Optional.of(at(tree, path))).orElse(whole);
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

  private static List<String> path(final Options options) {
    final String field = options.required("field");
    return options.text("field.syntax.version").filter("v2"::equalsIgnoreCase).isPresent()
        ? FieldPath.parse(field)
        : List.of(field);
  }

  private static Shape at(final Shape shape, final List<String> path) {
    Shape found = shape;
    for (final String step : path) {
      found = found.child(step);
    }
    return found;
  }

  /** {@code HoistField}: a struct around the whole, also around no value. */
  static Transform hoistField(final Side side, final Options options) {
    final String field = options.required("field");
    return record -> {
      final Shape inner = record.side(side);
      final Shape present = inner instanceof Absent ? Leaf.constant(null, null) : inner;
      final Tree hoisted = Tree.exactly(null, Map.of(field, present));
      return List.of(
          side == Side.VALUE ? record.withValue(hoisted, false) : record.with(side, hoisted));
    };
  }

  /** {@code Flatten}. */
  static Transform flatten(final Side side, final Options options) {
    final String delimiter = options.text("delimiter").orElse(options.has("delimiter") ? "" : ".");
    return Transform.onStruct(
        side,
        tree ->
            tree.fields().values().stream().anyMatch(StructTransforms::hasMap)
                ? Optional.empty()
                : Structs.flattened(tree, delimiter));
  }

  private static boolean hasMap(final Shape shape) {
    if (shape instanceof final Tree tree) {
      return tree.fields().values().stream().anyMatch(StructTransforms::hasMap);
    }
    return shape instanceof final Leaf leaf
        && leaf.type() != null
        && leaf.type().startsWith("map<");
  }

  /** {@code ValueToKey}: fields of the value as a new key. */
  static Transform valueToKey(final Options options) {
    final List<String> names = options.list("fields");
    return record -> {
      final Optional<Shape> key =
          Structs.change(
              record.value(),
              tree -> {
                final Map<String, Shape> fields = new LinkedHashMap<>();
                names.forEach(name -> fields.put(name, tree.child(name)));
                return fields.containsValue(Shape.ABSENT)
                    ? Optional.empty()
                    : Optional.of(Tree.exactly(null, fields));
              });
      return Transform.changed(record, Side.KEY, key);
    };
  }

  /** {@code SetSchemaMetadata}: of what it sets, only the name tells what a record is. */
  static Transform setSchemaMetadata(final Side side, final Options options) {
    final Optional<String> name = options.text("schema.name");
    return record ->
        name.isPresent() && record.side(side) instanceof final Tree tree
            ? List.of(
                record.with(
                    side,
                    new Tree(name.get(), tree.fields(), tree.rest(), tree.gone(), tree.certain())))
            : List.of(record);
  }
}
