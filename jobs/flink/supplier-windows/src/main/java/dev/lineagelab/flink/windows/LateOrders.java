// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import dev.lineagelab.flink.windows.DropCounters.Reason;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/** DropCounters and drops the orders that arrive after their window has expired. */
final class LateOrders extends ProcessFunction<PricedOrder, Void> implements CheckpointedFunction {
  private static final long serialVersionUID = 1L;

  private transient DropCounters dropped;

  @Override
  public void initializeState(final FunctionInitializationContext context) throws Exception {
    dropped =
        new DropCounters(
            getRuntimeContext().getMetricGroup(), context.getOperatorStateStore(), Reason.LATE);
  }

  @Override
  public void snapshotState(final FunctionSnapshotContext context) throws Exception {
    dropped.snapshot();
  }

  @Override
  public void processElement(
      final PricedOrder order, final Context context, final Collector<Void> out) {
    dropped.increment(Reason.LATE);
  }
}
