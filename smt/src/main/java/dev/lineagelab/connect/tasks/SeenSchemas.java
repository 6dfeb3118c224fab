// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import org.apache.kafka.connect.data.Schema;

/**
 * Bounded hash table of the topics and schemas of a task's records. Schemas are compared by
 * identity, as clients and converters reuse them and Connect's equals visits every field; topics by
 * content, as some sources create the name for each record. Not thread-safe; a look-up allocates
 * nothing.
 */
final class SeenSchemas {
  /** Maximum number of kinds; one more empties the table. */
  static final int MAX_KINDS = 4096;

  /** Additions that may follow each other at once. */
  static final int BURST = 2048;

  /** Time per addition once a burst is used up. */
  private static final long INTERVAL_NANOS = 100_000_000;

  private static final int INITIAL_SLOTS = 128;

  /** Golden ratio, which spreads hashes over the upper bits. */
  private static final int SPREAD = 0x9E3779B9;

  private static final class Kind {
    private final String topic;
    private final Schema key;
    private final Schema value;

    private Kind(final String topic, final Schema key, final Schema value) {
      this.topic = topic;
      this.key = key;
      this.value = value;
    }

    private boolean is(final String otherTopic, final Schema otherKey, final Schema otherValue) {
      return value == otherValue
          && key == otherKey
          && (topic == otherTopic || topic.equals(otherTopic));
    }
  }

  private Kind[] slots = new Kind[INITIAL_SLOTS];
  private int shift = Integer.SIZE - Integer.numberOfTrailingZeros(INITIAL_SLOTS);
  private Kind last;
  private int size;
  private double permits = BURST;
  private long lastAddition;

  /** Return whether the topic and schemas were added before. Key and value schema may be null. */
  boolean contains(final String topic, final Schema key, final Schema value) {
    final Kind recent = last;
    return recent != null && recent.is(topic, key, value) || isInTable(topic, key, value);
  }

  private boolean isInTable(final String topic, final Schema key, final Schema value) {
    final Kind[] table = slots;
    final int mask = table.length - 1;
    int at = hash(topic, key, value) >>> shift;
    for (Kind kind = table[at]; kind != null; kind = table[at]) {
      if (kind.is(topic, key, value)) {
        last = kind;
        return true;
      }
      at = at + 1 & mask;
    }
    return false;
  }

  /**
   * Hash of the schemas' identities and of a few characters of the topic: the hash of a whole new
   * string costs more than the rest of a look-up.
   */
  private static int hash(final String topic, final Schema key, final Schema value) {
    int hash = System.identityHashCode(value) * 31 + System.identityHashCode(key);
    final int length = topic.length();
    hash = hash * 31 + length;
    for (int at = Math.max(0, length - 4); at < length; at++) {
      hash = hash * 31 + topic.charAt(at);
    }
    if (length > 8) {
      hash = hash * 31 + topic.charAt(length >> 1);
    }
    return hash * SPREAD;
  }

  /**
   * Add a topic and schemas unless the rate limit is exceeded: a connector that creates a schema
   * for each record is limited to one per 100 ms after a burst. Rejected ones count as not seen, so
   * that the last of them is not lost.
   *
   * @param now in nanoseconds
   * @return whether they were added
   */
  boolean add(final String topic, final Schema key, final Schema value, final long now) {
    permits = Math.min(BURST, permits + (double) Math.max(0, now - lastAddition) / INTERVAL_NANOS);
    lastAddition = now;
    if (permits < 1) {
      return false;
    }
    permits--;
    if (size == MAX_KINDS) {
      slots = new Kind[slots.length];
      size = 0;
    } else if (size * 2 >= slots.length) {
      grow();
    }
    last = new Kind(topic, key, value);
    put(last);
    size++;
    return true;
  }

  /** Return whether additions are rare enough to be processed at once. */
  boolean isWithinBurst() {
    return permits >= 1;
  }

  private void grow() {
    final Kind[] before = slots;
    slots = new Kind[before.length * 2];
    shift--;
    for (final Kind kind : before) {
      if (kind != null) {
        put(kind);
      }
    }
  }

  private void put(final Kind kind) {
    final int mask = slots.length - 1;
    int at = hash(kind.topic, kind.key, kind.value) >>> shift;
    while (slots[at] != null) {
      at = at + 1 & mask;
    }
    slots[at] = kind;
  }
}
