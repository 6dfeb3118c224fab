// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Column lineage from one input to one output.
 *
 * @param unknownFields columns of the output that could not be traced; {@code *} for all that are
 *     not named elsewhere
 * @param reasons why, as sentences for users
 */
public record ColumnLineage(
    List<ColumnEdge> edges, Set<String> unknownFields, List<String> reasons) {
  /** No column lineage. */
  public static final ColumnLineage NONE = new ColumnLineage(List.of(), Set.of(), List.of());

  public ColumnLineage {
    edges = edges.stream().distinct().sorted().toList();
    unknownFields = Collections.unmodifiableSortedSet(new TreeSet<>(unknownFields));
    reasons = List.copyOf(reasons);
  }
}
