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
 * Merges variants of a value into one of bounded size. {@link OneOf} keeps all variants; the merger
 * forgets which fields occur together.
 */
final class SymbolicValueMerger {
  private static final int MAX_VARIANTS = 8;
  private static final String TOO_MANY_VARIANTS =
      "Too many transforms depend on the content of the record.";

  private SymbolicValueMerger() {}

  /** Return a value that may be any of these. */
  static SymbolicValue merge(final Collection<? extends SymbolicValue> values) {
    final List<SymbolicValue> all =
        values.stream()
            .<SymbolicValue>flatMap(SymbolicValueMerger::members)
            .filter(value -> !(value instanceof Absent))
            .distinct()
            .toList();
    if (all.size() < 2) {
      return all.isEmpty() ? SymbolicValue.ABSENT : all.get(0);
    }
    if (all.stream().allMatch(Leaf.class::isInstance)) {
      return mergeLeaves(all.stream().map(Leaf.class::cast).toList());
    }
    final List<StructValue> structs =
        all.stream().flatMap(one -> StructOperations.asStruct(one).stream()).toList();
    final boolean hasTree = all.stream().anyMatch(StructValue.class::isInstance);
    if (hasTree && structs.size() == all.size()) {
      return mergeStructs(structs);
    }
    return hasTree || all.size() > MAX_VARIANTS
        ? Unknown.because(TOO_MANY_VARIANTS)
        : new OneOf(all);
  }

  private static Stream<SymbolicValue> members(final SymbolicValue value) {
    return value instanceof final OneOf oneOf
        ? oneOf.values().stream().flatMap(SymbolicValueMerger::members)
        : Stream.of(value);
  }

  private static StructValue mergeStructs(final List<StructValue> structs) {
    final Set<String> names = new LinkedHashSet<>();
    structs.forEach(struct -> names.addAll(struct.fields().keySet()));
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    names.forEach(
        name ->
            fields.put(name, merge(structs.stream().map(struct -> struct.child(name)).toList())));
    final Set<String> removed = new TreeSet<>(structs.get(0).removed());
    structs.forEach(struct -> removed.retainAll(struct.removed()));
    return new StructValue(
        common(structs.stream().map(StructValue::name).toList()),
        fields,
        merge(structs.stream().map(StructValue::rest).toList()),
        removed,
        false);
  }

  private static Leaf mergeLeaves(final List<Leaf> leaves) {
    final SortedSet<Contribution> contributions = new TreeSet<>();
    leaves.forEach(leaf -> contributions.addAll(leaf.contributions()));
    return new Leaf(
        common(leaves.stream().map(Leaf::type).toList()),
        common(leaves.stream().map(Leaf::description).toList()),
        contributions,
        common(leaves.stream().map(Leaf::constant).toList()));
  }

  /** Return the common text; null if they differ. */
  private static String common(final List<String> texts) {
    return texts.stream().allMatch(text -> Objects.equals(text, texts.get(0)))
        ? texts.get(0)
        : null;
  }
}
