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

/** Joins what a chain says of a value with the schema that was seen at its end. */
public final class SchemaRefinement {
  private static final String CONTRADICTION =
      "A field was seen that the transforms before it should not have left there.";

  private SchemaRefinement() {}

  /** A record whose key and value have these schemas; null for what has none or was not seen. */
  public static SymbolicRecord refine(
      final SymbolicRecord record, final Schema keySchema, final Schema valueSchema) {
    final SymbolicRecord refined =
        record.with(SymbolicRecord.Side.KEY, refine(record.key(), keySchema));
    // The schema is that of other records, where these certainly have no value.
    return valueSchema == null || Boolean.TRUE.equals(record.tombstone())
        ? refined
        : refined.withValue(refine(record.value(), valueSchema), record.tombstone());
  }

  /** A value that has this schema; null if it has none or none was seen. */
  static SymbolicValue refine(final SymbolicValue shape, final Schema schema) {
    return schema == null
        ? shape
        : refine(shape, ConnectSchemaReader.whole("", schema), schema.name());
  }

  private static SymbolicValue refine(
      final SymbolicValue shape, final Field field, final String name) {
    if (field.fields().isEmpty() && !isEmptyStruct(shape, field)) {
      return leaf(shape, field);
    }
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    for (final Field inner : field.fields()) {
      fields.put(inner.name(), refine(shape.child(inner.name()), inner, null));
    }
    return StructValue.exactly(name, fields);
  }

  /** One of which transforms have left no field; what they have not touched stays one column. */
  private static boolean isEmptyStruct(final SymbolicValue shape, final Field field) {
    return "struct".equals(field.type()) && ColumnOrigins.isStruct(shape);
  }

  private static SymbolicValue leaf(final SymbolicValue shape, final Field field) {
    if (shape instanceof final Leaf leaf) {
      return new Leaf(field.type(), field.description(), leaf.contributions(), leaf.constant());
    }
    if (shape instanceof final Passthrough untouched) {
      return identity(untouched.origin(), field);
    }
    if (shape instanceof final PassthroughColumn column) {
      return identity(column.origin(), field);
    }
    if (shape instanceof final OneOf either) {
      return merged(possible(either).stream().map(one -> leaf(one, field)).toList(), field);
    }
    if (shape instanceof final Unknown unknown) {
      return new Unknown(field.type(), field.description(), unknown.reason());
    }
    return new Unknown(field.type(), field.description(), CONTRADICTION);
  }

  /** What was seen is no struct: it did not go the ways that leave one. */
  private static List<SymbolicValue> possible(final OneOf either) {
    final List<SymbolicValue> scalars =
        either.shapes().stream().filter(shape -> !(shape instanceof StructValue)).toList();
    return scalars.isEmpty() ? either.shapes() : scalars;
  }

  private static Leaf identity(final Origin origin, final Field field) {
    final SortedSet<Contribution> contributions = new TreeSet<>();
    contributions.add(Contribution.identity(origin));
    return new Leaf(field.type(), field.description(), contributions, null);
  }

  /** A value that is one of several: made from what each is made from. */
  private static SymbolicValue merged(final List<SymbolicValue> leaves, final Field field) {
    final SortedSet<Contribution> contributions = new TreeSet<>();
    for (final SymbolicValue shape : leaves) {
      if (shape instanceof Unknown) {
        return shape;
      }
      contributions.addAll(((Leaf) shape).contributions());
    }
    return new Leaf(field.type(), field.description(), contributions, null);
  }
}
