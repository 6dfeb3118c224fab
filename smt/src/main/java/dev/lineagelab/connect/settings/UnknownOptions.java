// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Detects unknown options, which ConfigDef ignores silently. */
final class UnknownOptions {
  /** Options that Connect adds to a transform's configuration. */
  private static final Set<String> OF_CONNECT = Set.of("type", "predicate", "negate");

  /** Characters that differ between a short name and the option that it stands for. */
  private static final int MAX_TYPOS = 2;

  /** Characters of a long name for which one may differ. */
  private static final int CHARACTERS_PER_TYPO = 6;

  private UnknownOptions() {}

  static boolean isUnknown(final String name, final Set<String> known) {
    return !known.contains(name)
        && !OF_CONNECT.contains(name)
        && !name.startsWith(OptionNames.KAFKA_PREFIX);
  }

  /**
   * Return the known option that a name stands for: one with the prefix of another place, a unique
   * one of which it is the end or the beginning, or the most similar one. Empty if the name
   * resembles none, as a wrong suggestion costs more than none.
   */
  static Optional<String> similar(final String name, final Collection<String> known) {
    final String lower = name.toLowerCase(Locale.ROOT).replace('_', '.');
    final String plain =
        lower.startsWith(OptionNames.PREFIX) ? lower.substring(OptionNames.PREFIX.length()) : lower;
    if (known.contains(plain)) {
      return Optional.of(plain);
    }
    return only(known, other -> other.endsWith("." + plain))
        .or(() -> only(known, other -> other.startsWith(plain + ".")))
        .or(() -> nearest(plain, known));
  }

  private static Optional<String> only(
      final Collection<String> known, final Predicate<String> condition) {
    final List<String> found = known.stream().filter(condition).toList();
    return found.size() == 1 ? Optional.of(found.get(0)) : Optional.empty();
  }

  private static Optional<String> nearest(final String name, final Collection<String> known) {
    final int limit = Math.max(MAX_TYPOS, name.length() / CHARACTERS_PER_TYPO);
    final int least = known.stream().mapToInt(other -> distance(name, other)).min().orElseThrow();
    return least > limit ? Optional.empty() : only(known, other -> distance(name, other) == least);
  }

  /** Return the Levenshtein distance of two texts. */
  private static int distance(final String from, final String to) {
    int[] above = new int[to.length() + 1];
    for (int column = 0; column <= to.length(); column++) {
      above[column] = column;
    }
    for (int row = 1; row <= from.length(); row++) {
      final int[] current = new int[to.length() + 1];
      current[0] = row;
      for (int column = 1; column <= to.length(); column++) {
        final int change = from.charAt(row - 1) == to.charAt(column - 1) ? 0 : 1;
        final int moved = Math.min(above[column], current[column - 1]) + 1;
        current[column] = Math.min(moved, above[column - 1] + change);
      }
      above = current;
    }
    return above[to.length()];
  }
}
