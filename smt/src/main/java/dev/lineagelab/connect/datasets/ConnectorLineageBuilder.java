// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ColumnOrigins;
import dev.lineagelab.connect.columns.Contribution;
import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.datasets.SourceStream.InputColumn;
import dev.lineagelab.connect.model.ColumnEdge;
import dev.lineagelab.connect.model.ColumnLineage;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetPair;
import dev.lineagelab.connect.model.DatasetSchema;
import dev.lineagelab.connect.model.Field;
import dev.lineagelab.connect.model.Symlink;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/** Collects the lineage of a connector, in any order. */
final class ConnectorLineageBuilder {
  private final SortedSet<Dataset> inputs = new TreeSet<>();
  private final SortedSet<Dataset> outputs = new TreeSet<>();
  private final Map<Dataset, Map<Dataset, ColumnLineage>> pairs = new TreeMap<>();
  private final Map<Dataset, DatasetSchema> schemas = new TreeMap<>();
  private final Map<Dataset, Map<String, Field>> extraColumns = new TreeMap<>();
  private final Map<Dataset, List<Symlink>> symlinks = new TreeMap<>();
  private final SortedSet<String> notes = new TreeSet<>();
  private final Map<Dataset, String> fixedTables = new TreeMap<>();

  void addInput(final Dataset dataset) {
    inputs.add(dataset);
  }

  void addOutput(final Dataset dataset) {
    outputs.add(dataset);
  }

  void addNote(final String note) {
    notes.add(note);
  }

  void addNotes(final Collection<String> more) {
    notes.addAll(more);
  }

  /**
   * Add a schema; a dataset with several schemas, such as a table fed by several topics, gets the
   * columns of all.
   */
  void addSchema(final Dataset dataset, final Integer version, final List<Field> fields) {
    schemas.merge(
        dataset,
        new DatasetSchema(null, version, fields),
        (known, more) ->
            new DatasetSchema(null, known.version(), union(known.fields(), more.fields())));
  }

  /** Add a column to a dataset, effective only if its schema is known when the lineage is built. */
  void addColumn(final Dataset dataset, final Field field) {
    extraColumns.computeIfAbsent(dataset, key -> new TreeMap<>()).put(field.name(), field);
  }

  private static List<Field> union(final List<Field> known, final List<Field> more) {
    final List<Field> all = new ArrayList<>(known);
    final Set<String> names = new TreeSet<>();
    known.forEach(field -> names.add(field.name()));
    more.stream().filter(field -> names.add(field.name())).forEach(all::add);
    return all;
  }

  void addSymlinks(final Dataset dataset, final List<Symlink> more) {
    if (!more.isEmpty()) {
      symlinks.put(dataset, List.copyOf(more));
    }
  }

  /** Add the name in its catalog of an output whose columns the connector does not change. */
  void addFixedTable(final Dataset dataset, final String table) {
    fixedTables.put(dataset, table);
  }

  /** Add data flow from an input to an output; column lineage of the same pair is merged. */
  void addPair(final Dataset input, final Dataset output, final ColumnLineage columns) {
    inputs.add(input);
    outputs.add(output);
    pairs
        .computeIfAbsent(input, key -> new TreeMap<>())
        .merge(output, columns, ConnectorLineageBuilder::union);
  }

  private static ColumnLineage union(final ColumnLineage one, final ColumnLineage other) {
    final List<ColumnEdge> edges = new ArrayList<>(one.edges());
    edges.addAll(other.edges());
    final Set<String> unknown = new TreeSet<>(one.unknownFields());
    unknown.addAll(other.unknownFields());
    final Set<String> reasons = new TreeSet<>(one.reasons());
    reasons.addAll(other.reasons());
    return new ColumnLineage(edges, unknown, List.copyOf(reasons));
  }

  /**
   * Convert column origins to edges.
   *
   * @param names input column of an origin
   * @param filters contributions that decide on rows
   */
  static ColumnLineage columnLineage(
      final ColumnOrigins columns,
      final Dataset input,
      final Function<Origin, Optional<InputColumn>> names,
      final Collection<Contribution> filters) {
    final List<ColumnEdge> edges = new ArrayList<>();
    columns
        .known()
        .forEach(
            (name, from) -> from.forEach(c -> edge(name, input, c, names).ifPresent(edges::add)));
    filters.forEach(filter -> edge(null, input, filter, names).ifPresent(edges::add));
    final Set<String> unknown = new TreeSet<>(columns.unknown());
    if (columns.open()) {
      unknown.add("*");
    }
    return new ColumnLineage(edges, unknown, List.copyOf(columns.reasons()));
  }

  private static Optional<ColumnEdge> edge(
      final String output,
      final Dataset input,
      final Contribution contribution,
      final Function<Origin, Optional<InputColumn>> names) {
    return names
        .apply(contribution.origin())
        .map(
            column -> {
              final Contribution seen = column.masked() ? contribution.masked() : contribution;
              return new ColumnEdge(output, input, column.name(), seen.kind(), seen.masking());
            });
  }

  ConnectorLineage build() {
    final List<DatasetPair> all = new ArrayList<>();
    pairs.forEach(
        (input, byOutput) ->
            byOutput.forEach(
                (output, columns) -> all.add(new DatasetPair(input, output, columns))));
    extraColumns.forEach(
        (dataset, columns) ->
            schemas.computeIfPresent(
                dataset,
                (key, known) ->
                    new DatasetSchema(
                        known.registered(),
                        known.version(),
                        union(known.fields(), List.copyOf(columns.values())))));
    return new ConnectorLineage(
        List.copyOf(inputs),
        List.copyOf(outputs),
        all,
        schemas,
        symlinks,
        List.copyOf(notes),
        fixedTables);
  }
}
