// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Table;
import java.util.List;
import java.util.function.Function;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.table.catalog.ContextResolvedTable;

/**
 * What the result of a query is made of.
 *
 * @param sources in the order in which they were met
 * @param columns of the result, in order
 * @param rows what decides about rows
 */
public record QueryLineage(List<Table> sources, List<Column> columns, Column rows) {
  /**
   * Follows a query from its sources up.
   *
   * @param query as parser and validator leave it
   * @param tables what is to be said of a table
   */
  public static QueryLineage of(
      final RelNode query, final Function<ContextResolvedTable, Table> tables) {
    final Sources sources = new Sources(tables);
    final PlanWalk walk = new PlanWalk(sources);
    final List<Column> columns = walk.visit(query);
    return new QueryLineage(List.copyOf(sources.found()), columns, walk.rows());
  }
}
