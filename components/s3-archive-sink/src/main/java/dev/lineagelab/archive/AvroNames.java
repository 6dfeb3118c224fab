// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;

/** Names as Avro allows them: letters, digits and underscores, no digit in front. */
final class AvroNames {
  private final Set<String> taken = new HashSet<>();

  /** The name, or one like it that Avro allows and that was not asked for before. */
  String unique(final String name) {
    final String legal = legal(name);
    String candidate = legal;
    for (int number = 2; !taken.add(candidate); number++) {
      candidate = legal + "_" + number;
    }
    return candidate;
  }

  /** Whether a name without dots is legal as it is. */
  static boolean isLegal(final String name) {
    return name.matches("[A-Za-z_][A-Za-z0-9_]*");
  }

  private static String legal(final String name) {
    return Arrays.stream(name.split("\\.", -1))
        .map(part -> part.replaceAll("[^A-Za-z0-9_]", "_"))
        .map(part -> part.isEmpty() || Character.isDigit(part.charAt(0)) ? "_" + part : part)
        .collect(Collectors.joining("."));
  }
}
