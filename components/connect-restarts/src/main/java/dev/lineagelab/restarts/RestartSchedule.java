// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.restarts;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Times at which failed parts are restarted: {@link #FIRST_DELAY} after the failure, and twice as
 * long after each further one, up to {@link #LONGEST_DELAY}.
 *
 * <p>A part that has not failed for {@link #LONGEST_DELAY} after its last restart begins with
 * {@link #FIRST_DELAY} again. Not thread-safe.
 */
final class RestartSchedule {
  static final Duration FIRST_DELAY = Duration.ofSeconds(10);
  static final Duration LONGEST_DELAY = Duration.ofMinutes(5);

  private final Map<String, Attempts> parts = new HashMap<>();

  /**
   * Return the parts to restart now.
   *
   * @param failed paths of all failed parts
   */
  List<String> due(List<String> failed, Instant now) {
    parts.values().removeIf(attempts -> attempts.isOver(now));
    List<String> due = new ArrayList<>();
    for (String part : failed) {
      Attempts attempts = parts.computeIfAbsent(part, ignored -> new Attempts(now));
      if (attempts.takeIfDue(now)) {
        due.add(part);
      }
    }
    parts.forEach(
        (part, attempts) -> {
          if (!failed.contains(part)) {
            attempts.failedAt = null;
          }
        });
    return due;
  }

  private static final class Attempts {
    private Instant failedAt;
    private Instant lastSeen;
    private Duration delay = FIRST_DELAY;

    Attempts(Instant now) {
      failedAt = now;
      lastSeen = now;
    }

    boolean takeIfDue(Instant now) {
      lastSeen = now;
      if (failedAt == null) {
        failedAt = now;
      }
      if (now.isBefore(failedAt.plus(delay))) {
        return false;
      }
      Duration next = delay.multipliedBy(2);
      delay = next.compareTo(LONGEST_DELAY) > 0 ? LONGEST_DELAY : next;
      // If the restart has no effect, the next one is due after the next delay.
      failedAt = now;
      return true;
    }

    boolean isOver(Instant now) {
      return lastSeen.plus(LONGEST_DELAY).isBefore(now);
    }
  }
}
