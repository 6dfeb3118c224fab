// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.flink.sql.RenderedLineage;
import dev.lineagelab.flink.sql.script.ScriptException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of grouping, windows and top-N queries. */
class AggregateLineageTest {
  private static List<String> lineage(final String query) throws ScriptException {
    return RenderedLineage.query(Shop.TABLES, query);
  }

  @Test
  void aggregates() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT supplier, COUNT(*) AS n, COUNT(DISTINCT item) AS items,
                  SUM(CAST(price AS INT)) FILTER (WHERE item = 'anvil') AS total,
                  AVG(CAST(price AS DOUBLE)) AS mean
                FROM orders GROUP BY supplier HAVING MAX(bid_time) > TIMESTAMP '2026-01-01 00:00:00'
                """))
        .containsExactly(
            "supplier <- orders.supplier IDENTITY",
            "n <-",
            "items <- orders.item AGGREGATION!",
            "total <- orders.item FILTER, orders.price AGGREGATION",
            "mean <- orders.price AGGREGATION",
            "rows <- orders.bid_time FILTER, orders.supplier GROUP_BY");
  }

  @Test
  void groupingIdsHaveNoSources() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT supplier, item, GROUPING(item) AS g FROM orders
                GROUP BY GROUPING SETS ((supplier), (supplier, item))
                """))
        .containsExactly(
            "supplier <- orders.supplier IDENTITY",
            "item <- orders.item IDENTITY",
            "g <-",
            "rows <- orders.item GROUP_BY, orders.supplier GROUP_BY");
  }

  @Test
  void distinctGroupsByAllColumns() throws ScriptException {
    assertThat(lineage("SELECT DISTINCT item, supplier FROM orders"))
        .containsExactly(
            "item <- orders.item IDENTITY",
            "supplier <- orders.supplier IDENTITY",
            "rows <- orders.item GROUP_BY, orders.supplier GROUP_BY");
  }

  @Test
  void windowFunctionsPassColumnsThrough() throws ScriptException {
    for (final String window :
        List.of(
            "TUMBLE(TABLE orders, DESCRIPTOR(bid_time), INTERVAL '5' SECOND)",
            "HOP(TABLE orders, DESCRIPTOR(bid_time), INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
            "CUMULATE(TABLE orders, DESCRIPTOR(bid_time), INTERVAL '5' SECOND, INTERVAL '10'"
                + " SECOND)")) {
      assertThat(
              lineage(
                  """
                  SELECT window_start, window_end, supplier, COUNT(*) AS n, SUM(TRY_CAST(price AS INT)) AS total
                  FROM TABLE(%s) GROUP BY window_start, window_end, supplier
                  """
                      .formatted(window)))
          .as(window)
          .containsExactly(
              "window_start <- orders.bid_time TRANSFORMATION",
              "window_end <- orders.bid_time TRANSFORMATION",
              "supplier <- orders.supplier IDENTITY",
              "n <-",
              "total <- orders.price AGGREGATION",
              "rows <- orders.bid_time GROUP_BY, orders.bid_time FILTER, orders.supplier GROUP_BY");
    }
  }

  @Test
  void sessionBoundsDependOnPartitionKeys() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT item, window_start FROM TABLE(SESSION(
                  TABLE orders PARTITION BY supplier, DESCRIPTOR(bid_time), INTERVAL '5' SECOND))
                """))
        .containsExactly(
            "item <- orders.item IDENTITY",
            "window_start <- orders.bid_time AGGREGATION, orders.supplier WINDOW",
            "rows <-");
  }

  @Test
  void legacyGroupWindows() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT TUMBLE_START(bid_time, INTERVAL '5' SECOND) AS s, COUNT(item) AS n FROM orders
                GROUP BY TUMBLE(bid_time, INTERVAL '5' SECOND)
                """))
        .containsExactly(
            "s <- orders.bid_time TRANSFORMATION",
            "n <- orders.item AGGREGATION!",
            "rows <- orders.bid_time GROUP_BY, orders.bid_time FILTER");
  }

  @Test
  void overAggregatesDependOnTheirWindow() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT SUM(CAST(price AS INT)) OVER w AS total, AVG(CAST(price AS INT)) OVER w AS mean,
                  COUNT(item) OVER w AS n, LAG(item) OVER w AS before
                FROM orders WINDOW w AS (PARTITION BY supplier ORDER BY bid_time)
                """))
        .containsExactly(
            "total <- orders.bid_time WINDOW, orders.price AGGREGATION, orders.supplier WINDOW",
            "mean <- orders.bid_time WINDOW, orders.price AGGREGATION, orders.supplier WINDOW",
            "n <- orders.bid_time WINDOW, orders.item AGGREGATION!, orders.supplier WINDOW",
            "before <- orders.bid_time WINDOW, orders.item TRANSFORMATION, orders.supplier WINDOW",
            "rows <- orders.bid_time FILTER");
  }

  @Test
  void overAggregatesDropLateRowsInEventTimeOnly() throws ScriptException {
    final String query =
        "SELECT item, COUNT(*) OVER (PARTITION BY supplier ORDER BY %s) AS n FROM orders";
    assertThat(lineage(query.formatted("bid_time"))).endsWith("rows <- orders.bid_time FILTER");
    assertThat(lineage(query.formatted("proc"))).endsWith("rows <-");
    assertThat(
            RenderedLineage.query(
                "SET 'execution.runtime-mode' = 'batch';" + Shop.TABLES,
                query.formatted("bid_time")))
        .endsWith("rows <-");
  }

  @Test
  void columnsOfTheWatermarkDecideWhichRowsAreLate() throws ScriptException {
    final String orders =
        """
        CREATE TEMPORARY TABLE orders (
          item STRING, bid_time TIMESTAMP(3), seen TIMESTAMP(3), WATERMARK FOR bid_time AS seen
        ) WITH ('connector' = 'datagen');
        """;
    assertThat(
            RenderedLineage.query(
                orders, "SELECT item, COUNT(*) OVER (ORDER BY bid_time) AS n FROM orders"))
        .endsWith("rows <- orders.bid_time FILTER, orders.seen FILTER");
  }

  @Test
  void deduplicationAndTopNFilterByTheirKeys() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT order_id, item FROM (
                  SELECT *, ROW_NUMBER() OVER (PARTITION BY order_id ORDER BY proc) AS place FROM orders
                ) WHERE place = 1
                """))
        .containsExactly(
            "order_id <- orders.order_id IDENTITY",
            "item <- orders.item IDENTITY",
            "rows <- orders.order_id FILTER");
    assertThat(
            lineage(
                """
                SELECT item, place FROM (
                  SELECT *, ROW_NUMBER() OVER (PARTITION BY supplier ORDER BY price DESC) AS place FROM orders
                ) WHERE place <= 3
                """))
        .containsExactly(
            "item <- orders.item IDENTITY",
            "place <- orders.price WINDOW, orders.supplier WINDOW",
            "rows <- orders.price FILTER, orders.supplier FILTER");
  }

  @Test
  void userDefinedAggregateFunctions() throws ScriptException {
    assertThat(
            RenderedLineage.query(
                Shop.TABLES + Functions.DEFINITIONS,
                "SELECT supplier, longest(item) AS i FROM orders GROUP BY supplier"))
        .containsExactly(
            "supplier <- orders.supplier IDENTITY",
            "i <- orders.item AGGREGATION",
            "rows <- orders.supplier GROUP_BY");
  }
}
