// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Column or nested field of a source.
 *
 * @param source index of the table in the sources of the query
 * @param column name of the column in the table
 * @param path names of nested fields, of a ROW or of the ROWs in an ARRAY; empty for the column
 */
public record Origin(int source, String column, List<String> path) implements Comparable<Origin> {
  private static final Comparator<Origin> ORDER =
      Comparator.comparingInt(Origin::source)
          .thenComparing(Origin::column)
          .thenComparing(origin -> String.join("\0", origin.path()));

  public Origin {
    path = List.copyOf(path);
  }

  /** Returns the origin of a column. */
  public static Origin of(final int source, final String column) {
    return new Origin(source, column, List.of());
  }

  /** Returns the origin of a field of this one. */
  public Origin field(final String name) {
    return new Origin(source, column, Stream.concat(path.stream(), Stream.of(name)).toList());
  }

  @Override
  public int compareTo(final Origin other) {
    return ORDER.compare(this, other);
  }
}
