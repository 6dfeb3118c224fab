// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.time.Clock;
import org.apache.kafka.connect.errors.ConnectException;

/** How long the store has not been doing what it is asked for, and how long that is borne. */
final class Outage {
  private final Clock clock;
  private final long timeoutMs;
  private long since = -1;

  /**
   * None so far.
   *
   * @param timeoutMs milliseconds; -1 for ever
   */
  Outage(final Clock clock, final long timeoutMs) {
    this.clock = clock;
    this.timeoutMs = timeoutMs;
  }

  /**
   * Counts a failure.
   *
   * @throws ConnectException it has lasted too long
   */
  void failed(final StoreUnavailableException cause) {
    final long now = clock.millis();
    if (since < 0) {
      since = now;
    }
    if (timeoutMs >= 0 && now - since >= timeoutMs) {
      throw new ConnectException(
          cause.getMessage()
              + " Given up after "
              + (now - since)
              + " ms ("
              + Options.RETRY_TIMEOUT_MS
              + "); nothing is lost: restart the task when that is mended.",
          cause);
    }
  }

  void ended() {
    since = -1;
  }
}
