// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.utils.ShortcutUtils;

/** Rows that OVER aggregates drop because they are late in event time; for others see EventTime. */
final class LateRows {
  private LateRows() {}

  /** Returns the event times by which a projection drops late rows; a batch has no late rows. */
  static List<RexNode> times(final Project project) {
    final List<RexNode> found = new ArrayList<>();
    if (isStreaming(project)) {
      final RexVisitorImpl<Void> visitor =
          new RexVisitorImpl<>(true) {
            @Override
            public Void visitOver(final RexOver over) {
              over.getWindow().orderKeys.stream()
                  .map(key -> key.left)
                  .filter(key -> FlinkTypeFactory.isRowtimeIndicatorType(key.getType()))
                  .forEach(found::add);
              return super.visitOver(over);
            }
          };
      project.getProjects().forEach(expression -> expression.accept(visitor));
    }
    return found;
  }

  /** Returns whether a node is part of a stream; a batch has no late rows. */
  static boolean isStreaming(final RelNode node) {
    return ShortcutUtils.unwrapTableConfig(node).get(ExecutionOptions.RUNTIME_MODE)
        != RuntimeExecutionMode.BATCH;
  }
}
