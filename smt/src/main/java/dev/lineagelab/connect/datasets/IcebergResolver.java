// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.Columns;
import dev.lineagelab.connect.columns.Contribution;
import dev.lineagelab.connect.columns.Options;
import dev.lineagelab.connect.columns.RecordState;
import dev.lineagelab.connect.columns.Regex;
import dev.lineagelab.connect.columns.Shape;
import dev.lineagelab.connect.columns.Shape.Leaf;
import dev.lineagelab.connect.columns.Shapes;
import dev.lineagelab.connect.model.EdgeKind;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Iceberg's sink. A record goes to all tables, or to those that a field of it names. Where that
 * field is the topic that a transform has put into the record, the tables are known for each topic.
 */
public final class IcebergResolver implements DatasetResolver {
  private static final List<String> CLASSES =
      List.of(
          "org.apache.iceberg.connect.IcebergSinkConnector",
          "io.tabular.iceberg.connect.IcebergSinkConnector");
  private static final String ROUTE_FIELD = "iceberg.tables.route-field";

  @Override
  public boolean knows(final String connectorClass) {
    return ClassNames.isAnyOf(CLASSES, connectorClass);
  }

  @Override
  public Resolved<SinkTarget> targets(final Connector connector, final RecordState record) {
    final Options options = connector.options();
    final Optional<Shape> route =
        options.text(ROUTE_FIELD).map(path -> field(record.value(), path));
    if (options.flag("iceberg.tables.dynamic-enabled", false)) {
      return dynamic(connector, record, route.orElse(Shape.ABSENT));
    }
    final List<String> tables = options.list("iceberg.tables");
    if (route.isEmpty()) {
      return Resolved.of(tables.stream().map(t -> target(connector, record, t, Set.of())).toList());
    }
    if (route.get() instanceof final Leaf leaf && leaf.constant() != null) {
      return Resolved.of(
          tables.stream()
              .filter(
                  table ->
                      regex(options, table).filter(r -> r.matches(leaf.constant())).isPresent())
              .map(table -> target(connector, record, table, Set.of()))
              .toList());
    }
    return byContent(connector, record, route.get(), tables);
  }

  private static Shape field(final Shape value, final String path) {
    Shape found = value;
    for (final String step : path.split("\\.")) {
      found = found.child(step);
    }
    return found;
  }

  private static Optional<Regex> regex(final Options options, final String table) {
    return options.text("iceberg.table." + table + ".route-regex").map(Regex::of);
  }

  /** Each of the tables can get any record, as a field of it says. */
  private static Resolved<SinkTarget> byContent(
      final Connector connector,
      final RecordState record,
      final Shape route,
      final List<String> tables) {
    if (route instanceof Shape.Absent) {
      return Resolved.because(
          "Records do not have the field of '" + ROUTE_FIELD + "': they go nowhere.");
    }
    final Set<Contribution> filters = filters(route);
    return Resolved.of(
        tables.stream()
            .filter(table -> regex(connector.options(), table).isPresent())
            .map(table -> target(connector, record, table, filters))
            .toList());
  }

  private static Set<Contribution> filters(final Shape route) {
    final Set<Contribution> filters = new TreeSet<>();
    Columns.of(Shape.Tree.exactly(null, Map.of("route", route)))
        .known()
        .values()
        .forEach(
            from ->
                from.forEach(
                    c -> filters.add(new Contribution(c.origin(), EdgeKind.FILTER, false))));
    return filters;
  }

  private static Resolved<SinkTarget> dynamic(
      final Connector connector, final RecordState record, final Shape route) {
    if (route instanceof final Leaf leaf && leaf.constant() != null) {
      final String table = leaf.constant().toLowerCase(Locale.ROOT);
      return Resolved.of(List.of(target(connector, record, table, Set.of())));
    }
    return Resolved.because(
        "Records name their table themselves ('" + ROUTE_FIELD + "'): which ones is not known.");
  }

  private static SinkTarget target(
      final Connector connector,
      final RecordState record,
      final String table,
      final Set<Contribution> filters) {
    final IcebergTable place = IcebergTable.of(connector, table);
    // Only then the table has the columns that the records have.
    final boolean hasSchema =
        connector.options().flag("iceberg.tables.auto-create-enabled", false)
            || connector.options().flag("iceberg.tables.evolve-schema-enabled", false);
    return new SinkTarget(
        place.dataset(),
        place.symlinks(),
        Shapes.stored(record.value(), StoreTypes.ICEBERG),
        hasSchema,
        filters);
  }
}
