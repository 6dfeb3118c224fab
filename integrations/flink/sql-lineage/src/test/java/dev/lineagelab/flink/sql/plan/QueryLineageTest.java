// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.flink.sql.RenderedLineage;
import dev.lineagelab.flink.sql.script.ScriptException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of whole queries and of unknown lineage. */
class QueryLineageTest {
  private static List<String> lineage(final String query) throws ScriptException {
    return RenderedLineage.query(Shop.TABLES, query);
  }

  @Test
  void projectionAndFilter() throws ScriptException {
    assertThat(lineage("SELECT order_id, UPPER(item) AS item FROM orders WHERE supplier <> 'x'"))
        .containsExactly(
            "order_id <- orders.order_id IDENTITY",
            "item <- orders.item TRANSFORMATION",
            "rows <- orders.supplier FILTER");
  }

  @Test
  void sortingAndLimits() throws ScriptException {
    assertThat(lineage("SELECT item FROM orders ORDER BY price, supplier LIMIT 3"))
        .containsExactly(
            "item <- orders.item IDENTITY", "rows <- orders.price SORT, orders.supplier SORT");
    assertThat(lineage("SELECT item FROM orders LIMIT 3"))
        .containsExactly("item <- orders.item IDENTITY", "rows <-");
  }

  @Test
  void viewsAndCommonTableExpressions() throws ScriptException {
    final String views =
        """
        CREATE VIEW cheap AS SELECT order_id, LOWER(item) AS item FROM orders WHERE price < '9';
        CREATE TEMPORARY VIEW short AS SELECT item FROM cheap;
        """;
    assertThat(
            RenderedLineage.query(
                Shop.TABLES + views,
                "WITH c AS (SELECT item AS i FROM short) SELECT a.i FROM c a JOIN c b ON a.i ="
                    + " b.i"))
        .containsExactly(
            "i <- orders.item TRANSFORMATION", "rows <- orders.item JOIN, orders.price FILTER");
  }

  @Test
  void tableFunctionColumnsAreUnknownButDependOnArguments() throws ScriptException {
    assertThat(
            RenderedLineage.query(
                Shop.TABLES + Functions.DEFINITIONS,
                "SELECT order_id, word FROM orders, LATERAL TABLE(words(item)) AS t(word)"))
        .containsExactly(
            "order_id <- orders.order_id IDENTITY",
            "word <- orders.item TRANSFORMATION, ?the table function words",
            "rows <- orders.item JOIN, ?the table function words");
  }

  @Test
  void processTableFunctionsDependOnAllColumnsOfTheirTable() throws ScriptException {
    final String function =
        "CREATE TEMPORARY SYSTEM FUNCTION tagged AS '%s';"
            .formatted(Functions.Tagged.class.getName());
    assertThat(
            RenderedLineage.query(
                Shop.TABLES + function, "SELECT * FROM tagged(TABLE suppliers, 'new')"))
        .containsExactly(
            "EXPR$0 <- suppliers.country TRANSFORMATION, suppliers.name TRANSFORMATION,"
                + " suppliers.since TRANSFORMATION, ?the table function tagged",
            "rows <- suppliers.country JOIN, suppliers.name JOIN, suppliers.since JOIN,"
                + " ?the table function tagged");
  }

  @Test
  void matchRecognizeDependsOnTheColumnsThatItNames() throws ScriptException {
    final String match =
        """
        SELECT * FROM orders MATCH_RECOGNIZE (
          PARTITION BY supplier ORDER BY bid_time MEASURES A.item AS first_item
          ONE ROW PER MATCH PATTERN (A B) DEFINE A AS A.price > '1')
        """;
    assertThat(lineage(match))
        .containsExactly(
            "supplier <- orders.supplier IDENTITY",
            "first_item <- orders.item TRANSFORMATION, ?the rows that MATCH_RECOGNIZE selects",
            "rows <- orders.bid_time FILTER, orders.bid_time SORT, orders.price FILTER,"
                + " orders.supplier GROUP_BY,"
                + " ?the rows that MATCH_RECOGNIZE selects");
    assertThat(RenderedLineage.write(Shop.TABLES, match).sources()).hasSize(1);
  }

  @Test
  void unknownLineagePropagates() throws ScriptException {
    assertThat(
            RenderedLineage.query(
                Shop.TABLES + Functions.DEFINITIONS,
                """
                SELECT order_id, CONCAT(word, item) AS both_of FROM orders
                LEFT JOIN LATERAL TABLE(words(item)) AS t(word) ON TRUE WHERE CHAR_LENGTH(word) > 3
                """))
        .containsExactly(
            "order_id <- orders.order_id IDENTITY",
            "both_of <- orders.item TRANSFORMATION, ?the table function words",
            "rows <- orders.item JOIN, orders.item FILTER, ?the table function words");
  }
}
