// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.OneOf;
import dev.lineagelab.connect.columns.SymbolicValue.Passthrough;
import dev.lineagelab.connect.columns.SymbolicValue.PassthroughColumn;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import dev.lineagelab.connect.model.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The columns that a shape has, by their paths with dots.
 *
 * @param known what each is made from; empty for a constant
 * @param unknown those of which that is not known
 * @param open whether there are or may be more
 * @param reasons why something is not known, in sentences for people
 */
public record ColumnOrigins(
    SortedMap<String, SortedSet<Contribution>> known,
    SortedSet<String> unknown,
    boolean open,
    SortedSet<String> reasons) {
  private static final String VALUE = Origin.of(Origin.Part.VALUE).columnName();
  private static final String KEY = Origin.of(Origin.Part.KEY).columnName();
  private static final String NO_SCHEMA =
      "No schema was seen: only the columns that transforms name are known.";

  /** Finds the columns of structs, or of one that may be any of several. */
  public static ColumnOrigins of(final SymbolicValue shape) {
    final Finder finder = new Finder();
    finder.visit("", shape);
    return finder.found();
  }

  /**
   * Finds the columns of a topic: the fields of the value, and the key. A value without fields is
   * one column.
   */
  public static ColumnOrigins ofTopic(final SymbolicRecord record) {
    final Finder finder = new Finder();
    finder.visit(isScalar(record.value()) ? VALUE : "", record.value());
    // That no schema of keys was seen hides no columns of values.
    if (record.key() instanceof final Passthrough key) {
      finder.add(KEY, Set.of(Contribution.identity(key.origin())));
    } else {
      finder.visit(KEY, record.key());
    }
    return finder.found();
  }

  /** The same columns as fields; empty if there may be more. */
  public static Optional<List<Field>> fields(final SymbolicValue shape) {
    return isStruct(shape) && isSeen(shape) ? Optional.of(fieldsOf(shape)) : Optional.empty();
  }

  /**
   * The columns of a topic as fields; empty if there may be more, or if values are bytes, which
   * says nothing of what is in them.
   */
  public static Optional<List<Field>> topicFields(final SymbolicRecord record) {
    final Optional<List<Field>> value =
        isScalar(record.value())
            ? Optional.of(leafField(VALUE, record.value()))
                .filter(field -> !"bytes".equals(field.type()))
                .map(List::of)
            : fields(record.value());
    return value.map(
        fields -> {
          final List<Field> all = new ArrayList<>(fields);
          if (isScalar(record.key()) || isStruct(record.key()) && isSeen(record.key())) {
            all.add(field(KEY, record.key()));
          }
          return all;
        });
  }

  private static List<Field> fieldsOf(final SymbolicValue shape) {
    final List<Field> fields = new ArrayList<>();
    names(shape).forEach(name -> fields.add(field(name, shape.child(name))));
    return fields;
  }

  private static Field field(final String name, final SymbolicValue shape) {
    if (isStruct(shape)) {
      return new Field(name, "struct", null, fieldsOf(shape));
    }
    final List<Field> each = leaves(shape).stream().map(leaf -> leafField(name, leaf)).toList();
    final boolean isOneType =
        each.stream().map(Field::type).distinct().count() == 1 && !each.isEmpty();
    final Field first = each.isEmpty() ? Field.of(name, null) : each.get(0);
    return isOneType ? first : new Field(name, null, first.description(), List.of());
  }

  private static Field leafField(final String name, final SymbolicValue shape) {
    if (shape instanceof final Leaf leaf) {
      return new Field(name, leaf.type(), leaf.description(), List.of());
    }
    return shape instanceof final Unknown unknown
        ? new Field(name, unknown.type(), unknown.description(), List.of())
        : Field.of(name, null);
  }

  private static List<SymbolicValue> leaves(final SymbolicValue shape) {
    return shape instanceof final OneOf either
        ? either.shapes().stream().flatMap(one -> leaves(one).stream()).toList()
        : List.of(shape);
  }

  /** A struct, or one of several things of which one is a struct. */
  static boolean isStruct(final SymbolicValue shape) {
    return shape instanceof StructValue
        || shape instanceof final OneOf either
            && either.shapes().stream().anyMatch(ColumnOrigins::isStruct);
  }

  /** Of a type that is known, and not a struct. */
  private static boolean isScalar(final SymbolicValue shape) {
    return shape instanceof Leaf
        || shape instanceof final Unknown unknown && unknown.type() != null;
  }

  /** Whether all of it is known to be there: by a schema, or because a transform made it. */
  private static boolean isSeen(final SymbolicValue shape) {
    if (shape instanceof final StructValue tree) {
      return tree.isExact() && tree.fields().values().stream().allMatch(ColumnOrigins::isSeen);
    }
    if (shape instanceof final OneOf either) {
      return either.shapes().stream().allMatch(ColumnOrigins::isSeen);
    }
    return isScalar(shape);
  }

  private static Set<String> names(final SymbolicValue shape) {
    final Set<String> names = new LinkedHashSet<>();
    for (final SymbolicValue one : leaves(shape)) {
      if (one instanceof final StructValue tree) {
        names.addAll(tree.fields().keySet());
      }
    }
    return names;
  }

  private static final class Finder {
    private final SortedMap<String, SortedSet<Contribution>> known = new TreeMap<>();
    private final SortedSet<String> unknown = new TreeSet<>();
    private final SortedSet<String> reasons = new TreeSet<>();
    private boolean isOpen;

    private void visit(final String path, final SymbolicValue shape) {
      if (shape instanceof final StructValue tree) {
        tree.fields()
            .forEach((name, field) -> visit(path.isEmpty() ? name : path + "." + name, field));
        open(tree.rest());
      } else if (shape instanceof final OneOf either) {
        either.shapes().forEach(one -> visit(path, one));
      } else if (path.isEmpty()) {
        open(shape);
      } else {
        leaf(path, shape);
      }
    }

    private ColumnOrigins found() {
      known.keySet().removeAll(unknown);
      return new ColumnOrigins(known, unknown, isOpen, reasons);
    }

    private void leaf(final String path, final SymbolicValue shape) {
      if (shape instanceof final Leaf leaf) {
        add(path, leaf.contributions());
      } else if (shape instanceof final Passthrough untouched) {
        add(path, Set.of(Contribution.identity(untouched.origin())));
        open(shape);
      } else if (shape instanceof final PassthroughColumn column) {
        add(path, Set.of(Contribution.identity(column.origin())));
        open(shape);
      } else if (shape instanceof final Unknown reason) {
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
