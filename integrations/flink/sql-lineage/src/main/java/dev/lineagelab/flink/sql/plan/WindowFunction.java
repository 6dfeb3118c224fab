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
 * TUMBLE, HOP, CUMULATE and SESSION: they pass their input's columns on, and add the bounds and the
 * time of the window, which come of the time column alone.
 *
 * @param time place of the time column
 * @param keys places of those by which SESSION tells sessions apart
 * @param isSession whether a window's bounds depend on more rows than one
 */
record WindowFunction(int time, List<Integer> keys, boolean isSession) {
  private static final int ADDED = 3;

  /** The window function of a node; empty where it is another table function. */
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
        .map(name -> place(scan, name))
        .filter(place -> place >= 0)
        .findFirst();
  }

  private static int place(final TableFunctionScan scan, final RexNode name) {
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
            .through(isSession ? Subtype.AGGREGATION : Subtype.TRANSFORMATION)
            .with(Column.union(keys.stream().map(input::get).toList()).deciding(Subtype.WINDOW));
    final List<Column> columns = new ArrayList<>(input);
    for (int added = 0; added < ADDED; added++) {
      columns.add(bound);
    }
    return columns;
  }
}
