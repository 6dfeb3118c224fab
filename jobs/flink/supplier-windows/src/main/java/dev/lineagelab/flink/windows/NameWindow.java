// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import org.apache.flink.streaming.api.functions.windowing.ProcessWindowFunction;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.util.Collector;

/** Says whose totals they are, and of which window. */
final class NameWindow extends ProcessWindowFunction<Totals, SupplierWindow, String, TimeWindow> {
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
