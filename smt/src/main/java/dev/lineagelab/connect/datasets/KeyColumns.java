// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Columns of a table that JDBC sinks make of a record's key, or of its place in Kafka. */
final class KeyColumns {
  private static final List<String> COORDINATES =
      List.of("__connect_topic", "__connect_partition", "__connect_offset");

  private KeyColumns() {}

  /**
   * Columns of a key.
   *
   * @param names fields of the key that are stored, all if empty; the name of the column if the key
   *     has no fields
   */
  static Map<String, SymbolicValue> ofKey(final SymbolicValue key, final List<String> names) {
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    if (key instanceof final StructValue struct) {
      final List<String> all = names.isEmpty() ? List.copyOf(struct.fields().keySet()) : names;
      all.forEach(name -> fields.put(name, struct.child(name)));
    } else if (!names.isEmpty()) {
      fields.put(names.get(0), key);
    }
    return fields;
  }

  /**
   * Columns of topic, partition and offset.
   *
   * @param names of these columns; the connectors' own unless there are three
   */
  static Map<String, SymbolicValue> ofCoordinates(
      final SymbolicRecord record, final List<String> names) {
    final List<String> columns = names.size() == COORDINATES.size() ? names : COORDINATES;
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    fields.put(columns.get(0), SymbolicValue.Leaf.of("string", Origin.of(Part.TOPIC)));
    fields.put(columns.get(1), record.metadata().get(Part.PARTITION));
    fields.put(columns.get(2), record.metadata().get(Part.OFFSET));
    return fields;
  }
}
