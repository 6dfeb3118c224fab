// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.time.Duration;
import org.apache.flink.api.common.eventtime.SerializableTimestampAssigner;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;

/**
 * Timestamp assigner: the event time of an order is its {@code bid_time}.
 *
 * <p>A single order with a time in the far future would advance the watermark and make all later
 * orders late. Therefore an order whose time is more than a tolerance ahead of its record's
 * timestamp gets no event time.
 */
final class EventTime implements SerializableTimestampAssigner<GenericRecord> {
  /** Timestamp of an order without event time. It does not advance the watermark. */
  static final long NONE = Long.MIN_VALUE;

  private static final long serialVersionUID = 1L;

  private final long toleranceMs;

  /**
   * Creates an assigner.
   *
   * @param tolerance how far the clocks of the order's producers may be ahead
   */
  EventTime(final Duration tolerance) {
    this.toleranceMs = tolerance.toMillis();
  }

  /**
   * Returns the event time in milliseconds since the epoch, or {@link #NONE}.
   *
   * @param recordTimestamp timestamp of the record; if {@link #NONE}, any event time is accepted
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
