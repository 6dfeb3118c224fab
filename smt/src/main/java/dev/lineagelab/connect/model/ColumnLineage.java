// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What is known of how the columns of an output come from those of an input.
 *
 * @param unknownFields columns of the output whose origin is not known; {@code *} for all that are
 *     not named otherwise
 * @param reasons why, in sentences for people
 */
public record ColumnLineage(
    List<ColumnEdge> edges, Set<String> unknownFields, List<String> reasons) {
  /** Nothing is said of columns. */
  public static final ColumnLineage NONE = new ColumnLineage(List.of(), Set.of(), List.of());

  public ColumnLineage {
    edges = edges.stream().distinct().sorted().toList();
    unknownFields = Collections.unmodifiableSortedSet(new TreeSet<>(unknownFields));
    reasons = List.copyOf(reasons);
  }
}
