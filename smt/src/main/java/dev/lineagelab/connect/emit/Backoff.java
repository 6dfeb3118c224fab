// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.emit;

import dev.lineagelab.connect.settings.QueueSettings;

/** How long to wait before an attempt is repeated. */
final class Backoff {
  private static final int MAX_DOUBLINGS = 30;

  private Backoff() {}

  /**
   * Milliseconds before the next attempt.
   *
   * @param failures in a row so far, at least 1
   * @param random from 0 to 1: workers that failed together shall not come back together
   */
  static long delayMs(final QueueSettings settings, final int failures, final double random) {
    final double doubled =
        settings.backoff().toMillis() * Math.pow(2, Math.min(failures - 1, MAX_DOUBLINGS));
    final double bounded = Math.min(doubled, settings.maxBackoff().toMillis());
    return Math.max(1, (long) (bounded * (0.5 + random / 2)));
  }
}
