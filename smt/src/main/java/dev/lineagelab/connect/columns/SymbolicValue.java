// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** Value at one place of the transform chain, with its origins down to single fields. */
public sealed interface SymbolicValue {
  /** Null, or a field that does not exist. */
  SymbolicValue ABSENT = new Absent();

  /** Return a field of this value; {@link #ABSENT} if it cannot exist. */
  SymbolicValue child(String field);

  /** Null, or a field that does not exist. */
  record Absent() implements SymbolicValue {
    @Override
    public SymbolicValue child(final String field) {
      return this;
    }
  }

  /**
   * Value without fields.
   *
   * @param type as in the schema facet; null if unknown
   * @param description null if there is none
   * @param contributions empty for a constant
   * @param constant text of the value if all records have the same; otherwise null
   */
  record Leaf(
      String type, String description, SortedSet<Contribution> contributions, String constant)
      implements SymbolicValue {
    public Leaf {
      contributions = Collections.unmodifiableSortedSet(new TreeSet<>(contributions));
    }

    /** Return a value with some contributions. */
    public static Leaf of(final String type, final Collection<Contribution> contributions) {
      return new Leaf(type, null, new TreeSet<>(contributions), null);
    }

    /** Return an unchanged copy of a part of the record. */
    public static Leaf of(final String type, final Origin origin) {
      return of(type, Set.of(Contribution.identity(origin)));
    }

    /** Return a value that is the same in all records. */
    public static Leaf constant(final String type, final String value) {
      return new Leaf(type, null, Collections.emptySortedSet(), value);
    }

    @Override
    public SymbolicValue child(final String field) {
      return ABSENT;
    }
  }

  /**
   * Struct.
   *
   * @param name of its schema; null if it has none or is unknown
   * @param fields known fields, in order
   * @param rest value whose remaining fields the struct has too, except for {@code removed}
   * @param removed names that {@code rest} does not supply
   * @param fieldsPresent true if {@code fields} exist; otherwise they exist if their origins do
   */
  record StructValue(
      String name,
      Map<String, SymbolicValue> fields,
      SymbolicValue rest,
      Set<String> removed,
      boolean fieldsPresent)
      implements SymbolicValue {
    public StructValue {
      fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
      removed = Collections.unmodifiableSortedSet(new TreeSet<>(removed));
    }

    /** Return a struct that has these fields and no others. */
    public static StructValue closed(final String name, final Map<String, SymbolicValue> fields) {
      return new StructValue(name, fields, ABSENT, Set.of(), true);
    }

    /** Return a copy with other fields. */
    public StructValue withFields(
        final Map<String, SymbolicValue> changed, final Set<String> removed) {
      return new StructValue(name, changed, rest, isClosed() ? Set.of() : removed, fieldsPresent);
    }

    /** Return true if all field names are known. */
    public boolean isClosed() {
      return rest instanceof Absent;
    }

    @Override
    public SymbolicValue child(final String field) {
      final SymbolicValue known = fields.get(field);
      if (known != null) {
        return known;
      }
      return removed.contains(field) ? ABSENT : rest.child(field);
    }
  }

  /**
   * Unchanged part of the input record, with unknown content.
   *
   * @param nestedNames names that fields of its fields can have; null for any. A database row has
   *     columns of any name, but the fields within a column are known
   */
  record Passthrough(Origin origin, Set<String> nestedNames) implements SymbolicValue {
    /** Return an unchanged part with arbitrary content. */
    public static Passthrough of(final Origin origin) {
      return new Passthrough(origin, null);
    }

    @Override
    public SymbolicValue child(final String field) {
      return nestedNames == null
          ? of(origin.child(field))
          : new PassthroughColumn(origin.child(field), nestedNames);
    }
  }

  /**
   * Unchanged column of the input record.
   *
   * @param nestedNames names of its fields if it is a struct
   */
  record PassthroughColumn(Origin origin, Set<String> nestedNames) implements SymbolicValue {
    @Override
    public SymbolicValue child(final String field) {
      return nestedNames.contains(field)
          ? new PassthroughColumn(origin.child(field), Set.of())
          : ABSENT;
    }
  }

  /** Fields of a struct and of its nested structs, by joined names. */
  record Flattened(SymbolicValue struct, String delimiter) implements SymbolicValue {
    @Override
    public SymbolicValue child(final String field) {
      return FlattenedFields.find(struct, delimiter, field);
    }
  }

  /** One of several values, depending on the record. */
  record OneOf(List<SymbolicValue> values) implements SymbolicValue {
    public OneOf {
      values = List.copyOf(values);
    }

    /** Return the union of values, without absent ones. */
    public static SymbolicValue of(final Collection<? extends SymbolicValue> values) {
      final List<SymbolicValue> present =
          values.stream()
              .<SymbolicValue>map(s -> s)
              .filter(s -> !(s instanceof Absent))
              .distinct()
              .toList();
      return switch (present.size()) {
        case 0 -> ABSENT;
        case 1 -> present.get(0);
        default -> new OneOf(present);
      };
    }

    @Override
    public SymbolicValue child(final String field) {
      return of(values.stream().map(value -> value.child(field)).toList());
    }
  }

  /**
   * Value that could not be traced.
   *
   * @param type as in the schema facet; null if unknown
   * @param description null if there is none
   * @param reason sentence for users
   */
  record Unknown(String type, String description, String reason) implements SymbolicValue {
    /** Return an untraced value of unknown type. */
    public static Unknown because(final String reason) {
      return new Unknown(null, null, reason);
    }

    @Override
    public SymbolicValue child(final String field) {
      return because(reason);
    }
  }
}
