// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.connect.data.Schema;

/**
 * Detects topics whose records alternate between value schemas. A schema that evolves is replaced;
 * one that occurs again after another belongs to the topic beside it. Not thread-safe.
 */
final class AlternatingSchemas {
  /** Limit for connectors that create topics or schemas without end; further ones replace. */
  private static final int MAX_TOPICS = 10_000;

  private static final int MAX_SCHEMAS = 16;

  private final Map<String, Schema> latest = new HashMap<>();
  private final Map<String, Set<Schema>> alternating = new HashMap<>();
  private boolean isReplacement;

  /**
   * Add the schema of a record.
   *
   * @param value null for a tombstone
   * @param isKnown whether it occurred before
   * @return whether it is known and has returned after another schema, for the first time
   */
  boolean isReturn(final String topic, final Schema value, final boolean isKnown) {
    isReplacement = false;
    if (value == null || latest.size() >= MAX_TOPICS && !latest.containsKey(topic)) {
      return false;
    }
    final Schema previous = latest.put(topic, value);
    isReplacement = previous != null && previous != value;
    if (!isKnown || !isReplacement) {
      return false;
    }
    final Set<Schema> returned =
        alternating.computeIfAbsent(
            topic, name -> Collections.newSetFromMap(new IdentityHashMap<>()));
    return returned.size() < MAX_SCHEMAS && returned.add(value);
  }

  /** Return whether the last schema differs from the one before in its topic. */
  boolean isReplacement() {
    return isReplacement;
  }

  boolean isAlternating(final String topic) {
    return alternating.containsKey(topic);
  }
}
