// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import org.apache.kafka.connect.data.Schema;

/**
 * The schemas that a task's records had lately, by identity: Connect's own comparison of schemas
 * goes into every field. Used by one thread; allocates nothing but for what is new.
 */
final class SeenSchemas {
  private static final int CAPACITY = 64;

  /** After so many, a connector is taken for one that makes a new schema for each record. */
  private static final int BURST = 256;

  private static final long PAUSE_NANOS = 100_000_000;

  private final String[] topics = new String[CAPACITY];
  private final Schema[] keys = new Schema[CAPACITY];
  private final Schema[] values = new Schema[CAPACITY];
  private int next;
  private int size;
  private int misses;
  private long lastMiss;

  /** Whether it was there lately. */
  boolean contains(final String topic, final Schema key, final Schema value) {
    for (int at = 0; at < size; at++) {
      if (values[at] == value && keys[at] == key && topic.equals(topics[at])) {
        return true;
      }
    }
    return false;
  }

  /**
   * Takes it in, unless there is too much that is new: then one is taken every 100 ms, and the
   * others count as not seen, so that the last of them is not lost.
   *
   * @param now in nanoseconds
   */
  boolean add(final String topic, final Schema key, final Schema value, final long now) {
    if (misses >= BURST && now - lastMiss < PAUSE_NANOS) {
      return false;
    }
    misses = now - lastMiss > BURST * PAUSE_NANOS ? 0 : Math.min(misses + 1, BURST);
    lastMiss = now;
    topics[next] = topic;
    keys[next] = key;
    values[next] = value;
    next = (next + 1) % CAPACITY;
    size = Math.max(size, next == 0 ? CAPACITY : next);
    return true;
  }
}
