// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import java.time.Duration;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;

/** Lets something be asked for again and again, for a while. */
final class Deadline {
  private static final long PAUSE_MS = 100;

  private final long until;

  Deadline(final Duration wait) {
    this.until = System.nanoTime() + wait.toNanos();
  }

  /**
   * Waits before the next try.
   *
   * @param problem for which it is too late then
   * @throws TimeoutException the time is over
   */
  void pause(final String problem) {
    if (System.nanoTime() > until) {
      throw new TimeoutException(problem);
    }
    try {
      Thread.sleep(PAUSE_MS);
    } catch (final InterruptedException e) {
      throw new InterruptException(e);
    }
  }
}
