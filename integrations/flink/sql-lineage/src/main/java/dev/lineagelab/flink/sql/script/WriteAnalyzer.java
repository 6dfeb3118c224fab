// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Output;
import dev.lineagelab.flink.sql.model.Write;
import dev.lineagelab.flink.sql.plan.QueryLineage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.table.api.internal.TableEnvironmentImpl;
import org.apache.flink.table.catalog.CatalogManager;
import org.apache.flink.table.catalog.ContextResolvedTable;
import org.apache.flink.table.operations.QueryOperation;
import org.apache.flink.table.operations.SinkModifyOperation;
import org.apache.flink.table.planner.calcite.FlinkRelBuilder;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.hint.FlinkHints;
import org.apache.flink.table.planner.operations.PlannerQueryOperation;

/** Analyser of the lineage of an INSERT. */
final class WriteAnalyzer {
  private final TableResolver tables;
  private final Supplier<FlinkRelBuilder> trees;

  private WriteAnalyzer(final TableResolver tables, final Supplier<FlinkRelBuilder> trees) {
    this.tables = tables;
    this.trees = trees;
  }

  /** Returns an analyser of the writes of a session. */
  static WriteAnalyzer of(final TableEnvironmentImpl session) {
    return of((PlannerBase) session.getPlanner(), session.getCatalogManager());
  }

  static WriteAnalyzer of(final PlannerBase planner, final CatalogManager catalogs) {
    return new WriteAnalyzer(new TableResolver(catalogs), planner::createRelBuilder);
  }

  Write of(final SinkModifyOperation write) {
    final QueryLineage query = QueryLineage.of(tree(write.getChild()), tables::of);
    return new Write(
        tables.of(sink(write)),
        write.isOverwrite(),
        query.sources(),
        outputs(write, query),
        query.rows());
  }

  private RelNode tree(final QueryOperation query) {
    return query instanceof final PlannerQueryOperation planned
        ? planned.getCalciteTree()
        : trees.get().queryOperation(query).build();
  }

  /** Returns the table with the options of the statement's hint, as the planner writes it. */
  private static ContextResolvedTable sink(final SinkModifyOperation write) {
    final ContextResolvedTable table = write.getContextResolvedTable();
    final Map<String, String> hints = write.getDynamicOptions();
    return hints.isEmpty()
        ? table
        : table.copy(FlinkHints.mergeTableOptions(hints, table.getTable().getOptions()));
  }

  /** Matches the query's columns with the persisted columns of the sink, by position. */
  private static List<Output> outputs(final SinkModifyOperation write, final QueryLineage query) {
    final List<String> names =
        write.getContextResolvedTable().getResolvedSchema().getColumns().stream()
            .filter(org.apache.flink.table.catalog.Column::isPersisted)
            .map(org.apache.flink.table.catalog.Column::getName)
            .toList();
    final boolean isInsert = !write.isUpdate() && !write.isDelete();
    final boolean isAligned = isInsert && names.size() == query.columns().size();
    final Column unknown = Column.unknown("which column each value of the query goes to");
    final List<Output> outputs = new ArrayList<>();
    for (int index = 0; index < names.size(); index++) {
      outputs.add(new Output(names.get(index), isAligned ? query.columns().get(index) : unknown));
    }
    return outputs;
  }
}
