// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.io.Serializable;
import java.time.Duration;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;

/**
 * Window parameters.
 *
 * @param size window size
 * @param outOfOrderness bound of the watermark: how much older than the newest order of its
 *     partition an order may be without being late
 * @param idleness timeout after which a partition without orders no longer holds back the watermark
 * @param allowedLateness how long after its end a window still accepts late orders; each of them
 *     re-emits the window
 * @param ahead how far an order's time may be ahead of its record's timestamp
 */
record Windowing(
    Duration size,
    Duration outOfOrderness,
    Duration idleness,
    Duration allowedLateness,
    Duration ahead)
    implements Serializable {

  /**
   * Returns whether the window of a timestamp has expired at a watermark, by the same rule as
   * Flink's window operator.
   */
  boolean isExpired(final long time, final long watermark) {
    final long start = TimeWindow.getWindowStartWithOffset(time, 0, size.toMillis());
    final TimeWindow window = new TimeWindow(start, start + size.toMillis());
    return window.maxTimestamp() + allowedLateness.toMillis() <= watermark;
  }
}
