// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.flink.sql.RenderedLineage;
import dev.lineagelab.flink.sql.script.ScriptException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of row expressions. */
class ExpressionLineageTest {
  private static List<String> lineage(final String query) throws ScriptException {
    return RenderedLineage.query(Shop.TABLES, query);
  }

  @Test
  void constantsHaveNoSources() throws ScriptException {
    assertThat(lineage("SELECT 'a' AS a, CAST(NULL AS INT) AS b, proc AS c FROM orders"))
        .containsExactly("a <-", "b <-", "c <-", "rows <-");
    assertThat(lineage("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(n, s)"))
        .containsExactly("n <-", "s <-", "rows <-");
  }

  @Test
  void castsToTheSameTypeAreIdentity() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT TRY_CAST(price AS DECIMAL(10, 2)) AS typed, CAST(item AS STRING) AS same,
                  CAST(bid_time AS TIMESTAMP(3)) AS plain, CAST(bid_time AS DATE) AS day_of
                FROM orders
                """))
        .containsExactly(
            "typed <- orders.price TRANSFORMATION",
            "same <- orders.item IDENTITY",
            "plain <- orders.bid_time IDENTITY",
            "day_of <- orders.bid_time TRANSFORMATION",
            "rows <-");
  }

  @Test
  void conditionalsDependOnTheirConditions() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT CASE supplier WHEN 'a' THEN item ELSE 'none' END AS chosen,
                  IF(price > '1', item, order_id) AS either, NULLIF(item, supplier) AS other,
                  COALESCE(item, supplier) AS first_known
                FROM orders
                """))
        .containsExactly(
            "chosen <- orders.item TRANSFORMATION, orders.supplier CONDITIONAL",
            "either <- orders.item TRANSFORMATION, orders.order_id TRANSFORMATION,"
                + " orders.price CONDITIONAL",
            "other <- orders.item TRANSFORMATION, orders.item CONDITIONAL,"
                + " orders.supplier CONDITIONAL",
            "first_known <- orders.item TRANSFORMATION, orders.supplier TRANSFORMATION",
            "rows <-");
  }

  @Test
  void hashesMask() throws ScriptException {
    assertThat(
            lineage(
                "SELECT SHA256(CONCAT(item, supplier)) AS h, UPPER(MD5(item)) AS m FROM orders"))
        .containsExactly(
            "h <- orders.item TRANSFORMATION!, orders.supplier TRANSFORMATION!",
            "m <- orders.item TRANSFORMATION!",
            "rows <-");
  }

  @Test
  void scalarSubqueriesAffectOneColumn() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT item, (SELECT MAX(country) FROM suppliers WHERE name = supplier) AS country
                FROM orders
                """))
        .containsExactly(
            "item <- orders.item IDENTITY",
            "country <- orders.supplier JOIN, suppliers.country AGGREGATION, suppliers.name JOIN",
            "rows <-");
  }

  @Test
  void rowFieldsAreTrackedSeparately() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT p.address.place.street AS street, p.made.a AS a, p.made.b AS b, address
                FROM (SELECT *, CAST(ROW(id, items[1]) AS ROW<a BIGINT, b STRING>) AS made FROM parcels) p
                """))
        .containsExactly(
            "street <- parcels.address.place.street IDENTITY",
            "a <- parcels.id TRANSFORMATION",
            "b <- parcels.items TRANSFORMATION",
            "address <- parcels.address IDENTITY",
            "rows <-");
  }

  @Test
  void elementsOfCollections() throws ScriptException {
    assertThat(
            lineage(
                """
                SELECT labels['a'] AS label, items[id] AS item, weights[1].kg AS kg,
                  ARRAY[item_of, 'x'][1] AS made
                FROM (SELECT *, items[1] AS item_of FROM parcels)
                """))
        .containsExactly(
            "label <- parcels.labels TRANSFORMATION",
            "item <- parcels.id TRANSFORMATION, parcels.items TRANSFORMATION",
            "kg <- parcels.weights.kg TRANSFORMATION",
            "made <- parcels.items TRANSFORMATION",
            "rows <-");
  }

  @Test
  void userDefinedScalarFunctions() throws ScriptException {
    assertThat(
            RenderedLineage.query(
                Shop.TABLES + Functions.DEFINITIONS,
                "SELECT shout(item, supplier) AS s FROM orders"))
        .containsExactly(
            "s <- orders.item TRANSFORMATION, orders.supplier TRANSFORMATION", "rows <-");
  }
}
