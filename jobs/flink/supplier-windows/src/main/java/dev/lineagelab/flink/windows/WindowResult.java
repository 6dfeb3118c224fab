// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** Adds the supplier and the bounds of the window to its totals. */
final class WindowResult extends ProcessWindowFunction<Totals, SupplierWindow, String, TimeWindow> {
  private static final long serialVersionUID = 1L;

  @Override
  public void process(
      final String supplier,
      final Context context,
      final Iterable<Totals> aggregated,
      final Collector<SupplierWindow> out) {
    final TimeWindow window = context.window();
    final Totals totals = aggregated.iterator().next();
    out.collect(
        new SupplierWindow(
            supplier, window.getStart(), window.getEnd(), totals.count(), totals.cents()));
  }
}
