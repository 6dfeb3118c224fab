// SPDX-License-Identifier: Apache-2.0
/**
 * Flink job that counts and totals the orders of each supplier in tumbling event-time windows.
 *
 * <p>A window is emitted when the watermark passes its end, and re-emitted for each late order
 * within the allowed lateness. All records of a window have the same key: the last one is the
 * result, and the one that a compacted topic retains.
 *
 * <p>Invalid orders, for example with a price that is not a number, are dropped and counted. The
 * counts are checkpointed state and survive restarts.
 */
package dev.lineagelab.flink.windows;
