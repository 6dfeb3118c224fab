// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Comparator;
import java.util.Objects;

/**
 * A column of an output depends on a column of an input.
 *
 * @param outputField a path with dots, such as {@code customer.id}; null where the rows of the
 *     output depend on it, hence all of its columns
 * @param inputField a path with dots
 * @param masking whether the value cannot be told from the result
 */
public record ColumnEdge(
    String outputField, Dataset input, String inputField, EdgeKind kind, boolean masking)
    implements Comparable<ColumnEdge> {
  private static final Comparator<ColumnEdge> ORDER =
      Comparator.comparing(
              ColumnEdge::outputField, Comparator.nullsFirst(Comparator.<String>naturalOrder()))
          .thenComparing(ColumnEdge::input)
          .thenComparing(ColumnEdge::inputField)
          .thenComparing(ColumnEdge::kind)
          .thenComparing(ColumnEdge::masking);

  public ColumnEdge {
    Objects.requireNonNull(input, "input");
    Objects.requireNonNull(inputField, "inputField");
    Objects.requireNonNull(kind, "kind");
  }

  @Override
  public int compareTo(final ColumnEdge other) {
    return ORDER.compare(this, other);
  }
}
