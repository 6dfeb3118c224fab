// SPDX-License-Identifier: Apache-2.0
/**
 * Counts and sums up the orders of each supplier in windows of time.
 *
 * <p>A window is told when the time of the orders has passed its end, and once more for each order
 * that comes after that but within the allowed lateness. All records of a window have the same key,
 * so that the last of them is what a compacted topic keeps, and what a reader should believe.
 *
 * <p>An order that has no place in a window (its price is no number, say) is left out and counted.
 * The counts are part of the job's state: after a restart they go on where the checkpoint was.
 */
package dev.lineagelab.flink.windows;
