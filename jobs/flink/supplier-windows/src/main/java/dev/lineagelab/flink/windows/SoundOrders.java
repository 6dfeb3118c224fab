// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import dev.lineagelab.flink.windows.Counts.Reason;
import java.util.OptionalLong;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/** The orders that have a place in a window. The others are counted by the first thing wrong. */
final class SoundOrders extends ProcessFunction<GenericRecord, PricedOrder>
    implements CheckpointedFunction {
  private static final long serialVersionUID = 1L;

  private transient Counts leftOut;

  @Override
  public void initializeState(final FunctionInitializationContext context) throws Exception {
    leftOut =
        new Counts(
            getRuntimeContext().getMetricGroup(),
            context.getOperatorStateStore(),
            Reason.NO_TIME,
            Reason.AHEAD_OF_RECORD,
            Reason.NO_SUPPLIER,
            Reason.BAD_PRICE);
  }

  @Override
  public void snapshotState(final FunctionSnapshotContext context) throws Exception {
    leftOut.save();
  }

  @Override
  public void processElement(
      final GenericRecord order, final Context context, final Collector<PricedOrder> out) {
    if (context.timestamp() == EventTime.NONE) {
      leftOut.add(order.get(Schemas.BID_TIME) == null ? Reason.NO_TIME : Reason.AHEAD_OF_RECORD);
      return;
    }
    final CharSequence supplier = (CharSequence) order.get(Schemas.SUPPLIER);
    if (supplier == null || supplier.isEmpty()) {
      leftOut.add(Reason.NO_SUPPLIER);
      return;
    }
    final OptionalLong cents = Price.cents((CharSequence) order.get(Schemas.PRICE));
    if (cents.isEmpty()) {
      leftOut.add(Reason.BAD_PRICE);
      return;
    }
    out.collect(new PricedOrder(supplier.toString(), cents.getAsLong()));
  }
}
