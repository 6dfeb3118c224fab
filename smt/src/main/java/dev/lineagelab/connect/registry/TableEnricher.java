// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.model.ColumnEdge;
import dev.lineagelab.connect.model.ColumnLineage;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetPair;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Limits the lineage of a sink that neither creates nor changes tables to the columns that its
 * tables have. Used by one thread, and never blocks on a catalog.
 *
 * <p>A table that is still looked up is left out, as is one that does not exist: what an event has
 * named stays an output of its run.
 */
final class TableEnricher implements AutoCloseable {
  private static final Duration INTERVAL = Duration.ofMinutes(1);
  private static final String FIXED =
      "The sink neither creates nor changes tables: columns that a table lacks are not written,"
          + " and which it has is unknown";

  private final RefreshedLookups<Table, TableColumns> lookups;

  /**
   * Table in a catalog.
   *
   * @param name with its namespace
   */
  private record Table(TableCatalog catalog, String name) {
    @Override
    public String toString() {
      return "table " + name + " in the catalog at " + catalog;
    }
  }

  /**
   * Create an enricher. No thread or connection is opened until a sink has such a table.
   *
   * @param requestsPerMinute limit for all catalogs together
   */
  TableEnricher(final int requestsPerMinute) {
    this(requestsPerMinute, INTERVAL);
  }

  TableEnricher(final int requestsPerMinute, final Duration interval) {
    final TableFinder finder = new TableFinder(RegistryHttp.limited(requestsPerMinute));
    this.lookups =
        new RefreshedLookups<>(
            "connect-lineage-tables",
            interval,
            table -> finder.find(table.catalog(), table.name()));
  }

  /**
   * Limit the lineage of a connector. Later calls with the same arguments may return something
   * else.
   *
   * @param isEnabled false to ask no catalog
   */
  EnrichedLineage enrich(
      final ConnectorDefinition connector, final boolean isEnabled, final ConnectorLineage found) {
    if (found.fixedTables().isEmpty()) {
      return new EnrichedLineage(found, false);
    }
    final ConnectorOptions options = new ConnectorOptions(connector.config());
    try {
      if (!isEnabled) {
        throw new UnusableOptionException("catalogs are not asked");
      }
      final TableCatalog catalog = TableCatalog.of(options);
      final Map<Dataset, LookupResult<TableColumns>> tables = new TreeMap<>();
      found
          .fixedTables()
          .forEach(
              (dataset, name) -> tables.put(dataset, lookups.lookUp(new Table(catalog, name))));
      final boolean ignoresCase = options.flag("iceberg.tables.schema-case-insensitive", false);
      final boolean isPending = tables.values().stream().anyMatch(LookupResult::isPending);
      return new EnrichedLineage(limited(found, tables, ignoresCase), isPending);
    } catch (final UnusableOptionException e) {
      return new EnrichedLineage(found.withNotes(List.of(note(e.getMessage()))), false);
    }
  }

  private static String note(final String why) {
    return FIXED + ": " + why + ".";
  }

  private static ConnectorLineage limited(
      final ConnectorLineage found,
      final Map<Dataset, LookupResult<TableColumns>> tables,
      final boolean ignoresCase) {
    final List<String> notes = new ArrayList<>();
    final Set<Dataset> leftOut = new TreeSet<>();
    tables.forEach(
        (dataset, table) -> {
          if (table.isPending() || !table.exists()) {
            leftOut.add(dataset);
          }
          if (!table.exists()) {
            notes.add("Table '" + found.fixedTables().get(dataset) + "' does not exist.");
          } else if (table.note() != null) {
            notes.add(note(table.note()));
          }
        });
    final List<DatasetPair> pairs =
        found.pairs().stream()
            .filter(pair -> !leftOut.contains(pair.output()))
            .map(pair -> limited(pair, tables.get(pair.output()), ignoresCase))
            .toList();
    final List<Dataset> outputs =
        found.outputs().stream().filter(dataset -> !leftOut.contains(dataset)).toList();
    return found.withOutputs(outputs, pairs).withNotes(notes);
  }

  private static DatasetPair limited(
      final DatasetPair pair, final LookupResult<TableColumns> table, final boolean ignoresCase) {
    if (table == null || table.value() == null) {
      return pair;
    }
    final TableColumns columns = table.value();
    final List<ColumnEdge> edges =
        pair.columns().edges().stream()
            .flatMap(edge -> limited(edge, columns, ignoresCase).stream())
            .toList();
    final Set<String> unknown = new TreeSet<>();
    pair.columns().unknownFields().stream()
        .flatMap(
            name -> "*".equals(name) ? Stream.of(name) : columns.find(name, ignoresCase).stream())
        .forEach(unknown::add);
    return new DatasetPair(
        pair.input(), pair.output(), new ColumnLineage(edges, unknown, pair.columns().reasons()));
  }

  private static Optional<ColumnEdge> limited(
      final ColumnEdge edge, final TableColumns columns, final boolean ignoresCase) {
    if (edge.outputField() == null) {
      return Optional.of(edge);
    }
    return columns
        .find(edge.outputField(), ignoresCase)
        .map(
            name ->
                new ColumnEdge(name, edge.input(), edge.inputField(), edge.kind(), edge.masking()));
  }

  @Override
  public void close() {
    lookups.close();
  }
}
