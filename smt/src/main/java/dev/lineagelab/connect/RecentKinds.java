// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect;

import org.apache.kafka.connect.data.Schema;

/**
 * The kinds of record that came last: a kind is a topic with a schema of keys and one of values.
 *
 * <p>They are compared by identity, which in a running connector is enough: client and converter
 * hand out the same objects again and again. To compare what they hold would cost more than all the
 * rest of a chain. Four are as many as cost next to nothing to go through. Used by one thread;
 * allocates nothing after it is made.
 */
final class RecentKinds {
  private Kind first = new Kind();
  private Kind second = new Kind();
  private Kind third = new Kind();
  private Kind fourth = new Kind();

  private static final class Kind {
    private String topic;
    private Schema key;
    private Schema value;

    private boolean is(final String otherTopic, final Schema otherKey, final Schema otherValue) {
      return topic == otherTopic && value == otherValue && key == otherKey;
    }
  }

  /** Whether it is one of them. Keys and values may have no schema (null). */
  boolean contains(final String topic, final Schema key, final Schema value) {
    return first.is(topic, key, value)
        || second.is(topic, key, value)
        || third.is(topic, key, value)
        || fourth.is(topic, key, value);
  }

  /** Takes one in that is not there, for the one that was taken in first. */
  void add(final String topic, final Schema key, final Schema value) {
    final Kind oldest = fourth;
    fourth = third;
    third = second;
    second = first;
    first = oldest;
    oldest.topic = topic;
    oldest.key = key;
    oldest.value = value;
  }
}
