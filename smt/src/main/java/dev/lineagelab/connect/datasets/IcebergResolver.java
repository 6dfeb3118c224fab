// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.BoundedRegex;
import dev.lineagelab.connect.columns.ColumnOrigins;
import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.Contribution;
import dev.lineagelab.connect.columns.SinkConversions;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.model.EdgeKind;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Iceberg sink. A record goes to all tables, or to those that its route field selects. If a
 * transform copies the topic into that field, the tables are known per topic.
 */
public final class IcebergResolver implements DatasetResolver {
  private static final List<String> CLASSES =
      List.of(
          "org.apache.iceberg.connect.IcebergSinkConnector",
          "io.tabular.iceberg.connect.IcebergSinkConnector");
  private static final String ROUTE_FIELD = "iceberg.tables.route-field";

  @Override
  public boolean supports(final String connectorClass) {
    return ConnectorClassNames.matchesAny(CLASSES, connectorClass);
  }

  @Override
  public Resolution<SinkTarget> sinkTargets(
      final ConnectorContext connector, final String originalTopic, final SymbolicRecord record) {
    final ConnectorOptions options = connector.options();
    final Optional<SymbolicValue> route =
        options.text(ROUTE_FIELD).map(path -> field(record.value(), path));
    if (options.flag("iceberg.tables.dynamic-enabled", false)) {
      return dynamic(connector, record, route.orElse(SymbolicValue.ABSENT));
    }
    final List<String> tables = options.list("iceberg.tables");
    if (route.isEmpty()) {
      return Resolution.of(
          tables.stream().map(t -> target(connector, record, t, Set.of())).toList());
    }
    if (route.get() instanceof final Leaf leaf && leaf.constant() != null) {
      return Resolution.of(
          tables.stream()
              .filter(
                  table ->
                      regex(options, table).filter(r -> r.matches(leaf.constant())).isPresent())
              .map(table -> target(connector, record, table, Set.of()))
              .toList());
    }
    return byContent(connector, record, route.get(), tables);
  }

  private static SymbolicValue field(final SymbolicValue value, final String path) {
    SymbolicValue found = value;
    for (final String step : path.split("\\.")) {
      found = found.child(step);
    }
    return found;
  }

  private static Optional<BoundedRegex> regex(final ConnectorOptions options, final String table) {
    return options.text("iceberg.table." + table + ".route-regex").map(BoundedRegex::of);
  }

  /** Return all routed tables: the content of the route field decides per record. */
  private static Resolution<SinkTarget> byContent(
      final ConnectorContext connector,
      final SymbolicRecord record,
      final SymbolicValue route,
      final List<String> tables) {
    if (route instanceof SymbolicValue.Absent) {
      return Resolution.unknown(
          "Records lack the field of '" + ROUTE_FIELD + "' and are written to no table.");
    }
    final Set<Contribution> filters = filters(route);
    return Resolution.of(
        tables.stream()
            .filter(table -> regex(connector.options(), table).isPresent())
            .map(table -> target(connector, record, table, filters))
            .toList());
  }

  private static Set<Contribution> filters(final SymbolicValue route) {
    final Set<Contribution> filters = new TreeSet<>();
    ColumnOrigins.of(SymbolicValue.StructValue.closed(null, Map.of("route", route)))
        .known()
        .values()
        .forEach(
            from ->
                from.forEach(
                    c -> filters.add(new Contribution(c.origin(), EdgeKind.FILTER, false))));
    return filters;
  }

  private static Resolution<SinkTarget> dynamic(
      final ConnectorContext connector, final SymbolicRecord record, final SymbolicValue route) {
    if (route instanceof final Leaf leaf && leaf.constant() != null) {
      final String table = leaf.constant().toLowerCase(Locale.ROOT);
      return Resolution.of(List.of(target(connector, record, table, Set.of())));
    }
    return Resolution.unknown(
        "The table depends on a field of the record ('" + ROUTE_FIELD + "') and is unknown.");
  }

  private static SinkTarget target(
      final ConnectorContext connector,
      final SymbolicRecord record,
      final String table,
      final Set<Contribution> filters) {
    final IcebergTable resolved = IcebergTable.of(connector, table);
    final boolean changesTables = changesTables(connector);
    return new SinkTarget(
        resolved.dataset(),
        resolved.symlinks(),
        SinkConversions.convertTypes(record.value(), StoreTypeMappings.ICEBERG),
        changesTables,
        filters,
        changesTables ? null : table);
  }

  /** Return true if the sink gives tables the columns of the records. */
  private static boolean changesTables(final ConnectorContext connector) {
    return connector.options().flag("iceberg.tables.auto-create-enabled", false)
        || connector.options().flag("iceberg.tables.evolve-schema-enabled", false);
  }
}
