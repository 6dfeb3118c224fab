// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect;

import java.util.Arrays;
import org.apache.kafka.connect.data.Schema;

/**
 * Combinations of topic, key schema and value schema that need not be observed again: a
 * direct-mapped cache, in which a combination replaces the one in its slot.
 *
 * <p>Schemas are compared by identity, as clients and converters reuse the same objects; Connect's
 * equals would cost more than the rest of a chain. Topics are compared by content, as some sources
 * create the name for each record. Not thread-safe; allocates only when constructed.
 */
final class KnownSchemas {
  /** Number of slots, a power of two: few of 65 combinations share one. */
  static final int SLOTS = 2048;

  private final String[] topics = new String[SLOTS];
  private final Schema[] keys = new Schema[SLOTS];
  private final Schema[] values = new Schema[SLOTS];

  /** Return whether the combination is in the cache. Key and value schema may be null. */
  boolean contains(final String topic, final Schema key, final Schema value) {
    if (topic == null) {
      return false;
    }
    final int slot = slot(topic, value);
    final String known = topics[slot];
    return values[slot] == value && keys[slot] == key && (known == topic || topic.equals(known));
  }

  /** Add a combination. */
  void add(final String topic, final Schema key, final Schema value) {
    final int slot = slot(topic, value);
    topics[slot] = topic;
    keys[slot] = key;
    values[slot] = value;
  }

  void clear() {
    Arrays.fill(topics, null);
    Arrays.fill(keys, null);
    Arrays.fill(values, null);
  }

  /** The hash of a schema's identity is stored in its header, that of a topic in the string. */
  private static int slot(final String topic, final Schema value) {
    final int hash = value == null ? topic.hashCode() : System.identityHashCode(value);
    return (hash ^ hash >>> 11) & SLOTS - 1;
  }
}
