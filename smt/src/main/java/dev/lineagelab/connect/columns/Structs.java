// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.Shape.Absent;
import dev.lineagelab.connect.columns.Shape.Column;
import dev.lineagelab.connect.columns.Shape.Either;
import dev.lineagelab.connect.columns.Shape.Flattened;
import dev.lineagelab.connect.columns.Shape.Leaf;
import dev.lineagelab.connect.columns.Shape.Tree;
import dev.lineagelab.connect.columns.Shape.Unknown;
import dev.lineagelab.connect.columns.Shape.Untouched;
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
final class Structs {
  private Structs() {}

  /** Changes a struct, or each of those that it may be. */
  static Optional<Shape> change(
      final Shape shape, final Function<Tree, Optional<? extends Shape>> change) {
    if (shape instanceof final Either either) {
      return eachOf(either, one -> change(one, change));
    }
    return shape instanceof Unknown
        ? Optional.of(shape)
        : asTree(shape).flatMap(change).map(changed -> changed);
  }

  /** A struct whose fields may be changed one by one; empty if the shape is none. */
  static Optional<Tree> asTree(final Shape shape) {
    if (shape instanceof final Tree tree) {
      return Optional.of(tree);
    }
    return shape instanceof Leaf || shape instanceof Absent
        ? Optional.empty()
        : Optional.of(new Tree(null, Map.of(), shape, Set.of(), false));
  }

  /** A value computed from one that is no struct. */
  static Optional<Shape> computed(
      final Shape shape, final String type, final UnaryOperator<Contribution> how) {
    if (shape instanceof final Leaf leaf) {
      final Set<Contribution> contributions = new TreeSet<>();
      leaf.contributions().forEach(contribution -> contributions.add(how.apply(contribution)));
      return Optional.of(Leaf.of(type == null ? leaf.type() : type, contributions));
    }
    if (shape instanceof final Untouched untouched) {
      return Optional.of(ofOrigin(untouched.origin(), type, how));
    }
    if (shape instanceof final Column column) {
      return Optional.of(ofOrigin(column.origin(), type, how));
    }
    if (shape instanceof final Unknown unknown) {
      return Optional.of(new Unknown(type, unknown.description(), unknown.reason()));
    }
    if (shape instanceof final Either either) {
      return eachOf(either, one -> computed(one, type, how));
    }
    return shape instanceof Absent ? Optional.of(shape) : Optional.empty();
  }

  private static Leaf ofOrigin(
      final Origin origin, final String type, final UnaryOperator<Contribution> how) {
    return Leaf.of(type, Set.of(how.apply(Contribution.identity(origin))));
  }

  /** A value converted to a type: the same value if it has that type already. */
  static Optional<Shape> converted(final Shape shape, final String type) {
    final boolean isSame = shape instanceof final Leaf leaf && Objects.equals(leaf.type(), type);
    return isSame ? Optional.of(shape) : computed(shape, type, Contribution::transformed);
  }

  /** Puts another value in the place of a field, if there is or may be one. */
  static Optional<Tree> replace(
      final Tree tree, final String field, final Function<Shape, Optional<Shape>> change) {
    final Shape old = tree.child(field);
    return old instanceof Absent
        ? Optional.of(tree)
        : change.apply(old).map(changed -> put(tree, field, changed));
  }

  /** With one field more, or another value in its place. */
  static Tree put(final Tree tree, final String field, final Shape shape) {
    final Map<String, Shape> fields = new LinkedHashMap<>(tree.fields());
    fields.put(field, shape);
    return tree.with(fields, tree.gone());
  }

  /** With one field more; empty if there is one of that name, which no schema allows. */
  static Optional<Tree> add(final Tree tree, final String field, final Shape shape) {
    return tree.certain() && tree.fields().containsKey(field)
        ? Optional.empty()
        : Optional.of(put(tree, field, shape));
  }

  /** Without some fields. */
  static Tree remove(final Tree tree, final Set<String> names) {
    final Map<String, Shape> fields = new LinkedHashMap<>(tree.fields());
    fields.keySet().removeAll(names);
    final Set<String> gone = new TreeSet<>(tree.gone());
    gone.addAll(names);
    return tree.with(fields, gone);
  }

  /** A struct with all fields of the structs in it at its top. */
  static Optional<Shape> flattened(final Tree tree, final String delimiter) {
    if (!isConcrete(tree)) {
      return Optional.of(
          new Tree(tree.name(), Map.of(), new Flattened(tree, delimiter), Set.of(), false));
    }
    final Map<String, Shape> flat = new LinkedHashMap<>();
    return collect(tree, "", delimiter, flat)
        ? Optional.of(Tree.exactly(tree.name(), flat))
        : Optional.empty();
  }

  private static boolean collect(
      final Tree tree, final String prefix, final String delimiter, final Map<String, Shape> flat) {
    for (final Map.Entry<String, Shape> field : tree.fields().entrySet()) {
      final String name = prefix.isEmpty() ? field.getKey() : prefix + delimiter + field.getKey();
      final boolean isFine =
          field.getValue() instanceof final Tree inner
              ? collect(inner, name, delimiter, flat)
              : flat.put(name, field.getValue()) == null;
      if (!isFine) {
        return false;
      }
    }
    return true;
  }

  private static boolean isConcrete(final Shape shape) {
    if (shape instanceof final Tree tree) {
      return tree.isExact() && tree.fields().values().stream().allMatch(Structs::isConcrete);
    }
    return shape instanceof Leaf;
  }

  private static Optional<Shape> eachOf(
      final Either either, final Function<Shape, Optional<Shape>> change) {
    final List<Shape> changed =
        either.shapes().stream().map(change).flatMap(Optional::stream).toList();
    return changed.isEmpty() ? Optional.empty() : Optional.of(Either.of(changed));
  }
}
