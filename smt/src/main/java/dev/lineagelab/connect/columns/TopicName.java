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

  /** Topic that could not be determined. */
  record Unknown(String reason) implements TopicName {}

  /** Return true if this may be the given topic. */
  default boolean canEqual(final String topic) {
    if (this instanceof final Known known) {
      return known.name.equals(topic);
    }
    try {
      return this instanceof final Timestamped timed
          && new BoundedRegex(Pattern.compile(timed.regex, Pattern.DOTALL)).matches(topic);
    } catch (final UnusableOptionException e) {
      // A format that repeats the timestamp exceeds the regex budget; an undecided match is not
      // reported as lineage.
      return false;
    }
  }
}
