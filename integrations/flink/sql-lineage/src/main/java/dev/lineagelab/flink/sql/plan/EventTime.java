// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinInfo;
import org.apache.calcite.rel.core.Match;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.calcite.sql.SqlGroupedWindowFunction;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.util.ImmutableBitSet;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.metadata.FlinkRelMetadataQuery;
import org.apache.flink.table.planner.plan.trait.RelWindowProperties;

/**
 * Nodes whose result depends on the watermark, by which a stream in event time drops late rows or
 * state. Their keys contain the time; the watermark may come from other columns.
 */
final class EventTime {
  private EventTime() {}

  /** Returns whether the groups of an aggregate are windows. */
  static boolean decides(final Aggregate aggregate) {
    return LateRows.isStreaming(aggregate)
        && (hasWindow(aggregate.getInput(), aggregate.getGroupSet()) || hasGroupWindow(aggregate));
  }

  /** Returns whether a projection numbers the rows of windows, for top-N and deduplication. */
  static boolean decides(final Project project) {
    final boolean[] found = new boolean[1];
    final RexVisitorImpl<Void> visitor =
        new RexVisitorImpl<>(true) {
          @Override
          public Void visitOver(final RexOver over) {
            final ImmutableBitSet keys =
                ImmutableBitSet.of(
                    over.getWindow().partitionKeys.stream()
                        .filter(RexInputRef.class::isInstance)
                        .mapToInt(key -> ((RexInputRef) key).getIndex())
                        .toArray());
            found[0] |=
                over.getAggOperator().getKind() == SqlKind.ROW_NUMBER
                    && hasWindow(project.getInput(), keys);
            return super.visitOver(over);
          }
        };
    project.getProjects().forEach(expression -> expression.accept(visitor));
    return found[0] && LateRows.isStreaming(project);
  }

  /** Returns whether a join is one of windows, or of intervals. */
  static boolean decides(final Join join) {
    return LateRows.isStreaming(join) && (joinsWindows(join) || joinsIntervals(join));
  }

  /** Returns whether a sort orders an unlimited stream by its time. */
  static boolean decides(final Sort sort) {
    return LateRows.isStreaming(sort)
        && sort.fetch == null
        && sort.offset == null
        && !sort.getCollation().getFieldCollations().isEmpty()
        && isTime(sort.getInput(), sort.getCollation().getFieldCollations().get(0));
  }

  /** Returns whether the rows of a pattern are ordered by event time. */
  static boolean decides(final Match match) {
    return LateRows.isStreaming(match)
        && match.getOrderKeys().getFieldCollations().stream()
            .anyMatch(key -> isTime(match.getInput(), key));
  }

  private static boolean hasWindow(final RelNode input, final ImmutableBitSet keys) {
    final RelWindowProperties windows = windows(input);
    return windows != null
        && windows.isRowtime()
        && windows.getWindowStartColumns().intersects(keys)
        && windows.getWindowEndColumns().intersects(keys);
  }

  private static RelWindowProperties windows(final RelNode node) {
    return FlinkRelMetadataQuery.reuseOrCreate(node.getCluster().getMetadataQuery())
        .getRelWindowProperties(node);
  }

  /** Returns whether an aggregate groups by TUMBLE, HOP or SESSION, which are expressions below. */
  private static boolean hasGroupWindow(final Aggregate aggregate) {
    return aggregate.getInput() instanceof final Project project
        && aggregate.getGroupSet().asList().stream()
            .map(key -> project.getProjects().get(key))
            .anyMatch(
                key ->
                    key instanceof final RexCall call
                        && call.getOperator() instanceof SqlGroupedWindowFunction
                        && isTime(call.getOperands().get(0)));
  }

  private static boolean joinsWindows(final Join join) {
    final RelWindowProperties left = windows(join.getLeft());
    final RelWindowProperties right = windows(join.getRight());
    if (left == null || right == null || !left.isRowtime() || !right.isRowtime()) {
      return false;
    }
    final JoinInfo keys = join.analyzeCondition();
    boolean starts = false;
    boolean ends = false;
    for (int at = 0; at < keys.leftKeys.size(); at++) {
      final int one = keys.leftKeys.get(at);
      final int other = keys.rightKeys.get(at);
      starts |= left.getWindowStartColumns().get(one) && right.getWindowStartColumns().get(other);
      ends |= left.getWindowEndColumns().get(one) && right.getWindowEndColumns().get(other);
    }
    return starts && ends;
  }

  /**
   * A condition on the times of both sides. Flink refuses it in a join that is not of intervals.
   */
  private static boolean joinsIntervals(final Join join) {
    final int width = join.getLeft().getRowType().getFieldCount();
    final boolean[] sides = new boolean[2];
    join.getCondition()
        .accept(
            new RexVisitorImpl<Void>(true) {
              @Override
              public Void visitInputRef(final RexInputRef field) {
                if (isTime(field)) {
                  sides[field.getIndex() < width ? 0 : 1] = true;
                }
                return null;
              }
            });
    return sides[0] && sides[1];
  }

  private static boolean isTime(final RexNode expression) {
    return FlinkTypeFactory.isRowtimeIndicatorType(expression.getType());
  }

  private static boolean isTime(final RelNode input, final RelFieldCollation key) {
    return FlinkTypeFactory.isRowtimeIndicatorType(
        input.getRowType().getFieldList().get(key.getFieldIndex()).getType());
  }
}
