// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.OneOf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/** Conversions that sink connectors apply when they write values to a store. */
public final class SinkConversions {
  private SinkConversions() {}

  /** Maps Connect types to the types of a store. */
  public interface TypeMapping {
    /** Return the store's type for a Connect type. */
    String storeType(String type);

    /**
     * Return true if values of a Connect type are converted to another kind of value, such as a
     * time to text.
     */
    default boolean changesValue(final String type) {
      return false;
    }
  }

  /** Convert the types of a value to those of a store. */
  public static SymbolicValue convertTypes(final SymbolicValue value, final TypeMapping types) {
    if (value instanceof final Leaf leaf) {
      return convertLeaf(leaf, types);
    }
    if (value instanceof final StructValue struct) {
      final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
      struct.fields().forEach((name, field) -> fields.put(name, convertTypes(field, types)));
      return struct.withFields(fields, struct.removed());
    }
    if (value instanceof final OneOf oneOf) {
      return OneOf.of(oneOf.values().stream().map(one -> convertTypes(one, types)).toList());
    }
    return value instanceof final Unknown unknown
        ? new Unknown(storeType(unknown.type(), types), unknown.description(), unknown.reason())
        : value;
  }

  private static Leaf convertLeaf(final Leaf leaf, final TypeMapping types) {
    final TreeSet<Contribution> contributions = new TreeSet<>();
    final boolean isConverted = leaf.type() != null && types.changesValue(leaf.type());
    leaf.contributions().forEach(c -> contributions.add(isConverted ? c.transformed() : c));
    return new Leaf(
        storeType(leaf.type(), types), leaf.description(), contributions, leaf.constant());
  }

  private static String storeType(final String type, final TypeMapping types) {
    return type == null ? null : types.storeType(type);
  }

  /**
   * Return the row that a sink stores of a value: of a Debezium change event the row after the
   * change, of any other value the value itself.
   */
  public static SymbolicValue row(final SymbolicValue value) {
    return DebeziumTransforms.isEnvelope(value)
        .map(isEnvelope -> isEnvelope ? value.child("after") : value)
        .orElseGet(() -> Unknown.because(DebeziumTransforms.UNKNOWN_KIND));
  }

  /** Return a value without some of its fields. */
  public static SymbolicValue withoutFields(final SymbolicValue value, final Set<String> names) {
    return StructOperations.transform(
            value, struct -> Optional.of(StructOperations.remove(struct, names)))
        .orElse(value);
  }

  /** Rename the fields of a value whose fields are known. */
  public static SymbolicValue renameFields(
      final SymbolicValue value, final UnaryOperator<String> newName) {
    if (value instanceof final StructValue struct && struct.isClosed()) {
      final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
      struct.fields().forEach((name, field) -> fields.put(newName.apply(name), field));
      return StructValue.closed(struct.name(), fields);
    }
    if (value instanceof final OneOf oneOf) {
      return OneOf.of(oneOf.values().stream().map(one -> renameFields(one, newName)).toList());
    }
    return value;
  }

  /** Add fields to a record's value; fields of the same name in the value are replaced. */
  public static SymbolicValue addFields(
      final SymbolicValue value, final Map<String, SymbolicValue> added) {
    if (added.isEmpty()) {
      return value;
    }
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>(added);
    if (value instanceof final StructValue struct && struct.isClosed()) {
      struct.fields().forEach(fields::putIfAbsent);
      return StructValue.closed(null, fields);
    }
    return new StructValue(null, fields, value, Set.of(), false);
  }
}
