// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.time.Instant;
import java.time.ZoneId;

/**
 * When a chunk ends.
 *
 * @param flushSize records of one object
 * @param intervalMs milliseconds between the first record of an object and one that does not go
 *     into it any more, by their timestamps; -1 for any
 * @param scheduleMs a chunk ends when the clock passes a multiple of so many milliseconds, counted
 *     from midnight; -1 for never
 * @param zone whose midnight
 */
record RotationPolicy(int flushSize, long intervalMs, long scheduleMs, ZoneId zone) {

  /** Whether the largest object has all the records it may have. */
  boolean isComplete(final OpenChunk chunk) {
    return chunk.largest() >= flushSize || chunk.isFull();
  }

  boolean isTooLate(final long firstTimestamp, final long timestamp) {
    return intervalMs > 0 && timestamp - firstTimestamp >= intervalMs;
  }

  /** When a chunk that was opened at a time ends at the latest; both in epoch milliseconds. */
  long deadline(final long openedAt) {
    if (scheduleMs <= 0) {
      return Long.MAX_VALUE;
    }
    final long midnight =
        Instant.ofEpochMilli(openedAt)
            .atZone(zone)
            .toLocalDate()
            .atStartOfDay(zone)
            .toInstant()
            .toEpochMilli();
    return midnight + ((openedAt - midnight) / scheduleMs + 1) * scheduleMs;
  }
}
