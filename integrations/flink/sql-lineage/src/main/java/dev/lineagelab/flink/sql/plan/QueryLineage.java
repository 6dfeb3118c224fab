// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Table;
import java.util.List;
import java.util.function.Function;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.table.catalog.ContextResolvedTable;

/**
 * Lineage of the result of a query.
 *
 * @param sources tables, in the order in which they were visited
 * @param columns lineage of the result's columns, in order
 * @param rows indirect dependencies of the rows
 */
public record QueryLineage(List<Table> sources, List<Column> columns, Column rows) {
  /**
   * Derives the lineage of a query.
   *
   * @param query relational tree after parsing and validation, before optimization
   * @param tables converter from Flink's tables to the model
   */
  public static QueryLineage of(
      final RelNode query, final Function<ContextResolvedTable, Table> tables) {
    final Sources sources = new Sources(tables);
    final PlanWalk walk = new PlanWalk(sources);
    final List<Column> columns = walk.visit(query);
    return new QueryLineage(List.copyOf(sources.found()), columns, walk.rows());
  }
}
