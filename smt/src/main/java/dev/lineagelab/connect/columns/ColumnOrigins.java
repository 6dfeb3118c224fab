// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.OneOf;
import dev.lineagelab.connect.columns.SymbolicValue.Passthrough;
import dev.lineagelab.connect.columns.SymbolicValue.PassthroughColumn;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import java.util.Collection;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Columns of a symbolic value by dotted path, with the origins of each.
 *
 * @param known origins of each traced column; empty for a constant
 * @param unknown columns that could not be traced
 * @param open true if the value has, or may have, further columns
 * @param reasons why columns are untraced or missing, as sentences for users
 */
public record ColumnOrigins(
    SortedMap<String, SortedSet<Contribution>> known,
    SortedSet<String> unknown,
    boolean open,
    SortedSet<String> reasons) {
  /** Column of a topic whose values have no fields. */
  static final String VALUE_COLUMN = Origin.of(Origin.Part.VALUE).columnName();

  /** Column of the key of a topic. */
  static final String KEY_COLUMN = Origin.of(Origin.Part.KEY).columnName();

  private static final String NO_SCHEMA =
      "No schema was observed: only columns named by transforms are known.";

  /** Collect the columns of a struct, or of all variants of a value. */
  public static ColumnOrigins of(final SymbolicValue value) {
    final Collector collector = new Collector();
    collector.visit("", value);
    return collector.collected();
  }

  /**
   * Collect the columns of a topic: the fields of the value, and the key. A value without fields is
   * one column.
   */
  public static ColumnOrigins ofTopic(final SymbolicRecord record) {
    final Collector collector = new Collector();
    collector.visit(SchemaFields.isScalar(record.value()) ? VALUE_COLUMN : "", record.value());
    // An unseen key schema does not hide any column of the value.
    if (record.key() instanceof final Passthrough key) {
      collector.add(KEY_COLUMN, Set.of(Contribution.identity(key.origin())));
    } else {
      collector.visit(KEY_COLUMN, record.key());
    }
    return collector.collected();
  }

  private static final class Collector {
    private final SortedMap<String, SortedSet<Contribution>> known = new TreeMap<>();
    private final SortedSet<String> unknown = new TreeSet<>();
    private final SortedSet<String> reasons = new TreeSet<>();
    private boolean isOpen;

    private void visit(final String path, final SymbolicValue value) {
      if (value instanceof final StructValue struct) {
        struct
            .fields()
            .forEach((name, field) -> visit(path.isEmpty() ? name : path + "." + name, field));
        open(struct.rest());
      } else if (value instanceof final OneOf oneOf) {
        oneOf.values().forEach(one -> visit(path, one));
      } else if (path.isEmpty()) {
        open(value);
      } else {
        leaf(path, value);
      }
    }

    private ColumnOrigins collected() {
      known.keySet().removeAll(unknown);
      return new ColumnOrigins(known, unknown, isOpen, reasons);
    }

    private void leaf(final String path, final SymbolicValue value) {
      if (value instanceof final Leaf leaf) {
        add(path, leaf.contributions());
      } else if (value instanceof final Passthrough passthrough) {
        add(path, Set.of(Contribution.identity(passthrough.origin())));
        open(value);
      } else if (value instanceof final PassthroughColumn column) {
        add(path, Set.of(Contribution.identity(column.origin())));
        open(value);
      } else if (value instanceof final Unknown reason) {
        unknown.add(path);
        reasons.add(reason.reason());
      }
    }

    private void add(final String path, final Collection<Contribution> contributions) {
      known.computeIfAbsent(path, key -> new TreeSet<>()).addAll(contributions);
    }

    private void open(final SymbolicValue rest) {
      if (rest instanceof SymbolicValue.Absent) {
        return;
      }
      isOpen = true;
      reasons.add(
          rest instanceof final Unknown reason
              ? Objects.requireNonNull(reason.reason())
              : NO_SCHEMA);
    }
  }
}
