// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Subtype;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.core.TableFunctionScan;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlWindowTableFunction;
import org.apache.flink.table.planner.calcite.RexTableArgCall;

/**
 * Windowing table function: TUMBLE, HOP, CUMULATE or SESSION. It passes its input columns through
 * and adds the bounds and the time of the window, which are derived from the time column.
 *
 * @param time index of the time column
 * @param keys indexes of the partition keys of SESSION
 * @param isSession whether the bounds of a window depend on more than one row
 */
record WindowFunction(int time, List<Integer> keys, boolean isSession) {
  private static final int ADDED = 3;

  /** Returns the window function of a node; empty for other table functions. */
  static Optional<WindowFunction> of(final TableFunctionScan scan) {
    if (scan.getInputs().size() != 1
        || !(scan.getCall() instanceof final RexCall call)
        || !(call.getOperator() instanceof SqlWindowTableFunction)) {
      return Optional.empty();
    }
    final int width = scan.getInput(0).getRowType().getFieldCount();
    if (scan.getRowType().getFieldCount() != width + ADDED) {
      return Optional.empty();
    }
    final boolean isSession = call.getOperator().isName("SESSION", false);
    return timeColumn(scan, call).map(time -> new WindowFunction(time, keys(call), isSession));
  }

  private static Optional<Integer> timeColumn(final TableFunctionScan scan, final RexCall call) {
    return call.getOperands().stream()
        .filter(operand -> operand.getKind() == SqlKind.DESCRIPTOR)
        .map(operand -> ((RexCall) operand).getOperands().get(0))
        .map(name -> index(scan, name))
        .filter(index -> index >= 0)
        .findFirst();
  }

  private static int index(final TableFunctionScan scan, final RexNode name) {
    return name instanceof final RexLiteral literal
        ? scan.getInput(0).getRowType().getFieldNames().indexOf(literal.getValueAs(String.class))
        : -1;
  }

  private static List<Integer> keys(final RexCall call) {
    return call.getOperands().stream()
        .filter(RexTableArgCall.class::isInstance)
        .flatMapToInt(table -> Arrays.stream(((RexTableArgCall) table).getPartitionKeys()))
        .boxed()
        .toList();
  }

  List<Column> columns(final List<Column> input) {
    final Column bound =
        input
            .get(time)
            .derive(isSession ? Subtype.AGGREGATION : Subtype.TRANSFORMATION)
            .with(Column.union(keys.stream().map(input::get).toList()).indirect(Subtype.WINDOW));
    final List<Column> columns = new ArrayList<>(input);
    for (int added = 0; added < ADDED; added++) {
      columns.add(bound);
    }
    return columns;
  }
}
