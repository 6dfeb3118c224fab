// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicValue.Absent;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import java.util.ArrayList;
import java.util.List;

/** Finds what a joined name stands for: {@code a_b} may be the field {@code a_b}, or b of a. */
final class FlattenedFields {
  private FlattenedFields() {}

  /** The field; unknown if the name can be read in more than one way. */
  static SymbolicValue find(final SymbolicValue struct, final String delimiter, final String name) {
    final List<SymbolicValue> readings = new ArrayList<>();
    collect(struct, delimiter, name, readings);
    return switch (readings.size()) {
      case 0 -> SymbolicValue.ABSENT;
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
      final SymbolicValue struct,
      final String delimiter,
      final String name,
      final List<SymbolicValue> readings) {
    final SymbolicValue direct = struct.child(name);
    if (!(direct instanceof Absent) && !(direct instanceof StructValue)) {
      readings.add(direct);
    }
    int at = name.indexOf(delimiter, 1);
    while (at > 0 && at < name.length() && readings.size() < 2) {
      final SymbolicValue head = struct.child(name.substring(0, at));
      if (!(head instanceof Absent) && !(head instanceof Leaf)) {
        collect(head, delimiter, name.substring(at + delimiter.length()), readings);
      }
      at = name.indexOf(delimiter, at + 1);
    }
  }
}
