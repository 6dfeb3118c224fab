// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Part of the record at the start of the transform chain.
 *
 * @param path field path within the key or value, empty for all of it; for a header, its name
 */
public record Origin(Part part, List<String> path) implements Comparable<Origin> {
  private static final Comparator<Origin> ORDER =
      Comparator.comparing(Origin::part).thenComparing(origin -> String.join("\0", origin.path()));

  /** Parts of a Kafka record. */
  public enum Part {
    VALUE,
    KEY,
    TOPIC,
    PARTITION,
    OFFSET,
    TIMESTAMP,
    HEADERS
  }

  public Origin {
    path = List.copyOf(path);
  }

  /** Return an entire part. */
  public static Origin of(final Part part) {
    return new Origin(part, List.of());
  }

  /** Return a field of this origin. */
  public Origin child(final String field) {
    return new Origin(part, Stream.concat(path.stream(), Stream.of(field)).toList());
  }

  /**
   * Return the column name of this origin in a topic. Fields of the value keep their names; all
   * other parts start with an underscore, so that they cannot collide with fields.
   */
  public String columnName() {
    if (part == Part.VALUE && !path.isEmpty()) {
      return String.join(".", path);
    }
    return Stream.concat(Stream.of("_" + part.name().toLowerCase(Locale.ROOT)), path.stream())
        .collect(Collectors.joining("."));
  }

  @Override
  public int compareTo(final Origin other) {
    return ORDER.compare(this, other);
  }
}
