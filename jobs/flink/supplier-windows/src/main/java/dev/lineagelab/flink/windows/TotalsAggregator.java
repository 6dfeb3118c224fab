// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import org.apache.flink.api.common.functions.AggregateFunction;

/** Aggregate function: count and total price of the orders of a window. */
final class TotalsAggregator implements AggregateFunction<PricedOrder, Totals, Totals> {
  private static final long serialVersionUID = 1L;

  @Override
  public Totals createAccumulator() {
    return Totals.NONE;
  }

  @Override
  public Totals add(final PricedOrder order, final Totals totals) {
    return totals.plus(1, order.cents());
  }

  @Override
  public Totals getResult(final Totals totals) {
    return totals;
  }

  @Override
  public Totals merge(final Totals some, final Totals others) {
    return some.plus(others.count(), others.cents());
  }
}
