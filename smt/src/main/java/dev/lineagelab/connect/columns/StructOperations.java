// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicValue.Absent;
import dev.lineagelab.connect.columns.SymbolicValue.Flattened;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.OneOf;
import dev.lineagelab.connect.columns.SymbolicValue.Passthrough;
import dev.lineagelab.connect.columns.SymbolicValue.PassthroughColumn;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Operations of transforms on symbolic values. An empty result means that the transform fails on a
 * value of this kind.
 */
final class StructOperations {
  private StructOperations() {}

  /** Apply a change to a struct, or to each variant of a value. */
  static Optional<SymbolicValue> transform(
      final SymbolicValue value,
      final Function<StructValue, Optional<? extends SymbolicValue>> change) {
    if (value instanceof final OneOf oneOf) {
      return eachOf(oneOf, one -> transform(one, change));
    }
    return value instanceof Unknown
        ? Optional.of(value)
        : asStruct(value).flatMap(change).map(changed -> changed);
  }

  /** Return a struct whose fields can be changed one at a time; empty for values without fields. */
  static Optional<StructValue> asStruct(final SymbolicValue value) {
    if (value instanceof final StructValue struct) {
      return Optional.of(struct);
    }
    return value instanceof Leaf || value instanceof Absent
        ? Optional.empty()
        : Optional.of(new StructValue(null, Map.of(), value, Set.of(), false));
  }

  /**
   * Return the result of a computation on a value without fields.
   *
   * @param type of the result; null to keep the type
   * @param how effect of the computation on each contribution
   */
  static Optional<SymbolicValue> derive(
      final SymbolicValue value, final String type, final UnaryOperator<Contribution> how) {
    if (value instanceof final Leaf leaf) {
      final Set<Contribution> contributions = new TreeSet<>();
      leaf.contributions().forEach(contribution -> contributions.add(how.apply(contribution)));
      return Optional.of(Leaf.of(type == null ? leaf.type() : type, contributions));
    }
    if (value instanceof final Passthrough passthrough) {
      return Optional.of(ofOrigin(passthrough.origin(), type, how));
    }
    if (value instanceof final PassthroughColumn column) {
      return Optional.of(ofOrigin(column.origin(), type, how));
    }
    if (value instanceof final Unknown unknown) {
      return Optional.of(new Unknown(type, unknown.description(), unknown.reason()));
    }
    if (value instanceof final OneOf oneOf) {
      return eachOf(oneOf, one -> derive(one, type, how));
    }
    return value instanceof Absent ? Optional.of(value) : Optional.empty();
  }

  private static Leaf ofOrigin(
      final Origin origin, final String type, final UnaryOperator<Contribution> how) {
    return Leaf.of(type, Set.of(how.apply(Contribution.identity(origin))));
  }

  /** Convert a value to a type; a value that already has the type is unchanged. */
  static Optional<SymbolicValue> convert(final SymbolicValue value, final String type) {
    final boolean isSame = value instanceof final Leaf leaf && Objects.equals(leaf.type(), type);
    return isSame ? Optional.of(value) : derive(value, type, Contribution::transformed);
  }

  /** Replace a field if it exists or may exist. */
  static Optional<StructValue> replace(
      final StructValue struct,
      final String field,
      final Function<SymbolicValue, Optional<SymbolicValue>> change) {
    final SymbolicValue old = struct.child(field);
    return old instanceof Absent
        ? Optional.of(struct)
        : change.apply(old).map(changed -> put(struct, field, changed));
  }

  /** Add or replace a field. */
  static StructValue put(final StructValue struct, final String field, final SymbolicValue value) {
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>(struct.fields());
    fields.put(field, value);
    return struct.withFields(fields, struct.removed());
  }

  /** Add a field; empty if a field of that name exists, which no schema allows. */
  static Optional<StructValue> add(
      final StructValue struct, final String field, final SymbolicValue value) {
    return struct.fieldsPresent() && struct.fields().containsKey(field)
        ? Optional.empty()
        : Optional.of(put(struct, field, value));
  }

  /** Remove fields. */
  static StructValue remove(final StructValue struct, final Set<String> names) {
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>(struct.fields());
    fields.keySet().removeAll(names);
    final Set<String> removed = new TreeSet<>(struct.removed());
    removed.addAll(names);
    return struct.withFields(fields, removed);
  }

  /** Move the fields of nested structs to the top level, with joined names. */
  static Optional<SymbolicValue> flatten(final StructValue struct, final String delimiter) {
    if (!isConcrete(struct)) {
      return Optional.of(
          new StructValue(
              struct.name(), Map.of(), new Flattened(struct, delimiter), Set.of(), false));
    }
    final Map<String, SymbolicValue> flat = new LinkedHashMap<>();
    return collect(struct, "", delimiter, flat)
        ? Optional.of(StructValue.closed(struct.name(), flat))
        : Optional.empty();
  }

  private static boolean collect(
      final StructValue struct,
      final String prefix,
      final String delimiter,
      final Map<String, SymbolicValue> flat) {
    for (final Map.Entry<String, SymbolicValue> field : struct.fields().entrySet()) {
      final String name = prefix.isEmpty() ? field.getKey() : prefix + delimiter + field.getKey();
      final boolean isFine =
          field.getValue() instanceof final StructValue inner
              ? collect(inner, name, delimiter, flat)
              : flat.put(name, field.getValue()) == null;
      if (!isFine) {
        return false;
      }
    }
    return true;
  }

  private static boolean isConcrete(final SymbolicValue value) {
    if (value instanceof final StructValue struct) {
      return struct.isClosed()
          && struct.fields().values().stream().allMatch(StructOperations::isConcrete);
    }
    return value instanceof Leaf;
  }

  private static Optional<SymbolicValue> eachOf(
      final OneOf oneOf, final Function<SymbolicValue, Optional<SymbolicValue>> change) {
    final List<SymbolicValue> changed =
        oneOf.values().stream().map(change).flatMap(Optional::stream).toList();
    return changed.isEmpty() ? Optional.empty() : Optional.of(OneOf.of(changed));
  }
}
