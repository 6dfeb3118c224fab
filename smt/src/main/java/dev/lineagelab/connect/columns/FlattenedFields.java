// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicValue.Absent;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import java.util.ArrayList;
import java.util.List;

/**
 * Resolves names that Flatten joined: {@code a_b} is either the field {@code a_b} or the field
 * {@code b} of {@code a}.
 */
final class FlattenedFields {
  private FlattenedFields() {}

  /** Return the field of a flattened name; unknown if the name is ambiguous. */
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
                  + "' before a schema was observed: '"
                  + name
                  + "' is ambiguous.");
    };
  }

  /** Collect possible fields; stops at two, which is enough to call the name ambiguous. */
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
