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
 * Flink job that aggregates orders per supplier and window.
 *
 * <p>Each operator has an explicit {@code uid}, so that its state is restored after a change of the
 * job graph.
 */
public final class SupplierWindowsJob {
  private static final OutputTag<PricedOrder> LATE =
      new OutputTag<>("late", Types.POJO(PricedOrder.class));

  private final Source<GenericRecord, ?, ?> orders;
  private final Sink<SupplierWindow> windows;
  private final Windowing windowing;

  /**
   * Creates the job between a source and a sink.
   *
   * @param orders source of {@link Schemas#ORDER} records with their Kafka timestamps
   * @param windows sink of the totals
   * @param windowing window parameters
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
   * Runs the job with the options of {@link Settings}.
   *
   * @throws IllegalArgumentException an option is missing, unknown or invalid
   * @throws Exception the job failed to start
   */
  public static void main(final String[] args) throws Exception {
    final Settings settings = Settings.parse(List.of(args));
    final StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment();
    if (!environment.getCheckpointConfig().isCheckpointingEnabled()) {
      throw new IllegalArgumentException(
          "Cannot start "
              + settings.name()
              + " without checkpoints: its Kafka transactions are committed by checkpoints. Set"
              + " execution.checkpointing.interval in Flink's configuration.");
    }
    new SupplierWindowsJob(
            KafkaTopics.orders(settings), KafkaTopics.windows(settings), settings.windowing())
        .addTo(environment);
    environment.execute(settings.name());
  }

  void addTo(final StreamExecutionEnvironment environment) {
    // Safe because no operator stores or mutates its input.
    environment.getConfig().enableObjectReuse();
    final SingleOutputStreamOperator<SupplierWindow> totals =
        validOrders(environment)
            .keyBy(PricedOrder::supplier, Types.STRING)
            .window(TumblingEventTimeWindows.of(windowing.size()))
            .allowedLateness(windowing.allowedLateness())
            .sideOutputLateData(LATE)
            .aggregate(
                new TotalsAggregator(),
                new WindowResult(),
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

  private DataStream<PricedOrder> validOrders(final StreamExecutionEnvironment environment) {
    final WatermarkStrategy<GenericRecord> watermarks =
        WatermarkStrategy.<GenericRecord>forBoundedOutOfOrderness(windowing.outOfOrderness())
            .withTimestampAssigner(new EventTime(windowing.ahead()))
            .withIdleness(windowing.idleness());
    return environment
        .fromSource(orders, watermarks, "orders", AvroOrders.TYPE)
        .uid("orders")
        .process(new ValidOrders(windowing))
        .returns(Types.POJO(PricedOrder.class))
        .uid("sound")
        .name("valid orders");
  }
}
