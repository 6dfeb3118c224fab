// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.flink.sql.RenderedLineage;
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
 * Test of derived edges by perturbation: each query runs on a MiniCluster repeatedly, each time
 * with one input value changed.
 *
 * <p>Completeness: if an output column changes, it or the rows must depend on the changed input
 * column; if the number of rows changes, the rows must depend on it. Precision: each derived edge
 * must be observable in at least one change.
 */
class PerturbationTest {
  private static PerturbedQueries rows;

  @BeforeAll
  static void start() throws Exception {
    rows = new PerturbedQueries();
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
        "SELECT order_id, country FROM orders LEFT JOIN suppliers ON supplier = name AND country <>"
            + " 'no'",
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
        "SELECT order_id FROM orders WHERE supplier IN (SELECT name FROM suppliers WHERE country ="
            + " 'fi')",
        "SELECT order_id, (SELECT MIN(country) FROM suppliers WHERE name <> 'cedar') AS c FROM"
            + " orders",
        "SELECT order_id, ROW(item, price).EXPR$1 AS p FROM orders",
        "SELECT order_id, e FROM orders CROSS JOIN UNNEST(SPLIT(item, 'v')) AS t(e)",
        "WITH c AS (SELECT supplier AS s, price FROM orders) SELECT a.price FROM c a JOIN c b ON"
            + " a.s = b.price"
      })
  void derivedEdgesMatchObservedDependencies(final String query) throws Exception {
    final Write write = RenderedLineage.write(PerturbedQueries.DEFINITIONS, query);
    final Map<String, Set<String>> columns = new HashMap<>();
    for (final Output output : write.outputs()) {
      assertThat(output.column().unknown()).isEmpty();
      columns.put(output.name(), origins(output.column(), write));
    }
    final Set<String> rowOrigins = origins(write.rows(), write);

    final Observed observed = observe(query);
    observed.columns.forEach(
        (name, changed) -> {
          final Set<String> allowed = new TreeSet<>(columns.get(name));
          allowed.addAll(rowOrigins);
          assertThat(allowed).as("%s: observed, not derived", name).containsAll(changed);
        });
    assertThat(rowOrigins).as("rows: observed, not derived").containsAll(observed.rows);
    columns.forEach(
        (name, origins) ->
            assertThat(observed.columns.getOrDefault(name, Set.of()))
                .as("%s: derived, not observed", name)
                .containsAll(origins));
    assertThat(observed.rowDependencies(columns))
        .as("rows: derived, not observed")
        .containsAll(rowOrigins);
  }

  private static Set<String> origins(final Column column, final Write write) {
    return column.edges().stream()
        .map(edge -> edge.origin())
        .map(origin -> write.sources().get(origin.source()).path().get(2) + "." + origin.column())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /**
   * Dependencies observed by changing inputs.
   *
   * @param columns input columns that changed an output column, by output column
   * @param rows input columns that changed the number of rows
   */
  private record Observed(Map<String, Set<String>> columns, Set<String> rows) {
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

    /**
     * Returns the columns that rows depend on: those that change outputs without a derived edge.
     */
    Set<String> rowDependencies(final Map<String, Set<String>> derived) {
      final Set<String> deciding = new HashSet<>(rows);
      columns.forEach(
          (name, changed) ->
              changed.stream()
                  .filter(origin -> !derived.get(name).contains(origin))
                  .forEach(deciding::add));
      return deciding;
    }
  }

  private static Observed observe(final String query) throws Exception {
    final Observed observed = new Observed(new HashMap<>(), new HashSet<>());
    final List<PerturbedQueries.Change> changes =
        new ArrayList<>(List.of(PerturbedQueries.UNCHANGED));
    changes.addAll(PerturbedQueries.changes(query));
    final List<Map<String, List<String>>> results = rows.results(query, changes);
    for (int variant = 1; variant < changes.size(); variant++) {
      final String changed = changes.get(variant).column();
      final Map<String, List<String>> after = results.get(variant);
      results
          .get(0)
          .forEach((name, before) -> observed.compare(changed, name, before, after.get(name)));
    }
    return observed;
  }
}
