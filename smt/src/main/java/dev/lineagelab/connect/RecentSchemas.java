// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect;

import org.apache.kafka.connect.data.Schema;

/**
 * The four most recent combinations of topic, key schema and value schema.
 *
 * <p>They are compared by identity, which suffices in a running connector, as clients and
 * converters reuse the same objects; Connect's equals would cost more than the rest of a chain. Not
 * thread-safe; allocates only when constructed.
 */
final class RecentSchemas {
  private Entry first = new Entry();
  private Entry second = new Entry();
  private Entry third = new Entry();
  private Entry fourth = new Entry();

  private static final class Entry {
    private String topic;
    private Schema key;
    private Schema value;

    private boolean is(final String otherTopic, final Schema otherKey, final Schema otherValue) {
      return topic == otherTopic && value == otherValue && key == otherKey;
    }

    private void removeOther(final String newTopic, final Schema newValue) {
      if (value != null && value != newValue && newTopic.equals(topic)) {
        topic = null;
        value = null;
      }
    }
  }

  /** Return whether the combination is among them. Key and value schema may be null. */
  boolean contains(final String topic, final Schema key, final Schema value) {
    return first.is(topic, key, value)
        || second.is(topic, key, value)
        || third.is(topic, key, value)
        || fourth.is(topic, key, value);
  }

  /** Remove combinations of a topic with another value schema, so that its return is observed. */
  void removeOthers(final String topic, final Schema value) {
    first.removeOther(topic, value);
    second.removeOther(topic, value);
    third.removeOther(topic, value);
    fourth.removeOther(topic, value);
  }

  /** Add a combination that is not among them; evict the oldest. */
  void add(final String topic, final Schema key, final Schema value) {
    final Entry oldest = fourth;
    fourth = third;
    third = second;
    second = first;
    first = oldest;
    oldest.topic = topic;
    oldest.key = key;
    oldest.value = value;
  }
}
