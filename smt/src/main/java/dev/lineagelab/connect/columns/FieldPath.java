// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.util.ArrayList;
import java.util.List;

/**
 * Version 2 of Kafka's field path syntax: steps separated by dots; steps that contain dots are
 * enclosed in backticks.
 */
final class FieldPath {
  private static final char QUOTE = '`';

  private FieldPath() {}

  /**
   * Split a path into its steps.
   *
   * @throws UnusableOptionException if a backtick is not closed
   */
  static List<String> parse(final String path) {
    final List<String> steps = new ArrayList<>();
    int at = 0;
    while (at <= path.length()) {
      final boolean isQuoted = at < path.length() && path.charAt(at) == QUOTE;
      final int end = isQuoted ? endOfQuoted(path, at + 1) : endOfPlain(path, at);
      final String step = path.substring(isQuoted ? at + 1 : at, end);
      steps.add(isQuoted ? step.replace("\\`.", "`.") : step);
      at = end + (isQuoted ? 2 : 1);
    }
    return steps;
  }

  private static int endOfPlain(final String path, final int from) {
    final int dot = path.indexOf('.', from);
    return dot < 0 ? path.length() : dot;
  }

  /**
   * Return the index of the closing backtick: one that precedes a dot or the end, without a
   * backslash before it.
   */
  private static int endOfQuoted(final String path, final int from) {
    for (int i = path.indexOf(QUOTE, from); i >= 0; i = path.indexOf(QUOTE, i + 1)) {
      final boolean isLast = i == path.length() - 1;
      if ((isLast || path.charAt(i + 1) == '.') && path.charAt(i - 1) != '\\') {
        return i;
      }
    }
    throw new UnusableOptionException("'" + path + "' has a backtick that is not closed");
  }
}
