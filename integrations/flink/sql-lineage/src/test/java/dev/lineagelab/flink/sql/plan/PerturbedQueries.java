// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/** Runs queries on a MiniCluster, over a few rows of which one value may be changed. */
final class PerturbedQueries {
  static final String DEFINITIONS =
      """
      SET 'execution.runtime-mode' = 'batch';
      CREATE TEMPORARY TABLE orders (
        order_id STRING, item STRING, price STRING, supplier STRING, bid_time TIMESTAMP(3),
        WATERMARK FOR bid_time AS bid_time
      ) WITH ('connector' = 'datagen');
      CREATE TEMPORARY TABLE suppliers (name STRING, country STRING) WITH ('connector' = 'datagen');
      """;

  private static final Map<String, List<String>> COLUMNS =
      Map.of(
          "orders", List.of("order_id", "item", "price", "supplier", "bid_time"),
          "suppliers", List.of("name", "country"));

  private static final Map<String, List<List<String>>> VALUES =
      Map.of(
          "orders",
              List.of(
                  List.of("'o-1'", "'anvil'", "'3'", "'alder'", time("12:01")),
                  List.of("'o-2'", "'drill'", "'4'", "'birch'", time("12:02")),
                  List.of("'o-3'", "'anvil'", "NULL", "'birch'", time("12:03"))),
          "suppliers",
              List.of(
                  List.of("'alder'", "'fi'"),
                  List.of("'birch'", "'no'"),
                  List.of("'birch'", "'se'")));

  /**
   * Change of one value.
   *
   * @param row index of the row in its table
   * @param index index of the column in its table
   */
  record Change(String table, int row, int index, String value) {
    String column() {
      return table + "." + COLUMNS.get(table).get(index);
    }
  }

  static final Change UNCHANGED = new Change("", 0, 0, "");

  private final MiniCluster cluster =
      new MiniCluster(
          new MiniClusterConfiguration.Builder()
              .setNumTaskManagers(1)
              .setNumSlotsPerTaskManager(1)
              .setConfiguration(new Configuration().set(RestOptions.BIND_PORT, "0"))
              .build());
  private final Configuration client = new Configuration();

  PerturbedQueries() throws Exception {
    cluster.start();
    client.set(DeploymentOptions.TARGET, "remote");
    client.set(RestOptions.ADDRESS, "localhost");
    client.set(RestOptions.PORT, cluster.getRestAddress().get().getPort());
  }

  void stop() throws Exception {
    cluster.close();
  }

  /**
   * Returns the changes for a query's tables. Each costs a subquery, so they are few, chosen such
   * that every kind of dependency is visible in at least one: a value becomes equal to that of
   * another row or column, becomes unique, or becomes NULL or non-NULL.
   */
  static List<Change> changes(final String query) {
    return Stream.of(
            new Change("orders", 0, 0, "'o-9'"),
            new Change("orders", 2, 0, "'o-9'"),
            new Change("orders", 0, 1, "'vise'"),
            new Change("orders", 2, 1, "'drill'"),
            new Change("orders", 0, 2, "'birch'"),
            new Change("orders", 0, 2, "'7'"),
            new Change("orders", 2, 2, "'5'"),
            new Change("orders", 0, 3, "'birch'"),
            new Change("orders", 0, 3, "'4'"),
            new Change("orders", 1, 3, "'alder'"),
            new Change("orders", 1, 4, time("12:09")),
            new Change("suppliers", 0, 0, "'cedar'"),
            new Change("suppliers", 0, 1, "'no'"),
            new Change("suppliers", 1, 1, "'fi'"))
        .filter(change -> query.contains(change.table()))
        .toList();
  }

  /**
   * Returns the values of each column of a query's result, one result for each change. Values are
   * sorted because rows are unordered. All variants run as one job, since job starts dominate.
   */
  List<Map<String, List<String>>> results(final String query, final List<Change> changes)
      throws Exception {
    final TableEnvironment session =
        TableEnvironment.create(
            EnvironmentSettings.newInstance().inBatchMode().withConfiguration(client).build());
    final List<String> queries = new ArrayList<>();
    for (int variant = 0; variant < changes.size(); variant++) {
      String changed = query;
      for (final String table : VALUES.keySet()) {
        final String name = table + "_" + variant;
        session.executeSql(view(table, name, changes.get(variant)));
        changed = changed.replaceAll("\\b%s\\b".formatted(table), name);
      }
      queries.add("SELECT %d AS variant_index, q.* FROM (%s) AS q".formatted(variant, changed));
    }
    return sorted(session.executeSql(String.join(" UNION ALL ", queries)), changes.size());
  }

  private static List<Map<String, List<String>>> sorted(
      final TableResult result, final int variants) throws Exception {
    final List<String> names = result.getResolvedSchema().getColumnNames();
    final List<Map<String, List<String>>> sorted = new ArrayList<>();
    for (int variant = 0; variant < variants; variant++) {
      sorted.add(
          names.stream()
              .skip(1)
              .collect(Collectors.toMap(name -> name, name -> new ArrayList<String>())));
    }
    final CloseableIterator<Row> rows = result.collect();
    try {
      while (rows.hasNext()) {
        final Row row = rows.next();
        final Map<String, List<String>> values = sorted.get((Integer) row.getField(0));
        for (int index = 1; index < names.size(); index++) {
          values.get(names.get(index)).add(String.valueOf(row.getField(index)));
        }
      }
    } finally {
      rows.close();
    }
    sorted.forEach(values -> values.values().forEach(Collections::sort));
    return sorted;
  }

  private static String view(final String table, final String name, final Change change) {
    final List<List<String>> rows = VALUES.get(table);
    final String values =
        IntStream.range(0, rows.size())
            .mapToObj(row -> row(table, row, rows.get(row), change))
            .collect(Collectors.joining(", "));
    return "CREATE TEMPORARY VIEW %s AS SELECT * FROM (VALUES %s) AS t(%s)"
        .formatted(name, values, String.join(", ", COLUMNS.get(table)));
  }

  private static String row(
      final String table, final int row, final List<String> values, final Change change) {
    final List<String> changed = new ArrayList<>(values);
    if (table.equals(change.table()) && row == change.row()) {
      changed.set(change.index(), change.value());
    }
    final String typed =
        changed.stream()
            .map(
                value ->
                    value.startsWith("TIMESTAMP") ? value : "CAST(%s AS STRING)".formatted(value))
            .collect(Collectors.joining(", "));
    return "(" + typed + ")";
  }

  private static String time(final String clock) {
    return "TIMESTAMP '2026-11-20 %s:00.000'".formatted(clock);
  }
}
