// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Subtype;
import java.util.List;
import org.apache.calcite.rel.core.AggregateCall;

/** Lineage of aggregate calls. User-defined functions are an AGGREGATION of all their arguments. */
final class Aggregates {
  private static final String APPROXIMATE_COUNT = "APPROX_COUNT_DISTINCT";

  private Aggregates() {}

  static Column column(final AggregateCall call, final List<Column> input) {
    final Column values = Column.union(call.getArgList().stream().map(input::get).toList());
    final Column result =
        switch (call.getAggregation().getKind()) {
          // These depend on the grouping set, not on the values of the keys.
          case GROUPING, GROUPING_ID, GROUP_ID, LITERAL_AGG -> Column.CONSTANT;
          case SINGLE_VALUE -> values;
          case COUNT -> values.derive(Subtype.AGGREGATION, true);
          default -> values.deriveEach(Subtype.AGGREGATION, isApproximateCount(call));
        };
    final List<Column> order = PlanWalk.sorted(input, call.getCollation().getFieldCollations());
    final Column sorted = result.with(Column.union(order).indirect(Subtype.SORT));
    return call.hasFilter()
        ? sorted.with(input.get(call.filterArg).indirect(Subtype.FILTER))
        : sorted;
  }

  private static boolean isApproximateCount(final AggregateCall call) {
    return APPROXIMATE_COUNT.equalsIgnoreCase(call.getAggregation().getName());
  }
}
