// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import dev.lineagelab.flink.windows.Counts.Reason;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/** Counts the orders that came when their window was gone, and drops them. */
final class LateOrders extends ProcessFunction<PricedOrder, Void> implements CheckpointedFunction {
  private static final long serialVersionUID = 1L;

  private transient Counts leftOut;

  @Override
  public void initializeState(final FunctionInitializationContext context) throws Exception {
    leftOut =
        new Counts(
            getRuntimeContext().getMetricGroup(), context.getOperatorStateStore(), Reason.LATE);
  }

  @Override
  public void snapshotState(final FunctionSnapshotContext context) throws Exception {
    leftOut.save();
  }

  @Override
  public void processElement(
      final PricedOrder order, final Context context, final Collector<Void> out) {
    leftOut.add(Reason.LATE);
  }
}
