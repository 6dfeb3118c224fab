// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

/**
 * Conditions that close a chunk.
 *
 * @param flushSize maximum number of records per object
 * @param scheduleMs interval in milliseconds; a chunk is closed when the clock passes a multiple of
 *     it; -1 for never
 */
record RotationPolicy(int flushSize, long scheduleMs) {

  /** Return true if the chunk has reached a limit on records, objects or offset ranges. */
  boolean isComplete(final OpenChunk chunk) {
    return chunk.largestObject() >= flushSize || chunk.isFull();
  }

  /** Return the time by which a chunk opened at a given time is closed; epoch milliseconds. */
  long deadline(final long openedAt) {
    return scheduleMs <= 0 ? Long.MAX_VALUE : (openedAt / scheduleMs + 1) * scheduleMs;
  }
}
