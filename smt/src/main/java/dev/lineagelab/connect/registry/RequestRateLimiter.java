// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongSupplier;

/** Limits requests in any sliding window of one minute. Used by one thread. */
final class RequestRateLimiter {
  private static final long WINDOW = Duration.ofMinutes(1).toNanos();

  private final int perMinute;
  private final LongSupplier nanos;
  private final Deque<Long> taken = new ArrayDeque<>();

  RequestRateLimiter(final int perMinute, final LongSupplier nanos) {
    this.perMinute = perMinute;
    this.nanos = nanos;
  }

  /**
   * Acquire one request if the limit permits it.
   *
   * @return zero if acquired; otherwise the time until the next attempt
   */
  Duration tryAcquire() {
    final long now = nanos.getAsLong();
    while (!taken.isEmpty() && now - taken.peekFirst() >= WINDOW) {
      taken.removeFirst();
    }
    if (taken.size() >= perMinute) {
      return Duration.ofNanos(WINDOW - (now - taken.peekFirst()));
    }
    taken.addLast(now);
    return Duration.ZERO;
  }
}
