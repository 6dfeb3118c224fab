// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.OneOf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import dev.lineagelab.connect.model.Field;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Converts symbolic values to schema fields, where their fields are fully known. */
public final class SchemaFields {
  private SchemaFields() {}

  /** Return the fields of a struct; empty if it may have further fields. */
  public static Optional<List<Field>> of(final SymbolicValue value) {
    return isStruct(value) && hasKnownFields(value)
        ? Optional.of(fieldsOf(value))
        : Optional.empty();
  }

  /**
   * Return the columns of a topic; empty if it may have further columns, or if values are bytes of
   * unknown content.
   */
  public static Optional<List<Field>> ofTopic(final SymbolicRecord record) {
    final Optional<List<Field>> value =
        isScalar(record.value())
            ? Optional.of(leafField(ColumnOrigins.VALUE_COLUMN, record.value()))
                .filter(field -> !"bytes".equals(field.type()))
                .map(List::of)
            : of(record.value());
    return value.map(
        fields -> {
          final List<Field> all = new ArrayList<>(fields);
          if (isScalar(record.key()) || isStruct(record.key()) && hasKnownFields(record.key())) {
            all.add(field(ColumnOrigins.KEY_COLUMN, record.key()));
          }
          return all;
        });
  }

  private static List<Field> fieldsOf(final SymbolicValue value) {
    final List<Field> fields = new ArrayList<>();
    names(value).forEach(name -> fields.add(field(name, value.child(name))));
    return fields;
  }

  private static Field field(final String name, final SymbolicValue value) {
    if (isStruct(value)) {
      return new Field(name, "struct", null, fieldsOf(value));
    }
    final List<Field> each = leaves(value).stream().map(leaf -> leafField(name, leaf)).toList();
    final boolean isOneType =
        each.stream().map(Field::type).distinct().count() == 1 && !each.isEmpty();
    final Field first = each.isEmpty() ? Field.of(name, null) : each.get(0);
    return isOneType ? first : new Field(name, null, first.description(), List.of());
  }

  private static Field leafField(final String name, final SymbolicValue value) {
    if (value instanceof final Leaf leaf) {
      return new Field(name, leaf.type(), leaf.description(), List.of());
    }
    return value instanceof final Unknown unknown
        ? new Field(name, unknown.type(), unknown.description(), List.of())
        : Field.of(name, null);
  }

  private static List<SymbolicValue> leaves(final SymbolicValue value) {
    return value instanceof final OneOf oneOf
        ? oneOf.values().stream().flatMap(one -> leaves(one).stream()).toList()
        : List.of(value);
  }

  /** Return true for a struct, and for a union with a struct variant. */
  static boolean isStruct(final SymbolicValue value) {
    return value instanceof StructValue
        || value instanceof final OneOf oneOf
            && oneOf.values().stream().anyMatch(SchemaFields::isStruct);
  }

  /** Return true for a value of a known type other than struct. */
  static boolean isScalar(final SymbolicValue value) {
    return value instanceof Leaf
        || value instanceof final Unknown unknown && unknown.type() != null;
  }

  /** Return true if all fields, at any depth, are known from a schema or created by a transform. */
  private static boolean hasKnownFields(final SymbolicValue value) {
    if (value instanceof final StructValue struct) {
      return struct.isClosed()
          && struct.fields().values().stream().allMatch(SchemaFields::hasKnownFields);
    }
    if (value instanceof final OneOf oneOf) {
      return oneOf.values().stream().allMatch(SchemaFields::hasKnownFields);
    }
    return isScalar(value);
  }

  private static Set<String> names(final SymbolicValue value) {
    final Set<String> names = new LinkedHashSet<>();
    for (final SymbolicValue one : leaves(value)) {
      if (one instanceof final StructValue struct) {
        names.addAll(struct.fields().keySet());
      }
    }
    return names;
  }
}
