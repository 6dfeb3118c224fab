// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Subtype;
import java.util.List;
import org.apache.calcite.rel.core.AggregateCall;

/** What an aggregate function's result is made of, a user's own one too: AGGREGATION of all. */
final class Aggregates {
  private static final String APPROXIMATE_COUNT = "APPROX_COUNT_DISTINCT";

  private Aggregates() {}

  static Column column(final AggregateCall call, final List<Column> input) {
    final Column values = Column.union(call.getArgList().stream().map(input::get).toList());
    final Column result =
        switch (call.getAggregation().getKind()) {
          // Which keys were grouped by tells nothing of their values.
          case GROUPING, GROUPING_ID, GROUP_ID, LITERAL_AGG -> Column.CONSTANT;
          case SINGLE_VALUE -> values;
          case COUNT -> values.through(Subtype.AGGREGATION, true);
          default -> values.each(Subtype.AGGREGATION, isApproximateCount(call));
        };
    final List<Column> order = PlanWalk.sorted(input, call.getCollation().getFieldCollations());
    final Column sorted = result.with(Column.union(order).deciding(Subtype.SORT));
    return call.hasFilter()
        ? sorted.with(input.get(call.filterArg).deciding(Subtype.FILTER))
        : sorted;
  }

  private static boolean isApproximateCount(final AggregateCall call) {
    return APPROXIMATE_COUNT.equalsIgnoreCase(call.getAggregation().getName());
  }
}
