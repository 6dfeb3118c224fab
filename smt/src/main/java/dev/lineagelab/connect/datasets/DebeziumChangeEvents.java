// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.BoundedRegex;
import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.columns.SymbolicValue.Passthrough;
import dev.lineagelab.connect.columns.SymbolicValue.PassthroughColumn;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.datasets.SourceStream.InputColumn;
import dev.lineagelab.connect.model.Dataset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Debezium's change events: the row before and after a change, and its metadata. */
final class DebeziumChangeEvents {
  /**
   * Fields of the structs that Debezium uses for points, vectors and arbitrary-precision numbers.
   */
  private static final Set<String> IN_COLUMNS =
      Set.of("scale", "value", "x", "y", "wkb", "srid", "dimensions", "vector");

  private static final List<String> IMAGES = List.of("before", "after");
  private static final List<String> OTHERS = List.of("op", "ts_ms", "ts_us", "ts_ns");

  private final DebeziumDatabase database;
  private final List<BoundedRegex> masked = new ArrayList<>();

  DebeziumChangeEvents(final DebeziumDatabase database, final ConnectorOptions options) {
    this.database = database;
    for (final String option : options.namesWithPrefix("column.mask.")) {
      options.list(option).forEach(pattern -> masked.add(BoundedRegex.ignoringCase(pattern)));
    }
  }

  /**
   * Return the change events of a table.
   *
   * @param path of the table as in Debezium's options
   */
  SourceStream stream(final Dataset table, final String topic, final String path) {
    final SymbolicRecord record =
        SymbolicRecord.initial(
            topic, new Passthrough(Origin.of(Part.KEY), IN_COLUMNS), value(topic));
    return new SourceStream(table, record, origin -> column(origin, path), false);
  }

  private SymbolicValue value(final String topic) {
    final Origin value = Origin.of(Part.VALUE);
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    for (final String image : IMAGES) {
      final Origin row = value.child(image);
      fields.put(
          image,
          database.hasColumns()
              ? new Passthrough(row, IN_COLUMNS)
              : new PassthroughColumn(row, Set.of()));
    }
    fields.put("source", new Passthrough(value.child("source"), Set.of()));
    fields.put("transaction", new Passthrough(value.child("transaction"), Set.of()));
    OTHERS.forEach(name -> fields.put(name, new PassthroughColumn(value.child(name), Set.of())));
    return StructValue.closed(topic + ".Envelope", fields);
  }

  /**
   * Return the column of an origin; metadata of the change comes from the database log and has
   * none.
   */
  private Optional<InputColumn> column(final Origin origin, final String path) {
    final List<String> steps = origin.path();
    if (origin.part() == Part.KEY && !steps.isEmpty()) {
      // Debezium does not apply column masks to keys.
      return Optional.of(InputColumn.of(steps.get(0)));
    }
    final boolean isOfRow =
        origin.part() == Part.VALUE && steps.size() > 1 && IMAGES.contains(steps.get(0));
    return isOfRow ? Optional.of(column(steps.get(1), path)) : Optional.empty();
  }

  private InputColumn column(final String name, final String path) {
    final String fullName = path + "." + name;
    return new InputColumn(name, masked.stream().anyMatch(pattern -> isMatch(pattern, fullName)));
  }

  /** Return true if a column is masked; an undecided match counts as masked. */
  private static boolean isMatch(final BoundedRegex pattern, final String column) {
    try {
      return pattern.matches(column);
    } catch (final UnusableOptionException e) {
      return true;
    }
  }
}
