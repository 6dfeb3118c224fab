// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.util.List;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.util.OutputTag;

/**
 * Orders in, totals of each supplier and window out.
 *
 * <p>Each operator has an id of its own: state is found by it, also after the job has changed.
 */
public final class SupplierWindowsJob {
  private static final OutputTag<PricedOrder> LATE =
      new OutputTag<>("late", Types.POJO(PricedOrder.class));

  private final Source<GenericRecord, ?, ?> orders;
  private final Sink<SupplierWindow> windows;
  private final Windowing windowing;

  /**
   * The job between two ends.
   *
   * @param orders Avro records of {@link Schemas#ORDER}, with the time of the record they came in
   * @param windows takes the totals
   * @param windowing how long windows are, and how late orders may be
   */
  SupplierWindowsJob(
      final Source<GenericRecord, ?, ?> orders,
      final Sink<SupplierWindow> windows,
      final Windowing windowing) {
    this.orders = orders;
    this.windows = windows;
    this.windowing = windowing;
  }

  /**
   * Runs the job: the options are those of {@link Settings}.
   *
   * @throws IllegalArgumentException an option is missing, unknown or wrong
   * @throws Exception the job could not be started
   */
  public static void main(final String[] args) throws Exception {
    final Settings settings = Settings.parse(List.of(args));
    final StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment();
    if (!environment.getCheckpointConfig().isCheckpointingEnabled()) {
      throw new IllegalArgumentException(
          "Starting "
              + settings.name()
              + " without checkpoints: what it writes becomes visible with them, so never. Set"
              + " execution.checkpointing.interval in Flink's configuration.");
    }
    new SupplierWindowsJob(
            KafkaTopics.orders(settings), KafkaTopics.windows(settings), settings.windowing())
        .addTo(environment);
    environment.execute(settings.name());
  }

  void addTo(final StreamExecutionEnvironment environment) {
    // No operator of the job keeps or changes what it was given, so nothing has to be copied.
    environment.getConfig().enableObjectReuse();
    final SingleOutputStreamOperator<SupplierWindow> totals =
        soundOrders(environment)
            .keyBy(PricedOrder::supplier, Types.STRING)
            .window(TumblingEventTimeWindows.of(windowing.size()))
            .allowedLateness(windowing.allowedLateness())
            .sideOutputLateData(LATE)
            .aggregate(
                new SumOfPrices(),
                new NameWindow(),
                Types.POJO(Totals.class),
                Types.POJO(Totals.class),
                Types.POJO(SupplierWindow.class))
            .uid("windows")
            .name("windows of each supplier");
    totals
        .getSideOutput(LATE)
        .process(new LateOrders())
        .returns(Types.VOID)
        .uid("late")
        .name("late orders");
    totals.sinkTo(windows).uid("sink").name("totals");
  }

  private DataStream<PricedOrder> soundOrders(final StreamExecutionEnvironment environment) {
    final WatermarkStrategy<GenericRecord> watermarks =
        WatermarkStrategy.<GenericRecord>forBoundedOutOfOrderness(windowing.outOfOrderness())
            .withTimestampAssigner(new EventTime(windowing.ahead()))
            .withIdleness(windowing.idleness());
    return environment
        .fromSource(orders, watermarks, "orders", AvroOrders.TYPE)
        .uid("orders")
        .process(new SoundOrders(windowing))
        .returns(Types.POJO(PricedOrder.class))
        .uid("sound")
        .name("sound orders");
  }
}
