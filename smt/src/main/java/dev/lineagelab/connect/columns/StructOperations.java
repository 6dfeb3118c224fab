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

/** What transforms do to shapes. An empty result: the value is of a kind that they fail on. */
final class StructOperations {
  private StructOperations() {}

  /** Changes a struct, or each of those that it may be. */
  static Optional<SymbolicValue> change(
      final SymbolicValue shape,
      final Function<StructValue, Optional<? extends SymbolicValue>> change) {
    if (shape instanceof final OneOf either) {
      return eachOf(either, one -> change(one, change));
    }
    return shape instanceof Unknown
        ? Optional.of(shape)
        : asTree(shape).flatMap(change).map(changed -> changed);
  }

  /** A struct whose fields may be changed one by one; empty if the shape is none. */
  static Optional<StructValue> asTree(final SymbolicValue shape) {
    if (shape instanceof final StructValue tree) {
      return Optional.of(tree);
    }
    return shape instanceof Leaf || shape instanceof Absent
        ? Optional.empty()
        : Optional.of(new StructValue(null, Map.of(), shape, Set.of(), false));
  }

  /** A value computed from one that is no struct. */
  static Optional<SymbolicValue> computed(
      final SymbolicValue shape, final String type, final UnaryOperator<Contribution> how) {
    if (shape instanceof final Leaf leaf) {
      final Set<Contribution> contributions = new TreeSet<>();
      leaf.contributions().forEach(contribution -> contributions.add(how.apply(contribution)));
      return Optional.of(Leaf.of(type == null ? leaf.type() : type, contributions));
    }
    if (shape instanceof final Passthrough untouched) {
      return Optional.of(ofOrigin(untouched.origin(), type, how));
    }
    if (shape instanceof final PassthroughColumn column) {
      return Optional.of(ofOrigin(column.origin(), type, how));
    }
    if (shape instanceof final Unknown unknown) {
      return Optional.of(new Unknown(type, unknown.description(), unknown.reason()));
    }
    if (shape instanceof final OneOf either) {
      return eachOf(either, one -> computed(one, type, how));
    }
    return shape instanceof Absent ? Optional.of(shape) : Optional.empty();
  }

  private static Leaf ofOrigin(
      final Origin origin, final String type, final UnaryOperator<Contribution> how) {
    return Leaf.of(type, Set.of(how.apply(Contribution.identity(origin))));
  }

  /** A value converted to a type: the same value if it has that type already. */
  static Optional<SymbolicValue> converted(final SymbolicValue shape, final String type) {
    final boolean isSame = shape instanceof final Leaf leaf && Objects.equals(leaf.type(), type);
    return isSame ? Optional.of(shape) : computed(shape, type, Contribution::transformed);
  }

  /** Puts another value in the place of a field, if there is or may be one. */
  static Optional<StructValue> replace(
      final StructValue tree,
      final String field,
      final Function<SymbolicValue, Optional<SymbolicValue>> change) {
    final SymbolicValue old = tree.child(field);
    return old instanceof Absent
        ? Optional.of(tree)
        : change.apply(old).map(changed -> put(tree, field, changed));
  }

  /** With one field more, or another value in its place. */
  static StructValue put(final StructValue tree, final String field, final SymbolicValue shape) {
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>(tree.fields());
    fields.put(field, shape);
    return tree.with(fields, tree.gone());
  }

  /** With one field more; empty if there is one of that name, which no schema allows. */
  static Optional<StructValue> add(
      final StructValue tree, final String field, final SymbolicValue shape) {
    return tree.certain() && tree.fields().containsKey(field)
        ? Optional.empty()
        : Optional.of(put(tree, field, shape));
  }

  /** Without some fields. */
  static StructValue remove(final StructValue tree, final Set<String> names) {
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>(tree.fields());
    fields.keySet().removeAll(names);
    final Set<String> gone = new TreeSet<>(tree.gone());
    gone.addAll(names);
    return tree.with(fields, gone);
  }

  /** A struct with all fields of the structs in it at its top. */
  static Optional<SymbolicValue> flattened(final StructValue tree, final String delimiter) {
    if (!isConcrete(tree)) {
      return Optional.of(
          new StructValue(tree.name(), Map.of(), new Flattened(tree, delimiter), Set.of(), false));
    }
    final Map<String, SymbolicValue> flat = new LinkedHashMap<>();
    return collect(tree, "", delimiter, flat)
        ? Optional.of(StructValue.exactly(tree.name(), flat))
        : Optional.empty();
  }

  private static boolean collect(
      final StructValue tree,
      final String prefix,
      final String delimiter,
      final Map<String, SymbolicValue> flat) {
    for (final Map.Entry<String, SymbolicValue> field : tree.fields().entrySet()) {
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

  private static boolean isConcrete(final SymbolicValue shape) {
    if (shape instanceof final StructValue tree) {
      return tree.isExact()
          && tree.fields().values().stream().allMatch(StructOperations::isConcrete);
    }
    return shape instanceof Leaf;
  }

  private static Optional<SymbolicValue> eachOf(
      final OneOf either, final Function<SymbolicValue, Optional<SymbolicValue>> change) {
    final List<SymbolicValue> changed =
        either.shapes().stream().map(change).flatMap(Optional::stream).toList();
    return changed.isEmpty() ? Optional.empty() : Optional.of(OneOf.of(changed));
  }
}
