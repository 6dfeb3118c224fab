// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.OneOf;
import dev.lineagelab.connect.columns.SymbolicValue.Passthrough;
import dev.lineagelab.connect.columns.SymbolicValue.PassthroughColumn;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import dev.lineagelab.connect.model.Field;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.kafka.connect.data.Schema;

/** Refines symbolic values with the schema that was observed at their place in the chain. */
public final class SchemaRefinement {
  private static final String CONTRADICTION =
      "A field was observed that the preceding transforms should have removed.";

  private SchemaRefinement() {}

  /**
   * Refine key and value of a record.
   *
   * @param keySchema null if keys have no schema, or none was observed
   * @param valueSchema null if values have no schema, or none was observed
   */
  public static SymbolicRecord refine(
      final SymbolicRecord record, final Schema keySchema, final Schema valueSchema) {
    final SymbolicRecord refined =
        record.withSide(SymbolicRecord.Side.KEY, refine(record.key(), keySchema));
    // A tombstone has no value; the schema was observed on other records.
    return valueSchema == null || Boolean.TRUE.equals(record.tombstone())
        ? refined
        : refined.withValue(refine(record.value(), valueSchema), record.tombstone());
  }

  /**
   * Refine a value.
   *
   * @param schema null if it has none, or none was observed
   */
  static SymbolicValue refine(final SymbolicValue value, final Schema schema) {
    return schema == null
        ? value
        : refine(value, ConnectSchemaReader.field("", schema), schema.name());
  }

  private static SymbolicValue refine(
      final SymbolicValue value, final Field field, final String name) {
    if (field.fields().isEmpty() && !isEmptyStruct(value, field)) {
      return leaf(value, field);
    }
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    for (final Field inner : field.fields()) {
      fields.put(inner.name(), refine(value.child(inner.name()), inner, null));
    }
    return StructValue.closed(name, fields);
  }

  /**
   * Return true for a struct that transforms left without fields; an untouched empty struct stays
   * one column.
   */
  private static boolean isEmptyStruct(final SymbolicValue value, final Field field) {
    return "struct".equals(field.type()) && SchemaFields.isStruct(value);
  }

  private static SymbolicValue leaf(final SymbolicValue value, final Field field) {
    if (value instanceof final Leaf leaf) {
      return new Leaf(field.type(), field.description(), leaf.contributions(), leaf.constant());
    }
    if (value instanceof final Passthrough passthrough) {
      return identity(passthrough.origin(), field);
    }
    if (value instanceof final PassthroughColumn column) {
      return identity(column.origin(), field);
    }
    if (value instanceof final OneOf oneOf) {
      return merged(possible(oneOf).stream().map(one -> leaf(one, field)).toList(), field);
    }
    if (value instanceof final Unknown unknown) {
      return new Unknown(field.type(), field.description(), unknown.reason());
    }
    return new Unknown(field.type(), field.description(), CONTRADICTION);
  }

  /**
   * Drop struct variants: the observed value is not a struct, so it did not take these branches.
   */
  private static List<SymbolicValue> possible(final OneOf oneOf) {
    final List<SymbolicValue> scalars =
        oneOf.values().stream().filter(value -> !(value instanceof StructValue)).toList();
    return scalars.isEmpty() ? oneOf.values() : scalars;
  }

  private static Leaf identity(final Origin origin, final Field field) {
    final SortedSet<Contribution> contributions = new TreeSet<>();
    contributions.add(Contribution.identity(origin));
    return new Leaf(field.type(), field.description(), contributions, null);
  }

  /** Merge variants of a value: the result has the origins of all of them. */
  private static SymbolicValue merged(final List<SymbolicValue> leaves, final Field field) {
    final SortedSet<Contribution> contributions = new TreeSet<>();
    for (final SymbolicValue value : leaves) {
      if (value instanceof Unknown) {
        return value;
      }
      contributions.addAll(((Leaf) value).contributions());
    }
    return new Leaf(field.type(), field.description(), contributions, null);
  }
}
