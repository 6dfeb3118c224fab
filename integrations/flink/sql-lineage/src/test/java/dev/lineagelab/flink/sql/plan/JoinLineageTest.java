// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.flink.sql.RenderedLineage;
import dev.lineagelab.flink.sql.script.ScriptException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of queries over several tables. */
class JoinLineageTest {
  private static List<String> lineage(final String query) throws ScriptException {
    return RenderedLineage.query(Shop.TABLES, query);
  }

  @Test
  void innerAndOuterJoins() throws ScriptException {
    for (final String kind : List.of("INNER", "LEFT", "RIGHT", "FULL")) {
      assertThat(
              lineage(
                  "SELECT order_id, UPPER(country) AS country FROM orders %s JOIN suppliers ON supplier = name"
                      .formatted(kind)))
          .as(kind)
          .containsExactly(
              "order_id <- orders.order_id IDENTITY",
              "country <- suppliers.country TRANSFORMATION",
              "rows <- orders.supplier JOIN, suppliers.name JOIN");
    }
  }

  @Test
  void selfJoinHasOneSource() throws ScriptException {
    assertThat(
            lineage(
                "SELECT a.item, b.price FROM orders a JOIN orders b ON a.order_id = b.supplier"))
        .containsExactly(
            "item <- orders.item IDENTITY",
            "price <- orders.price IDENTITY",
            "rows <- orders.order_id JOIN, orders.supplier JOIN");
    assertThat(
            RenderedLineage.write(Shop.TABLES, "SELECT a.item FROM orders a, orders b").sources())
        .hasSize(1);
  }

  @Test
  void intervalJoin() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT order_id, country FROM orders JOIN suppliers
                ON supplier = name AND bid_time BETWEEN since - INTERVAL '1' HOUR AND since
                """))
        .containsExactly(
            "order_id <- orders.order_id IDENTITY",
            "country <- suppliers.country IDENTITY",
            "rows <- orders.bid_time JOIN, orders.bid_time FILTER, orders.supplier JOIN,"
                + " suppliers.name JOIN, suppliers.since JOIN, suppliers.since FILTER");
  }

  @Test
  void temporalJoinDependsOnBothTimes() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT order_id, country FROM orders
                LEFT JOIN suppliers FOR SYSTEM_TIME AS OF bid_time ON supplier = name
                """))
        .containsExactly(
            "order_id <- orders.order_id IDENTITY",
            "country <- suppliers.country IDENTITY",
            "rows <- orders.bid_time JOIN, orders.bid_time FILTER, orders.supplier JOIN,"
                + " suppliers.name JOIN, suppliers.since JOIN, suppliers.since FILTER");
  }

  @Test
  void lookupJoinDependsOnKeysOnly() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT order_id, country FROM orders
                JOIN suppliers FOR SYSTEM_TIME AS OF proc ON supplier = name AND country <> 'x'
                """))
        .containsExactly(
            "order_id <- orders.order_id IDENTITY",
            "country <- suppliers.country IDENTITY",
            "rows <- orders.supplier JOIN, suppliers.country JOIN, suppliers.name JOIN");
  }

  @Test
  void unionTakesValuesFromAllInputs() throws ScriptException {
    final String all = "SELECT item AS a FROM orders UNION ALL SELECT UPPER(name) FROM suppliers";
    assertThat(lineage(all))
        .containsExactly("a <- orders.item IDENTITY, suppliers.name TRANSFORMATION", "rows <-");
    assertThat(lineage(all.replace("UNION ALL", "UNION")))
        .containsExactly(
            "a <- orders.item IDENTITY, suppliers.name TRANSFORMATION",
            "rows <- orders.item GROUP_BY, suppliers.name GROUP_BY");
  }

  @Test
  void intersectAndExceptTakeValuesFromTheFirstInput() throws ScriptException {
    for (final String operation : List.of("INTERSECT", "EXCEPT")) {
      assertThat(
              lineage(
                  "SELECT item AS a FROM orders %s SELECT name FROM suppliers"
                      .formatted(operation)))
          .as(operation)
          .containsExactly(
              "a <- orders.item IDENTITY",
              "rows <- orders.item JOIN, orders.item GROUP_BY, suppliers.name JOIN");
    }
  }

  @Test
  void filterSubqueriesAffectRows() throws ScriptException {
    for (final String condition :
        List.of(
            "supplier IN (SELECT name FROM suppliers WHERE country = 'x')",
            "supplier NOT IN (SELECT name FROM suppliers WHERE country = 'x')",
            "EXISTS (SELECT 1 FROM suppliers WHERE name = supplier AND country = 'x')",
            "supplier > (SELECT MAX(name) FROM suppliers WHERE country = 'x')")) {
      assertThat(lineage("SELECT item FROM orders WHERE " + condition))
          .as(condition)
          .containsExactly(
              "item <- orders.item IDENTITY",
              "rows <- orders.supplier FILTER, suppliers.country FILTER, suppliers.name FILTER");
    }
  }

  @Test
  void unnestedCollections() throws ScriptException {
    assertThat(lineage("SELECT id, e FROM parcels CROSS JOIN UNNEST(items) AS t(e)"))
        .containsExactly(
            "id <- parcels.id IDENTITY",
            "e <- parcels.items TRANSFORMATION",
            "rows <- parcels.items JOIN");
    assertThat(lineage("SELECT id, kg FROM parcels CROSS JOIN UNNEST(weights) AS t(part, kg)"))
        .containsExactly(
            "id <- parcels.id IDENTITY",
            "kg <- parcels.weights.kg TRANSFORMATION",
            "rows <- parcels.weights JOIN");
    assertThat(lineage("SELECT k, v FROM parcels LEFT JOIN UNNEST(labels) AS t(k, v) ON TRUE"))
        .containsExactly(
            "k <- parcels.labels TRANSFORMATION",
            "v <- parcels.labels TRANSFORMATION",
            "rows <- parcels.labels JOIN");
  }

  @Test
  void unnestingAnArrayOfConstantSizeDoesNotAffectRows() throws ScriptException {
    assertThat(
            lineage("SELECT name, e FROM suppliers CROSS JOIN UNNEST(ARRAY[name, 'none']) AS t(e)"))
        .containsExactly(
            "name <- suppliers.name IDENTITY", "e <- suppliers.name TRANSFORMATION", "rows <-");
  }

  @Test
  void lateralQueries() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT name, item FROM suppliers CROSS JOIN LATERAL (
                  SELECT item FROM orders WHERE supplier = name ORDER BY price LIMIT 1) AS cheapest
                """))
        .containsExactly(
            "name <- suppliers.name IDENTITY",
            "item <- orders.item IDENTITY",
            "rows <- suppliers.name JOIN, orders.price SORT, orders.supplier JOIN");
  }
}
