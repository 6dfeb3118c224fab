// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import org.apache.kafka.connect.data.Schema;

/**
 * Bounded cache of the schemas of a task's recent records, compared by identity: Connect's equals
 * visits every field. Not thread-safe; allocates nothing for known schemas.
 */
final class SeenSchemas {
  private static final int CAPACITY = 64;

  /** Consecutive new schemas after which additions are limited to one per interval. */
  private static final int BURST = 256;

  private static final long INTERVAL_NANOS = 100_000_000;

  private final String[] topics = new String[CAPACITY];
  private final Schema[] keys = new Schema[CAPACITY];
  private final Schema[] values = new Schema[CAPACITY];
  private int next;
  private int size;
  private int misses;
  private long lastMiss;

  boolean contains(final String topic, final Schema key, final Schema value) {
    for (int at = 0; at < size; at++) {
      if (values[at] == value && keys[at] == key && topic.equals(topics[at])) {
        return true;
      }
    }
    return false;
  }

  /**
   * Add schemas unless the rate limit is exceeded. A connector that creates a schema for each
   * record is limited to one per 100 ms; rejected ones count as not seen, so that the last of them
   * is not lost.
   *
   * @param now in nanoseconds
   * @return whether they were added
   */
  boolean add(final String topic, final Schema key, final Schema value, final long now) {
    if (misses >= BURST && now - lastMiss < INTERVAL_NANOS) {
      return false;
    }
    misses = now - lastMiss > BURST * INTERVAL_NANOS ? 0 : Math.min(misses + 1, BURST);
    lastMiss = now;
    topics[next] = topic;
    keys[next] = key;
    values[next] = value;
    next = (next + 1) % CAPACITY;
    size = Math.max(size, next == 0 ? CAPACITY : next);
    return true;
  }
}
