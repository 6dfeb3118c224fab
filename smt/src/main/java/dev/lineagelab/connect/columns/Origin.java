// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Where a value was at the start of the chain.
 *
 * @param path of fields within the key or the value; empty for all of it. Of a header, its name
 */
public record Origin(Part part, List<String> path) implements Comparable<Origin> {
  private static final Comparator<Origin> ORDER =
      Comparator.comparing(Origin::part).thenComparing(origin -> String.join("\0", origin.path()));

  /** The parts of a Kafka record. */
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

  /** A whole part. */
  public static Origin of(final Part part) {
    return new Origin(part, List.of());
  }

  /** A field of this one. */
  public Origin child(final String field) {
    return new Origin(part, Stream.concat(path.stream(), Stream.of(field)).toList());
  }

  /**
   * Its name among the columns of a topic: fields of the value are called as they are, everything
   * else has an underscore, so that it cannot be taken for them.
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
