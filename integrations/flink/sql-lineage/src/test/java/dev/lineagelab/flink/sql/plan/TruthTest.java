// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.flink.sql.Told;
import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Output;
import dev.lineagelab.flink.sql.model.Write;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The derived edges against the truth: queries run on a real cluster, over and over, each time with
 * one value of one input column changed.
 *
 * <p>No edge may be missing: where an output column has other values than before, the input column
 * reaches it or decides about rows; where there are more rows or fewer, it decides about rows. And
 * no edge may be made up: each must show in some change.
 */
class TruthTest {
  private static Rows rows;

  @BeforeAll
  static void start() throws Exception {
    rows = new Rows();
  }

  @AfterAll
  static void stop() throws Exception {
    rows.stop();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT order_id, UPPER(item) AS item FROM orders WHERE supplier <> 'alder'",
        """
        SELECT CASE supplier WHEN 'alder' THEN item ELSE 'none' END AS chosen, NULLIF(price, '3') AS p,
          COALESCE(price, order_id) AS either FROM orders
        """,
        """
        SELECT supplier, COUNT(*) AS n, COUNT(price) AS prices, SUM(TRY_CAST(price AS INT)) AS total,
          MAX(order_id) FILTER (WHERE item = 'anvil') AS latest FROM orders GROUP BY supplier
        """,
        "SELECT supplier FROM orders GROUP BY supplier HAVING SUM(TRY_CAST(price AS INT)) > 2",
        "SELECT DISTINCT item, supplier FROM orders",
        "SELECT order_id, country FROM orders LEFT JOIN suppliers ON supplier = name AND country <> 'no'",
        """
        SELECT window_start, supplier, SUM(TRY_CAST(price AS INT)) AS total
        FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(bid_time), INTERVAL '5' MINUTE))
        GROUP BY window_start, window_end, supplier
        """,
        """
        SELECT order_id, SUM(TRY_CAST(price AS INT)) OVER (PARTITION BY supplier ORDER BY bid_time) AS total
        FROM orders
        """,
        """
        SELECT order_id, price FROM (
          SELECT *, ROW_NUMBER() OVER (PARTITION BY supplier ORDER BY bid_time DESC) AS place FROM orders
        ) WHERE place = 1
        """,
        "SELECT item AS a FROM orders UNION SELECT country FROM suppliers",
        "SELECT supplier AS a FROM orders INTERSECT SELECT name FROM suppliers",
        "SELECT supplier AS a FROM orders EXCEPT SELECT name FROM suppliers",
        "SELECT order_id FROM orders WHERE supplier IN (SELECT name FROM suppliers WHERE country = 'fi')",
        "SELECT order_id, (SELECT MIN(country) FROM suppliers WHERE name <> 'cedar') AS c FROM orders",
        "SELECT order_id, ROW(item, price).EXPR$1 AS p FROM orders",
        "SELECT order_id, e FROM orders CROSS JOIN UNNEST(SPLIT(item, 'v')) AS t(e)",
        "WITH c AS (SELECT supplier AS s, price FROM orders) SELECT a.price FROM c a JOIN c b ON a.s = b.price"
      })
  void edgesAreWhatCanBeSeen(final String query) throws Exception {
    final Write write = Told.write(Rows.DEFINITIONS, query);
    final Map<String, Set<String>> columns = new HashMap<>();
    for (final Output output : write.outputs()) {
      assertThat(output.column().unknown()).isEmpty();
      columns.put(output.name(), origins(output.column(), write));
    }
    final Set<String> deciding = origins(write.rows(), write);

    final Seen seen = observe(query);
    seen.columns.forEach(
        (name, changed) -> {
          final Set<String> allowed = new TreeSet<>(columns.get(name));
          allowed.addAll(deciding);
          assertThat(allowed).as("%s: seen, not derived", name).containsAll(changed);
        });
    assertThat(deciding).as("rows: seen, not derived").containsAll(seen.rows);
    columns.forEach(
        (name, origins) ->
            assertThat(seen.columns.getOrDefault(name, Set.of()))
                .as("%s: derived, not seen", name)
                .containsAll(origins));
    assertThat(seen.decidingBeside(columns)).as("rows: derived, not seen").containsAll(deciding);
  }

  private static Set<String> origins(final Column column, final Write write) {
    return column.edges().stream()
        .map(edge -> edge.origin())
        .map(origin -> write.sources().get(origin.source()).path().get(2) + "." + origin.column())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * What changes have shown.
   *
   * @param columns output column -> the input columns that have changed its values
   * @param rows the input columns that have changed how many rows there are
   */
  private record Seen(Map<String, Set<String>> columns, Set<String> rows) {
    void compare(
        final String changed,
        final String name,
        final List<String> before,
        final List<String> after) {
      if (before.size() != after.size()) {
        rows.add(changed);
      }
      if (!before.equals(after)) {
        columns.computeIfAbsent(name, key -> new TreeSet<>()).add(changed);
      }
    }

    /** The input columns that decide about rows: those that change what is not made of them. */
    Set<String> decidingBeside(final Map<String, Set<String>> derived) {
      final Set<String> deciding = new HashSet<>(rows);
      columns.forEach(
          (name, changed) ->
              changed.stream()
                  .filter(origin -> !derived.get(name).contains(origin))
                  .forEach(deciding::add));
      return deciding;
    }
  }

  private static Seen observe(final String query) throws Exception {
    final Seen seen = new Seen(new HashMap<>(), new HashSet<>());
    final List<Rows.Change> changes = new ArrayList<>(List.of(Rows.UNCHANGED));
    changes.addAll(Rows.changes(query));
    final List<Map<String, List<String>>> results = rows.results(query, changes);
    for (int variant = 1; variant < changes.size(); variant++) {
      final String changed = changes.get(variant).column();
      final Map<String, List<String>> after = results.get(variant);
      results
          .get(0)
          .forEach((name, before) -> seen.compare(changed, name, before, after.get(name)));
    }
    return seen;
  }
}
