// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Comparator;
import java.util.Objects;

/**
 * Dependency of an output column on an input column.
 *
 * @param outputField dotted path, such as {@code customer.id}; null if the rows of the output, and
 *     thus all its columns, depend on the input
 * @param inputField dotted path
 * @param masking true if the input value cannot be recovered from the output
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
