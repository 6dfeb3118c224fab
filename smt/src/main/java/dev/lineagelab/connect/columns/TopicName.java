// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.util.regex.Pattern;

/** Topic of a record at one place of the transform chain. */
public sealed interface TopicName {
  /** The same topic for all records. */
  record Known(String name) implements TopicName {}

  /**
   * Topic name that contains the record's timestamp.
   *
   * @param regex expression that all such names match
   */
  record Timestamped(String regex) implements TopicName {}

  /**
   * Topic that a field of the record names.
   *
   * @param regex expression that all such names match
   * @param reason why the topic of a single record is unknown, a sentence for users
   */
  record Routed(String regex, String reason) implements TopicName {}

  /** Topic that could not be determined. */
  record Unknown(String reason) implements TopicName {}

  /** Return true if this may be the given topic. */
  default boolean canEqual(final String topic) {
    if (this instanceof final Known known) {
      return known.name.equals(topic);
    }
    final String regex =
        this instanceof final Timestamped timed
            ? timed.regex
            : this instanceof final Routed routed ? routed.regex : null;
    try {
      return regex != null
          && new BoundedRegex(Pattern.compile(regex, Pattern.DOTALL)).matches(topic);
    } catch (final UnusableOptionException e) {
      // A format that repeats the timestamp exceeds the regex budget; an undecided match is not
      // reported as lineage.
      return false;
    }
  }
}
