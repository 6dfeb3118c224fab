// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.util.Collection;
import java.util.Comparator;
import java.util.Set;

/** Detects unknown options, which ConfigDef ignores silently. */
final class UnknownOptions {
  /** Options that Connect adds to a transform's configuration. */
  private static final Set<String> OF_CONNECT = Set.of("type", "predicate", "negate");

  private UnknownOptions() {}

  static boolean isUnknown(final String name, final Set<String> known) {
    return !known.contains(name)
        && !OF_CONNECT.contains(name)
        && !name.startsWith(OptionNames.KAFKA_PREFIX);
  }

  /** Return the known option with the smallest edit distance; the first of several. */
  static String nearest(final String name, final Collection<String> known) {
    return known.stream()
        .min(
            Comparator.<String>comparingInt(other -> distance(name, other))
                .thenComparing(Comparator.naturalOrder()))
        .orElseThrow();
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
