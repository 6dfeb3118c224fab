// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import java.time.Duration;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;

/** Deadline of a retry loop. */
final class Deadline {
  private static final long PAUSE_MS = 100;

  private final long nanoTime;

  Deadline(final Duration timeout) {
    this.nanoTime = System.nanoTime() + timeout.toNanos();
  }

  /**
   * Wait before the next attempt.
   *
   * @param problem message of the exception once the deadline has passed
   * @throws TimeoutException the deadline has passed
   */
  void pause(final String problem) {
    if (System.nanoTime() > nanoTime) {
      throw new TimeoutException(problem);
    }
    try {
      Thread.sleep(PAUSE_MS);
    } catch (final InterruptedException e) {
      throw new InterruptException(e);
    }
  }
}
