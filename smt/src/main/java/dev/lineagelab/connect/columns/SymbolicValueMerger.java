// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicValue.Absent;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.OneOf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Makes one shape of several that stays as small as they are, where {@link OneOf} would keep them
 * all: which fields come together is forgotten.
 */
final class SymbolicValueMerger {
  private static final int MAX_SHAPES = 8;
  private static final String REASON = "Too many transforms depend on what is in the record.";

  private SymbolicValueMerger() {}

  /** What may be any of these. */
  static SymbolicValue of(final Collection<? extends SymbolicValue> shapes) {
    final List<SymbolicValue> all =
        shapes.stream()
            .<SymbolicValue>flatMap(SymbolicValueMerger::members)
            .filter(shape -> !(shape instanceof Absent))
            .distinct()
            .toList();
    if (all.size() < 2) {
      return all.isEmpty() ? SymbolicValue.ABSENT : all.get(0);
    }
    if (all.stream().allMatch(Leaf.class::isInstance)) {
      return leaves(all.stream().map(Leaf.class::cast).toList());
    }
    final List<StructValue> trees =
        all.stream().flatMap(one -> StructOperations.asTree(one).stream()).toList();
    final boolean hasTree = all.stream().anyMatch(StructValue.class::isInstance);
    if (hasTree && trees.size() == all.size()) {
      return trees(trees);
    }
    return hasTree || all.size() > MAX_SHAPES ? Unknown.because(REASON) : new OneOf(all);
  }

  private static Stream<SymbolicValue> members(final SymbolicValue shape) {
    return shape instanceof final OneOf either
        ? either.shapes().stream().flatMap(SymbolicValueMerger::members)
        : Stream.of(shape);
  }

  private static StructValue trees(final List<StructValue> trees) {
    final Set<String> names = new LinkedHashSet<>();
    trees.forEach(tree -> names.addAll(tree.fields().keySet()));
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    names.forEach(
        name -> fields.put(name, of(trees.stream().map(tree -> tree.child(name)).toList())));
    final Set<String> gone = new TreeSet<>(trees.get(0).gone());
    trees.forEach(tree -> gone.retainAll(tree.gone()));
    return new StructValue(
        common(trees.stream().map(StructValue::name).toList()),
        fields,
        of(trees.stream().map(StructValue::rest).toList()),
        gone,
        false);
  }

  private static Leaf leaves(final List<Leaf> leaves) {
    final SortedSet<Contribution> contributions = new TreeSet<>();
    leaves.forEach(leaf -> contributions.addAll(leaf.contributions()));
    return new Leaf(
        common(leaves.stream().map(Leaf::type).toList()),
        common(leaves.stream().map(Leaf::description).toList()),
        contributions,
        common(leaves.stream().map(Leaf::constant).toList()));
  }

  /** What all are; null if they differ. */
  private static String common(final List<String> texts) {
    return texts.stream().allMatch(text -> Objects.equals(text, texts.get(0)))
        ? texts.get(0)
        : null;
  }
}
