// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

/**
 * Records that passed through the tasks of a connector.
 *
 * @param read taken from the input
 * @param written delivered to the output
 * @param failed that could not be processed
 * @param skipped left out after a failure
 */
public record Counts(long read, long written, long failed, long skipped) {
  /** None. */
  public static final Counts NONE = new Counts(0, 0, 0, 0);

  /** Those of both. */
  public Counts plus(final Counts other) {
    return new Counts(
        read + other.read, written + other.written, failed + other.failed, skipped + other.skipped);
  }

  /** Those since {@code earlier}. */
  public Counts since(final Counts earlier) {
    return new Counts(
        Math.max(0, read - earlier.read),
        Math.max(0, written - earlier.written),
        Math.max(0, failed - earlier.failed),
        Math.max(0, skipped - earlier.skipped));
  }
}
