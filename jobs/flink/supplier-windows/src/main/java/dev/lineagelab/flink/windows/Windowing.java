// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.io.Serializable;
import java.time.Duration;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;

/**
 * How orders go into windows.
 *
 * @param size of a window
 * @param outOfOrderness how much older than its predecessors an order of a partition may be and
 *     still be on time
 * @param idleness after which a partition without orders no longer holds up the others
 * @param allowedLateness for how long after its end a window still takes orders, and is told again
 * @param ahead how long after its record an order may claim to be placed
 */
record Windowing(
    Duration size,
    Duration outOfOrderness,
    Duration idleness,
    Duration allowedLateness,
    Duration ahead)
    implements Serializable {

  /** Whether the window of a time takes no more orders at a watermark, as Flink decides it. */
  boolean isGone(final long time, final long watermark) {
    final long start = TimeWindow.getWindowStartWithOffset(time, 0, size.toMillis());
    final TimeWindow window = new TimeWindow(start, start + size.toMillis());
    return window.maxTimestamp() + allowedLateness.toMillis() <= watermark;
  }
}
