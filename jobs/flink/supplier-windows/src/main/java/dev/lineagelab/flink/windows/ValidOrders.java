// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import dev.lineagelab.flink.windows.DropCounters.Reason;
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
 * Filter of valid orders. Drops the others and counts them by the first violated rule.
 *
 * <p>Flink does not checkpoint the watermark: after a restart, a late order would reopen a window
 * that has already expired. Therefore this operator keeps the watermark in its state.
 */
final class ValidOrders extends ProcessFunction<GenericRecord, PricedOrder>
    implements CheckpointedFunction {
  private static final long serialVersionUID = 1L;

  private final Windowing windowing;

  private transient DropCounters dropped;
  private transient ListState<Long> saved;

  /** Watermark of the checkpoint from which the job was restored. */
  private transient long restored;

  /** Source of the current watermark; null until the first order. */
  private transient TimerService timers;

  ValidOrders(final Windowing windowing) {
    this.windowing = windowing;
  }

  @Override
  public void initializeState(final FunctionInitializationContext context) throws Exception {
    dropped =
        new DropCounters(
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
    restored = minimum(saved.get());
  }

  @Override
  public void snapshotState(final FunctionSnapshotContext context) throws Exception {
    dropped.snapshot();
    saved.clear();
    saved.add(timers == null ? restored : Math.max(restored, timers.currentWatermark()));
  }

  @Override
  public void processElement(
      final GenericRecord order, final Context context, final Collector<PricedOrder> out) {
    timers = context.timerService();
    if (context.timestamp() == EventTime.NONE) {
      dropped.increment(
          order.get(Schemas.BID_TIME) == null ? Reason.NO_TIME : Reason.AHEAD_OF_RECORD);
      return;
    }
    final CharSequence supplier = (CharSequence) order.get(Schemas.SUPPLIER);
    if (supplier == null || supplier.isEmpty()) {
      dropped.increment(Reason.NO_SUPPLIER);
      return;
    }
    final OptionalLong cents = Price.cents((CharSequence) order.get(Schemas.PRICE));
    if (cents.isEmpty()) {
      dropped.increment(Reason.BAD_PRICE);
      return;
    }
    if (windowing.isExpired(context.timestamp(), restored)) {
      dropped.increment(Reason.LATE);
      return;
    }
    out.collect(new PricedOrder(supplier.toString(), cents.getAsLong()));
  }

  /** Returns the minimum over the readers, which is the watermark that the windows had reached. */
  private static long minimum(final Iterable<Long> watermarks) {
    long minimum = Long.MAX_VALUE;
    for (final long watermark : watermarks) {
      minimum = Math.min(minimum, watermark);
    }
    return minimum == Long.MAX_VALUE ? Long.MIN_VALUE : minimum;
  }
}
