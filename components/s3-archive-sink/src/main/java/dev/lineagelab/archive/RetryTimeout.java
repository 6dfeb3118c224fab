// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.time.Clock;
import org.apache.kafka.connect.errors.ConnectException;

/** Time limit for consecutive failures of the store. */
final class RetryTimeout {
  private static final long NONE = -1;

  private final Clock clock;
  private final long timeoutMs;
  private long firstFailureAt = NONE;

  /**
   * Start without failures.
   *
   * @param timeoutMs milliseconds; -1 for no limit
   */
  RetryTimeout(final Clock clock, final long timeoutMs) {
    this.clock = clock;
    this.timeoutMs = timeoutMs;
  }

  /**
   * Record a failure.
   *
   * @throws ConnectException if the first of the consecutive failures is older than the limit
   */
  void onFailure(final StoreUnavailableException cause) {
    final long now = clock.millis();
    if (firstFailureAt == NONE) {
      firstFailureAt = now;
    }
    if (timeoutMs >= 0 && now - firstFailureAt >= timeoutMs) {
      throw new ConnectException(
          "%s Gave up after %d ms (%s). No record is lost: fix the cause, then restart the task."
              .formatted(cause.getMessage(), now - firstFailureAt, ArchiveConfig.RETRY_TIMEOUT_MS),
          cause);
    }
  }

  void onSuccess() {
    firstFailureAt = NONE;
  }
}
