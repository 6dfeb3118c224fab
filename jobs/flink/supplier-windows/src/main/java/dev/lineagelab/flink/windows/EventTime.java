// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.time.Duration;
import org.apache.flink.api.common.eventtime.SerializableTimestampAssigner;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;

/**
 * When an order was placed: its {@code bid_time}.
 *
 * <p>One order from the year 2099 would move the watermark there, and make all others late for
 * ever. So an order that claims to be placed long after its record was written has no time.
 */
final class EventTime implements SerializableTimestampAssigner<GenericRecord> {
  /** Of an order that has no time. It moves no watermark. */
  static final long NONE = Long.MIN_VALUE;

  private static final long serialVersionUID = 1L;

  private final long toleranceMs;

  /**
   * Times of orders.
   *
   * @param tolerance by how much the clocks of whoever places orders may be ahead
   */
  EventTime(final Duration tolerance) {
    this.toleranceMs = tolerance.toMillis();
  }

  /**
   * The time in milliseconds since the epoch.
   *
   * @param recordTimestamp of the record, {@link #NONE} where it has none: then any time will do
   */
  @Override
  public long extractTimestamp(final GenericRecord order, final long recordTimestamp) {
    final Object bidTime = order.get(Schemas.BID_TIME);
    if (bidTime == null) {
      return NONE;
    }
    final long time = (Long) bidTime;
    return recordTimestamp != NONE && time - toleranceMs > recordTimestamp ? NONE : time;
  }
}
