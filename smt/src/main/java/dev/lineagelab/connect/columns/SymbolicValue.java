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

/** What is known of a value: what it is made from, down to its fields. */
public sealed interface SymbolicValue {
  /** No value, or a field that is not there. */
  SymbolicValue ABSENT = new Absent();

  /** A field of this value; {@link #ABSENT} if there cannot be one. */
  SymbolicValue child(String field);

  /** There is none. */
  record Absent() implements SymbolicValue {
    @Override
    public SymbolicValue child(final String field) {
      return this;
    }
  }

  /**
   * A value that has no fields.
   *
   * @param type as a schema facet shows it; null if unknown
   * @param description null if there is none
   * @param contributions empty for a constant
   * @param constant the value as text where it is the same in all records; else null
   */
  record Leaf(
      String type, String description, SortedSet<Contribution> contributions, String constant)
      implements SymbolicValue {
    public Leaf {
      contributions = Collections.unmodifiableSortedSet(new TreeSet<>(contributions));
    }

    /** A value made from something. */
    public static Leaf of(final String type, final Collection<Contribution> contributions) {
      return new Leaf(type, null, new TreeSet<>(contributions), null);
    }

    /** A part of the record, as it is. */
    public static Leaf of(final String type, final Origin origin) {
      return of(type, Set.of(Contribution.identity(origin)));
    }

    /** The same value in all records. */
    public static Leaf constant(final String type, final String value) {
      return new Leaf(type, null, Collections.emptySortedSet(), value);
    }

    @Override
    public SymbolicValue child(final String field) {
      return ABSENT;
    }
  }

  /**
   * A struct.
   *
   * @param name of its schema; null if it has none or that is not known
   * @param fields in order
   * @param rest whose fields it has besides, except for those that are {@code gone}
   * @param certain whether {@code fields} are there; else they are if they were at the start
   */
  record StructValue(
      String name,
      Map<String, SymbolicValue> fields,
      SymbolicValue rest,
      Set<String> gone,
      boolean certain)
      implements SymbolicValue {
    public StructValue {
      fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
      gone = Collections.unmodifiableSortedSet(new TreeSet<>(gone));
    }

    /** A struct that has no other fields than these. */
    public static StructValue exactly(final String name, final Map<String, SymbolicValue> fields) {
      return new StructValue(name, fields, ABSENT, Set.of(), true);
    }

    /** The same struct with other fields. */
    public StructValue with(final Map<String, SymbolicValue> changed, final Set<String> removed) {
      return new StructValue(name, changed, rest, isExact() ? Set.of() : removed, certain);
    }

    /** Whether all of its fields are known, though perhaps not what is in them. */
    public boolean isExact() {
      return rest instanceof Absent;
    }

    @Override
    public SymbolicValue child(final String field) {
      final SymbolicValue known = fields.get(field);
      if (known != null) {
        return known;
      }
      return gone.contains(field) ? ABSENT : rest.child(field);
    }
  }

  /**
   * A value as it was at the start of the chain, whatever is in it.
   *
   * @param inner names that fields of its fields can have; null for any. A row of a database has
   *     columns of any name, but what is in a column is known
   */
  record Passthrough(Origin origin, Set<String> inner) implements SymbolicValue {
    /** Anything. */
    public static Passthrough of(final Origin origin) {
      return new Passthrough(origin, null);
    }

    @Override
    public SymbolicValue child(final String field) {
      return inner == null
          ? of(origin.child(field))
          : new PassthroughColumn(origin.child(field), inner);
    }
  }

  /**
   * A column as it was at the start of the chain.
   *
   * @param inner names of the fields that it has if it is a struct
   */
  record PassthroughColumn(Origin origin, Set<String> inner) implements SymbolicValue {
    @Override
    public SymbolicValue child(final String field) {
      return inner.contains(field) ? new PassthroughColumn(origin.child(field), Set.of()) : ABSENT;
    }
  }

  /** The fields of a struct, and of the structs within it, by their joined names. */
  record Flattened(SymbolicValue struct, String delimiter) implements SymbolicValue {
    @Override
    public SymbolicValue child(final String field) {
      return FlattenedFields.find(struct, delimiter, field);
    }
  }

  /** One of several, which one depends on the record. */
  record OneOf(List<SymbolicValue> shapes) implements SymbolicValue {
    public OneOf {
      shapes = List.copyOf(shapes);
    }

    /** One of these; without those that are no value. */
    public static SymbolicValue of(final Collection<? extends SymbolicValue> shapes) {
      final List<SymbolicValue> present =
          shapes.stream()
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
      return of(shapes.stream().map(shape -> shape.child(field)).toList());
    }
  }

  /**
   * A value of which it is not known what it is made from.
   *
   * @param type as a schema facet shows it; null if unknown
   * @param description null if there is none
   * @param reason a sentence for people
   */
  record Unknown(String type, String description, String reason) implements SymbolicValue {
    /** Whose type is not known either. */
    public static Unknown because(final String reason) {
      return new Unknown(null, null, reason);
    }

    @Override
    public SymbolicValue child(final String field) {
      return because(reason);
    }
  }
}
