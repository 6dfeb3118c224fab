// SPDX-License-Identifier: Apache-2.0
/**
 * Kafka Connect sink that archives topics in an S3 bucket as JSON lines, exactly once.
 *
 * <p>The records of a topic partition are archived in chunks: consecutive offset ranges without
 * gaps. A chunk becomes one object per hour of its records' timestamps. Before any of its objects
 * is written, an entry in the partition's write-ahead log records where the chunk ends and which
 * offsets go into which object:
 *
 * <pre>
 *   topics/orders/_log/0/9223372036854774807-from-1000.json            log entry
 *   topics/orders/year=2026/month=11/day=21/hour=03/orders+0+0000001000-0000001998.json
 *   topics/orders/year=2026/month=11/day=21/hour=04/orders+0+0000001999-0000001999.json
 * </pre>
 *
 * <p>Exactly-once delivery follows from four rules and a store that supports {@code If-None-Match:
 * *} on writes:
 *
 * <ol>
 *   <li>The key of a log entry is derived from the first offset after the previous chunk, and an
 *       entry is never overwritten. Of all tasks that ever archive a partition (crashed tasks,
 *       their successors, zombies that have not noticed the rebalance) exactly one decides about
 *       each chunk; the others read its decision and follow it.
 *   <li>Objects are written only as a log entry specifies, and are never overwritten.
 *   <li>A log entry is written only after all objects of the previous entry exist. Only objects of
 *       the newest entry can therefore be missing; a task that takes over reads their offsets
 *       again.
 *   <li>The position to resume from is read from the log alone. Offsets are committed to Kafka
 *       after the objects exist, for consumer lag monitoring only.
 * </ol>
 *
 * <p>The number in an entry's key counts down, so that the newest entry is listed first: finding it
 * takes one request, however long the log is. Only the newest entry of a partition is ever read.
 */
package dev.lineagelab.archive;
