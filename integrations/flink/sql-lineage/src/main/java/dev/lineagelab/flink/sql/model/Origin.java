// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A column of a source.
 *
 * @param source ordinal of the table among the sources of the query
 * @param column as the table calls it
 * @param path of fields below it, of a ROW or of the ROWs in an ARRAY; empty for all of it
 */
public record Origin(int source, String column, List<String> path) implements Comparable<Origin> {
  private static final Comparator<Origin> ORDER =
      Comparator.comparingInt(Origin::source)
          .thenComparing(Origin::column)
          .thenComparing(origin -> String.join("\0", origin.path()));

  public Origin {
    path = List.copyOf(path);
  }

  /** A whole column. */
  public static Origin of(final int source, final String column) {
    return new Origin(source, column, List.of());
  }

  /** A field of this one. */
  public Origin field(final String name) {
    return new Origin(source, column, Stream.concat(path.stream(), Stream.of(name)).toList());
  }

  @Override
  public int compareTo(final Origin other) {
    return ORDER.compare(this, other);
  }
}
