// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.util.regex.Pattern;

/** The topic of a record at some place of the chain. */
public sealed interface TopicName {
  /** Always this one. */
  record Known(String name) implements TopicName {}

  /**
   * One that holds the record's time.
   *
   * @param regex what all such names match
   */
  record Timestamped(String regex) implements TopicName {}

  /** It cannot be told. */
  record Unknown(String reason) implements TopicName {}

  /** Whether a topic can be meant. */
  default boolean canBe(final String topic) {
    if (this instanceof final Known known) {
      return known.name.equals(topic);
    }
    try {
      return this instanceof final Timestamped timed
          && new BoundedRegex(Pattern.compile(timed.regex, Pattern.DOTALL)).matches(topic);
    } catch (final UnusableOptionException e) {
      // A format with the time in it again and again: what cannot be told is not claimed.
      return false;
    }
  }
}
