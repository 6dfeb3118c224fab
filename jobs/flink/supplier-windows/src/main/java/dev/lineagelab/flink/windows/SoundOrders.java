// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import dev.lineagelab.flink.windows.Counts.Reason;
import java.util.OptionalLong;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.TimerService;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.util.Collector;

/**
 * The orders that have a place in a window. The others are counted by the first thing wrong.
 *
 * <p>Flink forgets the watermark when a job is started again, and windows that are gone would begin
 * anew with the first late order. So it is kept here, as part of each checkpoint.
 */
final class SoundOrders extends ProcessFunction<GenericRecord, PricedOrder>
    implements CheckpointedFunction {
  private static final long serialVersionUID = 1L;

  private final Windowing windowing;

  private transient Counts leftOut;
  private transient ListState<Long> saved;

  /** The watermark of the checkpoint that the job was started from. */
  private transient long restored;

  /** Knows the watermark since; null until an order has come. */
  private transient TimerService time;

  SoundOrders(final Windowing windowing) {
    this.windowing = windowing;
  }

  @Override
  public void initializeState(final FunctionInitializationContext context) throws Exception {
    leftOut =
        new Counts(
            getRuntimeContext().getMetricGroup(),
            context.getOperatorStateStore(),
            Reason.NO_TIME,
            Reason.AHEAD_OF_RECORD,
            Reason.NO_SUPPLIER,
            Reason.BAD_PRICE,
            Reason.LATE);
    saved =
        context
            .getOperatorStateStore()
            .getUnionListState(new ListStateDescriptor<>("watermarks", Types.LONG));
    restored = lowest(saved.get());
  }

  @Override
  public void snapshotState(final FunctionSnapshotContext context) throws Exception {
    leftOut.save();
    saved.clear();
    saved.add(time == null ? restored : Math.max(restored, time.currentWatermark()));
  }

  @Override
  public void processElement(
      final GenericRecord order, final Context context, final Collector<PricedOrder> out) {
    time = context.timerService();
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
    if (windowing.isGone(context.timestamp(), restored)) {
      leftOut.add(Reason.LATE);
      return;
    }
    out.collect(new PricedOrder(supplier.toString(), cents.getAsLong()));
  }

  /** What all of the readers had passed: the windows had come no further. */
  private static long lowest(final Iterable<Long> watermarks) {
    long lowest = Long.MAX_VALUE;
    for (final long watermark : watermarks) {
      lowest = Math.min(lowest, watermark);
    }
    return lowest == Long.MAX_VALUE ? Long.MIN_VALUE : lowest;
  }
}
