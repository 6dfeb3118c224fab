// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.metrics;

/**
 * Records that a connector's tasks have processed.
 *
 * @param read from Kafka by a sink, from the external system by a source
 * @param written to Kafka by a source; for a sink, passed to its task
 * @param failed those on which an operation failed
 * @param skipped failed ones that the error tolerance dropped
 */
public record RecordCounts(long read, long written, long failed, long skipped) {
  /** No records. */
  public static final RecordCounts NONE = new RecordCounts(0, 0, 0, 0);

  /** Sum of two counts. */
  public RecordCounts plus(final RecordCounts other) {
    return new RecordCounts(
        read + other.read, written + other.written, failed + other.failed, skipped + other.skipped);
  }

  /** Increase since an earlier count; never negative. */
  public RecordCounts since(final RecordCounts earlier) {
    return new RecordCounts(
        Math.max(0, read - earlier.read),
        Math.max(0, written - earlier.written),
        Math.max(0, failed - earlier.failed),
        Math.max(0, skipped - earlier.skipped));
  }
}
