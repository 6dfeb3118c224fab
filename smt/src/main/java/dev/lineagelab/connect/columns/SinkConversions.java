// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.OneOf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/** What connectors do to shapes when they write them somewhere. */
public final class SinkConversions {
  private SinkConversions() {}

  /** How a store's types are called, and whether a value is converted on its way there. */
  public interface Types {
    /** The type of the store for one of Connect; null if neither is known. */
    String of(String type);

    /** Whether a value of that type becomes one of another kind: a time becomes text. */
    default boolean converts(final String type) {
      return false;
    }
  }

  /** With the types that a store has. */
  public static SymbolicValue stored(final SymbolicValue shape, final Types types) {
    if (shape instanceof final Leaf leaf) {
      return stored(leaf, types);
    }
    if (shape instanceof final StructValue tree) {
      final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
      tree.fields().forEach((name, field) -> fields.put(name, stored(field, types)));
      return tree.with(fields, tree.gone());
    }
    if (shape instanceof final OneOf either) {
      return OneOf.of(either.shapes().stream().map(one -> stored(one, types)).toList());
    }
    return shape instanceof final Unknown unknown
        ? new Unknown(typed(unknown.type(), types), unknown.description(), unknown.reason())
        : shape;
  }

  private static Leaf stored(final Leaf leaf, final Types types) {
    final TreeSet<Contribution> contributions = new TreeSet<>();
    final boolean isConverted = leaf.type() != null && types.converts(leaf.type());
    leaf.contributions().forEach(c -> contributions.add(isConverted ? c.transformed() : c));
    return new Leaf(typed(leaf.type(), types), leaf.description(), contributions, leaf.constant());
  }

  private static String typed(final String type, final Types types) {
    return type == null ? null : types.of(type);
  }

  /** With other names of all fields. */
  public static SymbolicValue renamed(
      final SymbolicValue shape, final UnaryOperator<String> names) {
    if (shape instanceof final StructValue tree) {
      final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
      tree.fields().forEach((name, field) -> fields.put(names.apply(name), renamed(field, names)));
      return tree.with(fields, tree.gone());
    }
    return shape instanceof final OneOf either
        ? OneOf.of(either.shapes().stream().map(one -> renamed(one, names)).toList())
        : shape;
  }
}
