// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.Shape.Absent;
import dev.lineagelab.connect.columns.Shape.Leaf;
import dev.lineagelab.connect.columns.Shape.Tree;
import dev.lineagelab.connect.columns.Shape.Unknown;
import java.util.ArrayList;
import java.util.List;

/** Finds what a joined name stands for: {@code a_b} may be the field {@code a_b}, or b of a. */
final class FlatNames {
  private FlatNames() {}

  /** The field; unknown if the name can be read in more than one way. */
  static Shape find(final Shape struct, final String delimiter, final String name) {
    final List<Shape> readings = new ArrayList<>();
    collect(struct, delimiter, name, readings);
    return switch (readings.size()) {
      case 0 -> Shape.ABSENT;
      case 1 -> readings.get(0);
      default ->
          Unknown.because(
              "Fields were flattened with delimiter '"
                  + delimiter
                  + "' before a schema was seen: '"
                  + name
                  + "' can be more than one field.");
    };
  }

  /** Two readings are as bad as many, so that it stops there. */
  private static void collect(
      final Shape struct, final String delimiter, final String name, final List<Shape> readings) {
    final Shape direct = struct.child(name);
    if (!(direct instanceof Absent) && !(direct instanceof Tree)) {
      readings.add(direct);
    }
    int at = name.indexOf(delimiter, 1);
    while (at > 0 && at < name.length() && readings.size() < 2) {
      final Shape head = struct.child(name.substring(0, at));
      if (!(head instanceof Absent) && !(head instanceof Leaf)) {
        collect(head, delimiter, name.substring(at + delimiter.length()), readings);
      }
      at = name.indexOf(delimiter, at + 1);
    }
  }
}
