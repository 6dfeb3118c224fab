// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Subtype;
import java.util.List;
import org.apache.calcite.rel.core.Match;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexNode;

/**
 * Lineage of {@code MATCH_RECOGNIZE}. The expression of a measure states its inputs; the pattern
 * decides at run time which rows they come from, so measures and rows are also marked as unknown.
 */
final class PatternMatch {
  private static final Column UNKNOWN = Column.unknown("the rows that MATCH_RECOGNIZE selects");

  private final Match match;
  private final List<Column> input;
  private final Expressions expressions;

  PatternMatch(final Match match, final List<Column> input, final Expressions expressions) {
    this.match = match;
    this.input = input;
    this.expressions = expressions;
  }

  /** Returns the columns: partition keys are copied, measures are computed. */
  List<Column> columns() {
    return match.getRowType().getFieldList().stream().map(this::column).toList();
  }

  private Column column(final RelDataTypeField field) {
    final RexNode measure = match.getMeasures().get(field.getName());
    if (measure != null) {
      return expressions.column(measure).derive(Subtype.TRANSFORMATION).with(UNKNOWN);
    }
    final int key = match.getInput().getRowType().getFieldNames().indexOf(field.getName());
    return key >= 0 && match.getPartitionKeys().get(key) ? input.get(key) : UNKNOWN;
  }

  /** Returns the indirect dependencies of the matches: partition, order and conditions. */
  Column rows() {
    final List<Column> keys = match.getPartitionKeys().asList().stream().map(input::get).toList();
    final List<Column> order = PlanWalk.sorted(input, match.getOrderKeys().getFieldCollations());
    final List<Column> conditions =
        expressions.columns(List.copyOf(match.getPatternDefinitions().values()));
    return Column.union(keys)
        .indirect(Subtype.GROUP_BY)
        .with(Column.union(order).indirect(Subtype.SORT))
        .with(Column.union(conditions).indirect(Subtype.FILTER))
        .with(UNKNOWN);
  }
}
