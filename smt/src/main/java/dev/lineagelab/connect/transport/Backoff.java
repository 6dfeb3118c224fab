// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import dev.lineagelab.connect.settings.QueueSettings;

/** Exponential backoff with jitter. */
final class Backoff {
  private static final int MAX_DOUBLINGS = 30;

  private Backoff() {}

  /**
   * Delay before the next attempt, in milliseconds.
   *
   * @param failures consecutive ones so far, at least 1
   * @param random jitter from 0 to 1, so that workers that failed together do not retry together
   */
  static long delayMs(final QueueSettings settings, final int failures, final double random) {
    final double doubled =
        settings.backoff().toMillis() * Math.pow(2, Math.min(failures - 1, MAX_DOUBLINGS));
    final double bounded = Math.min(doubled, settings.maxBackoff().toMillis());
    return Math.max(1, (long) (bounded * (0.5 + random / 2)));
  }
}
