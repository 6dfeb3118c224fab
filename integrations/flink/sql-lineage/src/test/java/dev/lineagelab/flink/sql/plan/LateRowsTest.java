// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.flink.sql.RenderedLineage;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs queries over a stream whose third row may be late. */
class LateRowsTest {
  /** The watermark is that of the second row when the third arrives: it lies a minute later. */
  private static final String ORDERS =
      """
      CREATE TEMPORARY TABLE orders (
        n BIGINT, bid_time AS TO_TIMESTAMP_LTZ(CASE n WHEN 3 THEN %d ELSE n * 60000 END, 3),
        WATERMARK FOR bid_time AS bid_time
      ) WITH (
        'connector' = 'datagen', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '4'
      );
      """;

  private static final String QUERY =
      "SELECT n, COUNT(*) OVER (ORDER BY bid_time) AS c FROM orders";

  @Test
  void timeOfOneRowDecidesWhetherItIsInTheResult() throws Exception {
    assertThat(numbers(180_000)).containsExactly(1L, 2L, 3L, 4L);
    assertThat(numbers(60_000)).containsExactly(1L, 2L, 4L);
    assertThat(RenderedLineage.query(ORDERS.formatted(60_000), QUERY))
        .contains("rows <- orders.n FILTER");
  }

  /** The watermark has columns of its own. Where it stands still, no row is late. */
  private static final String MARKED =
      """
      CREATE TEMPORARY TABLE marked (
        n BIGINT, m BIGINT, k AS 0, bid_time AS TO_TIMESTAMP_LTZ(CASE n WHEN 3 THEN 60000 ELSE n * 60000 END, 3),
        mark AS TO_TIMESTAMP_LTZ(m * %d, 3), WATERMARK FOR bid_time AS mark
      ) WITH (
        'connector' = 'datagen', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '4',
        'fields.m.kind' = 'sequence', 'fields.m.start' = '1', 'fields.m.end' = '4'
      );
      CREATE TEMPORARY VIEW versions AS SELECT k, n, bid_time FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY bid_time DESC) AS r FROM marked
      ) WHERE r = 1;
      """;

  private static final String WINDOWS =
      "TABLE(TUMBLE(TABLE marked, DESCRIPTOR(bid_time), INTERVAL '1' MINUTE))";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT COUNT(*) AS c FROM " + WINDOWS + " GROUP BY window_start, window_end",
        "SELECT COUNT(*) AS c FROM marked GROUP BY TUMBLE(bid_time, INTERVAL '1' MINUTE)",
        "SELECT n FROM (SELECT n, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) AS r"
            + " FROM "
            + WINDOWS
            + ") WHERE r <= 5",
        "SELECT a.n FROM (SELECT * FROM "
            + WINDOWS
            + ") a JOIN (SELECT * FROM "
            + WINDOWS
            + ") b ON a.n = b.n AND a.window_start = b.window_start AND a.window_end = b.window_end",
        "SELECT a.n FROM marked a JOIN marked b ON a.n = b.n AND a.bid_time BETWEEN"
            + " b.bid_time - INTERVAL '1' SECOND AND b.bid_time + INTERVAL '1' SECOND",
        "SELECT a.n, v.n AS version FROM marked a LEFT JOIN versions FOR SYSTEM_TIME AS OF a.bid_time AS v"
            + " ON v.k = a.k",
        """
        SELECT n FROM marked MATCH_RECOGNIZE (
          ORDER BY bid_time MEASURES A.n AS n ONE ROW PER MATCH PATTERN (A) DEFINE A AS A.n > 0)
        """,
        "SELECT n FROM marked ORDER BY bid_time",
        "SELECT n, COUNT(*) OVER (ORDER BY bid_time) AS c FROM marked"
      })
  void columnsOfTheWatermarkDecideWhichRowsAreInTheResult(final String query) throws Exception {
    assertThat(rows(MARKED.formatted(60_000), query))
        .isNotEqualTo(rows(MARKED.formatted(0), query));
    assertThat(RenderedLineage.query(MARKED.formatted(60_000), query))
        .last(InstanceOfAssertFactories.STRING)
        .contains("marked.m FILTER");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT n, window_start FROM " + WINDOWS,
        "SELECT k, COUNT(*) AS c FROM " + WINDOWS + " GROUP BY k",
        "SELECT n FROM marked WHERE n > 1",
        "SELECT n FROM (SELECT n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n) AS r FROM marked) WHERE r <= 2"
      })
  void otherResultsDoNotDependOnTheWatermark(final String query) throws Exception {
    assertThat(rows(MARKED.formatted(60_000), query)).isEqualTo(rows(MARKED.formatted(0), query));
    assertThat(RenderedLineage.query(MARKED.formatted(60_000), query).toString())
        .doesNotContain("marked.m");
  }

  private static List<Object> numbers(final long thirdTime) throws Exception {
    return rows(ORDERS.formatted(thirdTime), QUERY).stream().map(row -> row.getField("n")).toList();
  }

  private static List<Row> rows(final String definitions, final String query) throws Exception {
    final Configuration configuration =
        new Configuration().set(CoreOptions.DEFAULT_PARALLELISM, 1).set(RestOptions.BIND_PORT, "0");
    final TableEnvironment session =
        TableEnvironment.create(
            EnvironmentSettings.newInstance()
                .inStreamingMode()
                .withConfiguration(configuration)
                .build());
    for (final String definition : definitions.split(";\n")) {
      session.executeSql(definition);
    }
    final List<Row> found = new ArrayList<>();
    final CloseableIterator<Row> rows = session.executeSql(query).collect();
    try {
      rows.forEachRemaining(found::add);
    } finally {
      rows.close();
    }
    return found;
  }
}
