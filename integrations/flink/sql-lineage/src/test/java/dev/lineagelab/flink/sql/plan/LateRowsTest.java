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
import org.junit.jupiter.api.Test;

/** Runs OVER aggregates over a stream whose third row may be late. */
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

  private static List<Object> numbers(final long thirdTime) throws Exception {
    final Configuration configuration =
        new Configuration().set(CoreOptions.DEFAULT_PARALLELISM, 1).set(RestOptions.BIND_PORT, "0");
    final TableEnvironment session =
        TableEnvironment.create(
            EnvironmentSettings.newInstance()
                .inStreamingMode()
                .withConfiguration(configuration)
                .build());
    session.executeSql(ORDERS.formatted(thirdTime));
    final List<Object> found = new ArrayList<>();
    final CloseableIterator<Row> rows = session.executeSql(QUERY).collect();
    try {
      rows.forEachRemaining(row -> found.add(row.getField("n")));
    } finally {
      rows.close();
    }
    return found;
  }
}
