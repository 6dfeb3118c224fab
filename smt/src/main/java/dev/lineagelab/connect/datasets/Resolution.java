// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.TopicName;
import java.util.List;
import java.util.function.Function;

/**
 * Result of a resolver.
 *
 * @param notes what could not be resolved and why, as sentences for users
 */
public record Resolution<T>(List<T> found, List<String> notes) {
  public Resolution {
    found = List.copyOf(found);
    notes = List.copyOf(notes);
  }

  /** Nothing, without a note. */
  public static <T> Resolution<T> empty() {
    return new Resolution<>(List.of(), List.of());
  }

  /** Complete result, without notes. */
  public static <T> Resolution<T> of(final List<T> found) {
    return new Resolution<>(found, List.of());
  }

  /** Nothing, for a reason. */
  public static <T> Resolution<T> unknown(final String note) {
    return new Resolution<>(List.of(), List.of(note));
  }

  /** One dataset, whose name contains the record's topic; nothing if the topic is not known. */
  static <T> Resolution<T> namedAfter(final TopicName topic, final Function<String, T> create) {
    return topic instanceof final TopicName.Known known
        ? of(List.of(create.apply(known.name())))
        : unknownTopic(topic);
  }

  /** Nothing, because the name contains a topic name that is not known. */
  static <T> Resolution<T> unknownTopic(final TopicName topic) {
    return unknown(
        topic instanceof final TopicName.Unknown unknown
            ? unknown.reason()
            : "The name of the dataset contains the record's timestamp.");
  }
}
